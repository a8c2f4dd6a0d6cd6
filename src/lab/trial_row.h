// How one trial ended, as its run directory tells: made from the records of the run, written by study_files.cpp as a
// part of study.json, whose format is "eureka-study-1".
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lab/study_plan.h"
#include "stats/arm_comparison.h"
#include "stats/curve_window.h"
#include "tasks/metric.h"
#include "train/records/run_summary.h"

namespace eureka {

struct TrialRow {
  std::size_t point = 0;
  std::size_t arm = 0;
  std::int64_t seed = 0;
  RunStatus status = RunStatus::finished;  // or diverged
  std::int64_t steps = 0;                  // done
  double origin = 0;                       // the step times are counted from: 0, or where a continued run was taken up
  std::optional<double> moment;
  std::optional<double> rise_width;      // 10-90%, in steps
  std::optional<double> grokking;        // its step: no moment
  std::optional<double> final_accuracy;  // or whatever metric the task declares
  std::optional<double> steps_to_level;  // first evaluation at the target accuracy, if one was looked for
};

// Nothing while the trial has not ended. Throws Error(input) when its summary is damaged.
std::optional<TrialRow> read_trial(const Trial& trial);

// What a run of this config is judged by.
Metric metric_of(const RunConfig& config);

// The metric on the validation samples, by step. Throws Error(input) when the run's metrics are damaged.
std::vector<CurvePoint> metric_curve(const fs::path& run, const Metric& metric);

// The first step after `origin` at which the curve reached `level`.
std::optional<double> first_step_at(const std::vector<CurvePoint>& curve, const Metric& metric, double level,
                                    double origin);

// For the statistics: times count from where the trial began.
TrialOutcome outcome_of(const TrialRow& row);

}  // namespace eureka
