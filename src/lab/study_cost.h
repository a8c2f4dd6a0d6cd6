// What the trials of a study will take in time and on disk, from a few steps of each arm.
//
//   const TrialCost cost = measure_cost(config, *task, *engine, 0.03);      some steps, for 30 ms
//   StudyCost study = study_cost(trials, {{{point, arm}, cost}}, 2);
//   study.least_seconds, study.most_seconds
#pragma once

#include <map>
#include <string>
#include <utility>

#include "engine/engine.h"
#include "lab/study_plan.h"
#include "tasks/task.h"

namespace eureka {

// Seconds; the best that was measured and the median, which a busy machine stretches.
struct TrialCost {
  double step = 0, step_median = 0;
  double validation = 0, validation_median = 0;
  double bytes_of_model = 0;
};

// Trains and validates a little, so the engine is of no use afterwards.
TrialCost measure_cost(const RunConfig& config, const Task& task, Engine& engine, double seconds);

using ArmCosts = std::map<std::pair<std::size_t, std::size_t>, TrialCost>;  // by point and arm

struct StudyCost {
  std::size_t trials = 0;  // that are left to run
  double least_seconds = 0, most_seconds = 0;
  double bytes = 0;
  bool may_end_early = false;  // some trials stop soon after their moment

  void add(const StudyCost& other);
};

// Of those trials that have no summary yet, so many at a time. An arm without a measured cost is taken for the mean of
// the others.
StudyCost study_cost(const std::vector<Trial>& trials, const ArmCosts& costs, std::size_t at_a_time);

// "130 trials, 2 at a time: 1 to 2 minutes or less (...); some 40 MB".
std::string cost_text(const StudyCost& cost, std::size_t at_a_time);

}  // namespace eureka
