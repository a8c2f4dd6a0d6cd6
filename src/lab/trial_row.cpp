#include "lab/trial_row.h"

#include <algorithm>

#include "io/jsonl.h"
#include "tasks/task.h"
#include "train/run_directory.h"

namespace eureka {
namespace {

const JsonColumn* find_column(const JsonTable& table, std::string_view name) {
  for (const JsonColumn& column : table.columns)
    if (column.name == name) return &column;
  return nullptr;
}

}  // namespace

std::optional<TrialRow> read_trial(const Trial& trial) {
  const auto summary = read_summary(trial.directory);
  if (!summary) return std::nullopt;
  TrialRow row;
  row.point = trial.point;
  row.arm = trial.arm;
  row.seed = trial.seed;
  row.status = summary->at("status");
  row.steps = summary->at("steps");
  if (trial.origin) row.origin = static_cast<double>(trial.origin->step);
  const auto& moment = summary->at("moment");
  if (moment.at("found").get<bool>()) {
    row.moment = moment.at("step").get<double>();
    row.rise_width = moment.at("rise_end").get<double>() - moment.at("rise_start").get<double>();
  }
  const auto& final_value = summary->at("final_validation_" + summary->value("metric", "accuracy"));
  if (final_value.is_number()) row.final_accuracy = final_value.get<double>();
  return row;
}

Metric metric_of(const RunConfig& config) {
  return Registry<Task>::instance().make(config.task.name, config.task.options)->metric();
}

std::optional<double> first_step_at(const fs::path& run, const Metric& metric, double level, double origin) {
  const fs::path path = run / "metrics.jsonl";
  const JsonTable table = parse_json_rows(read_file(path), path.string());
  const JsonColumn* steps = find_column(table, "step");
  const JsonColumn* values = find_column(table, "val_" + metric.key());
  if (steps == nullptr || values == nullptr || steps->rows != values->rows) return std::nullopt;
  for (std::size_t i = 0; i < steps->values.size(); ++i)
    if (steps->values[i] > origin && !metric.is_better(level, values->values[i])) return steps->values[i];
  return std::nullopt;
}

TrialOutcome outcome_of(const TrialRow& row) {
  TrialOutcome outcome;
  outcome.seed = row.seed;
  // A rise that was under way when the run was taken up can have its middle before that step.
  if (row.moment) outcome.moment = std::max(1.0, *row.moment - row.origin);
  outcome.last_step = static_cast<double>(row.steps) - row.origin;
  outcome.diverged = row.status == "diverged";
  outcome.final_accuracy = row.final_accuracy;
  if (row.steps_to_level) outcome.steps_to_level = *row.steps_to_level - row.origin;
  return outcome;
}

}  // namespace eureka
