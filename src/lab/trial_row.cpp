#include "lab/trial_row.h"

#include <algorithm>

#include "tasks/task.h"
#include "train/records/metrics_row.h"

namespace eureka {

std::optional<TrialRow> read_trial(const Trial& trial) {
  const std::optional<RunSummary> summary = read_summary(trial.directory);
  if (!summary) return std::nullopt;
  TrialRow row;
  row.point = trial.point;
  row.arm = trial.arm;
  row.seed = trial.seed;
  row.status = summary->status;
  row.steps = summary->steps;
  if (trial.origin) row.origin = static_cast<double>(trial.origin->step);
  if (summary->moment) {
    row.moment = summary->moment->step;
    row.rise_width = summary->moment->rise_width();
  }
  if (summary->grokking) row.grokking = summary->grokking->step;
  row.final_accuracy = summary->final_validation_metric;
  return row;
}

Metric metric_of(const RunConfig& config) {
  return Registry<Task>::instance().make(config.task.name, config.task.options)->metric();
}

std::vector<CurvePoint> metric_curve(const fs::path& run, const Metric& metric) {
  const std::string name = "val_" + metric.key();
  std::vector<CurvePoint> curve;
  for (const MetricsRow& row : read_metrics(run, {name}))
    curve.push_back({static_cast<double>(row.step), row.at(name)});
  return curve;
}

std::optional<double> first_step_at(const std::vector<CurvePoint>& curve, const Metric& metric, double level,
                                    double origin) {
  for (const CurvePoint& point : curve)
    if (point.step > origin && !metric.is_better(level, point.value)) return point.step;
  return std::nullopt;
}

TrialOutcome outcome_of(const TrialRow& row) {
  TrialOutcome outcome;
  outcome.seed = row.seed;
  // A rise that was under way when the run was taken up can have its middle before that step.
  if (row.moment) outcome.moment = std::max(1.0, *row.moment - row.origin);
  outcome.grokked = row.grokking.has_value();
  outcome.last_step = static_cast<double>(row.steps) - row.origin;
  outcome.diverged = row.status == RunStatus::diverged;
  outcome.final_accuracy = row.final_accuracy;
  if (row.steps_to_level) outcome.steps_to_level = *row.steps_to_level - row.origin;
  return outcome;
}

}  // namespace eureka
