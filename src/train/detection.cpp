#include "train/detection.h"

#include <algorithm>
#include <cmath>

namespace eureka {

namespace {

// The level of the last plateau that is the task's own, not the one a run arrives on when it has learned everything.
std::optional<double> stuck_level(const std::vector<Plateau>& plateaus, const Metric& metric) {
  std::optional<double> level;
  for (const Plateau& plateau : plateaus)
    if (metric.on_plateau(plateau.level)) level = plateau.level;
  return level;
}

std::optional<MomentSummary> largest(const std::vector<Moment>& rises) {
  if (rises.empty()) return std::nullopt;
  const Moment& largest = *std::max_element(rises.begin(), rises.end(), [](const Moment& a, const Moment& b) {
    return std::abs(a.to - a.from) < std::abs(b.to - b.from);
  });
  return MomentSummary{.step = largest.step,
                       .plateau_level = largest.from,
                       .level_after = largest.to,
                       .rise_start = largest.rise_start,
                       .rise_end = largest.rise_end,
                       .score = largest.score};
}

}  // namespace

DetectorOptions detector_options(const Task& task, const RunConfig& config) {
  const Metric metric = task.metric();
  DetectorOptions options;
  options.direction = metric.better == Better::higher ? Direction::up : Direction::down;
  options.plateau_level = metric.plateau;
  options.plateau_floor = metric.floor;
  if (metric.plateau) options.best_level = metric.best;
  options.budget = static_cast<double>(config.train.steps);
  return options;
}

void add_row(const MetricsRow& row, const Metric& metric, MomentDetector& detector) {
  const auto step = static_cast<double>(row.step);
  detector.add(step, row.at("val_" + metric.key()));
  if (const auto training = row.find("train_" + metric.key())) detector.add_training(step, *training);
}

void sum_up(const Findings& findings, const Metric& metric, RunSummary& summary) {
  summary.moment = largest(findings.moments);
  summary.grokking = largest(findings.groks);
  if (!summary.moment) summary.stuck_level = stuck_level(findings.plateaus, metric);
  if (const auto& rise = findings.under_way) {
    const bool groks = rise->kind == RiseKind::grokking;
    if (!(groks ? summary.grokking : summary.moment))
      (groks ? summary.grokking_under_way : summary.under_way) = rise->reached;
  }
  if (const auto& rise = findings.first_rise)
    summary.first_rise = {rise->step, rise->from, rise->to, rise->rise_start, rise->rise_end};
}

}  // namespace eureka
