// How one trial ended, as its run directory tells.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lab/study_plan.h"
#include "stats/arm_comparison.h"
#include "tasks/metric.h"

namespace eureka {

struct TrialRow {
  std::size_t point = 0;
  std::size_t arm = 0;
  std::int64_t seed = 0;
  std::string status;      // finished or diverged
  std::int64_t steps = 0;  // done
  double origin = 0;       // the step times are counted from: 0, or where a continued run was taken up
  std::optional<double> moment;
  std::optional<double> rise_width;      // 10-90%, in steps
  std::optional<double> final_accuracy;  // or whatever metric the task declares
  std::optional<double> steps_to_level;  // first evaluation at the target accuracy, if one was looked for
};

// Nothing while the trial has not ended. Throws Error(input) when its summary cannot be read.
std::optional<TrialRow> read_trial(const Trial& trial);

// What a run of this config is judged by.
Metric metric_of(const RunConfig& config);

// The first step after `origin` at which the metric of a run reached `level` on its validation samples.
std::optional<double> first_step_at(const fs::path& run, const Metric& metric, double level, double origin);

// For the statistics: times count from where the trial began.
TrialOutcome outcome_of(const TrialRow& row);

}  // namespace eureka
