// What `eureka bench` leaves to processes of their own: PyTorch, peak memory of a step, the start of a run.
#pragma once

#include <sys/types.h>

#include <cstdio>

#include "io/json.h"
#include "measure/bench_cases.h"
#include "measure/step_times.h"

namespace eureka {

struct PyTorchSettings {
  // The model as people write it, or "tuned": as fast as we could make it in PyTorch; "compile": that by torch.compile;
  // "bfloat16": that under autocast; "jax": in JAX.
  std::string way = "stock";
  std::string python;      // with a torch of its own; empty: Debian's
  bool as_tokens = false;  // an image is handed over as patches in a row, not as an image to cut up
};

// PyTorch doing the work of one case on request. Every way starts from the same weights and data.
class PyTorch {
 public:
  PyTorch(const BenchCase& one, const PyTorchSettings& settings);
  PyTorch(const PyTorch&) = delete;
  PyTorch& operator=(const PyTorch&) = delete;
  ~PyTorch();

  void steps(std::size_t count, StepTimes& times);
  // So far, beyond what the process held before it made the batch and the model.
  double peak_mb() const { return peak_mb_; }
  // Of the last steps that were asked for.
  const std::vector<double>& losses() const { return losses_; }
  // What computes, with its version.
  const std::string& version() const { return version_; }
  // The way it goes, which for "tuned" is "compile" from torch 2 on.
  const std::string& way() const { return way_; }
  // Why this Python cannot go that way; empty if it can.
  const std::string& cannot() const { return cannot_; }

 private:
  Json ask(const Json& request);

  pid_t child_ = -1;
  std::FILE* to_ = nullptr;
  std::FILE* from_ = nullptr;
  double peak_mb_ = 0;
  std::vector<double> losses_;
  std::string python_, version_, way_, cannot_;
};

// The most memory this process has held so far, in MB.
double peak_memory_mb();

// The whole output of this program run with other arguments. Throws Error(failed) when it fails.
std::string output_of_self(const std::vector<std::string>& arguments);

// Seconds from the start of the process to its end for a training run of one step, the best of several.
double one_step_run_seconds();

}  // namespace eureka
