// A run that goes on from a checkpoint of another with parameters that somebody else has changed: another program
// trained them further, or edited them.
//
//   edit_run({.run = "runs/a", .from = 500, .step = 700, .out = "runs/edited", .tensors = tensors, .by = "PyTorch"},
//   catalog); run_training(read_run_config("runs/edited", catalog), {.directory = "runs/edited", .resume = true},
//   observer, stop);
//
// Like a branch, it holds the past of the old run and a checkpoint of its own, and is resumed, branched and looked into
// like any other run. Ensures: with the old parameters, at the old step, it goes on to the same bits.
#pragma once

#include <string>
#include <vector>

#include "base/files.h"
#include "engine/engine.h"
#include "train/config.h"

namespace eureka {

struct RunEdit {
  fs::path run;
  std::int64_t from = 0;  // the checkpoint of `run`
  std::int64_t step = 0;  // at which the new run begins: `from`, or later
  fs::path out;
  // Parameters, and whatever else a checkpoint's model has, under their names; and the optimizer's numbers, or none: it
  // keeps those of the checkpoint.
  EngineState state;
  std::string by;  // who changed them, for origin.json
};

// Throws Error(input) when a tensor is missing, unknown, of another shape, or not finite; Error(output) when `out`
// holds a run.
void edit_run(const RunEdit& edit, const Catalog& catalog);

}  // namespace eureka
