// One case measured: its steps alone, beside other ways to do them, and against PyTorch.
//
//   const auto figures = measure_case(one, {.seconds = 2, .breakdown = true});
//   figures.at("best_ms");  figures.at("breakdown").at("attention");
#pragma once

#include <optional>
#include <string>

#include "io/json.h"
#include "measure/bench_cases.h"

namespace eureka {

struct BenchSettings {
  std::string against_pytorch;  // a way of PyTorchSettings, both (stock and tuned) or all; empty: not at all
  std::string python;           // whose torch; empty: Debian's
  bool pytorch_tokens = false;  // PyTorch gets patches as tokens instead of images
  bool breakdown = false;
  bool memory = false;
  double seconds = 2;
  int threads = 1;
  std::string rule = "softmax";
  std::string beside_rule;
  std::string diagnose;  // names of diagnostics, or "default"
};

// How often and at how many samples diagnostics look: as a run does by default.
inline constexpr int kLookEvery = 100;
inline constexpr std::int64_t kLookSamples = 16;

// Another rule comes with its own default options.
void use_rule(EngineConfig& config, const std::string& rule);

// Why this machine cannot run the case, if it cannot: a device or a library it has not, too little memory.
std::optional<std::string> why_not_here(const BenchCase& one);

// The figures that were asked for, by name.
Json measure_case(const BenchCase& one, const BenchSettings& settings);

// What a few steps of the case need beyond what the process held before. Only the first call in a process tells.
double added_peak_memory_mb(const BenchCase& one);

}  // namespace eureka
