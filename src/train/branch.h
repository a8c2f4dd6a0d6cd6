// A run that continues another from one of its checkpoints, with a change.
//
//   BranchRequest request{.run = "runs/a", .step = 1000, .out = "runs/a-cured", .change = {{"attention.rule", ...}}};
//   Branch branch = create_branch(request, catalog);
//   run_training(branch.config, {.directory = request.out, .resume = true}, observer, stop);
//
// The new directory holds the past of the old run (its metrics and events up to the step) and the checkpoint, so the
// branch is resumed like any other run. Ensures: without a change, metrics, events, weights and summary end up
// byte-identical to the old run's.
#pragma once

#include <string>
#include <vector>

#include "train/config.h"
#include "train/run.h"

namespace eureka {

struct BranchRequest {
  fs::path run;
  std::int64_t step = 0;
  fs::path out;
  ConfigEntries change;
  bool resume = false;  // a branch that is already there is continued instead of refused
};

struct Branch {
  RunConfig config;
  // Parameters the changed model has and the old one had not: they begin at their initial values.
  std::vector<std::string> new_parameters;
};

// The config of `run` with the change. Throws Error(config) when it is none, or ends before the step.
RunConfig branch_config(const BranchRequest& request, const Catalog& catalog);

// Throws Error(input) that names the checkpoints there are when none is of that step, Error(config) when the change
// alters the shape of the model, Error(output) when `out` holds another run.
Branch create_branch(const BranchRequest& request, const Catalog& catalog, const MakeParts& make = make_parts);

}  // namespace eureka
