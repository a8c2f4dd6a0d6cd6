#include "lab/study_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "stats/p_value_text.h"
#include "tasks/task.h"

namespace eureka {
namespace {

double horizon_of(const std::vector<Trial>& trials, std::size_t point) {
  std::optional<double> shortest;
  for (const Trial& trial : trials) {
    if (trial.point != point) continue;
    const std::int64_t begin = trial.origin ? trial.origin->step : 0;
    const auto steps = static_cast<double>(trial.config.train.steps - begin);
    shortest = std::min(shortest.value_or(steps), steps);
  }
  return shortest.value_or(1);
}

std::optional<double> mean_of_moments(const std::vector<TrialOutcome>& trials) {
  double sum = 0, count = 0;
  for (const TrialOutcome& trial : trials)
    if (trial.moment) sum += *trial.moment, count += 1;
  return count > 0 ? std::optional(sum / count) : std::nullopt;
}

constexpr double kCausalEvidence = 0.05;  // of the sign test

std::string causal_verdict(const Study& study, const ArmReport& arm) {
  if (!study.branch || !arm.against_baseline || !arm.against_baseline->paired) return {};
  const PairedComparison& paired = *arm.against_baseline->paired;
  const std::size_t different = paired.arm_sooner + paired.baseline_sooner;
  const char* conclusion = different == 0                    ? ""
                           : paired.sign.p < kCausalEvidence ? ", so nothing but the change can make the difference"
                           : different == 1                  ? ", so the one difference comes from the change; more "
                                                               "than chance is not shown"
                                                             : ", so each of these differences comes from the change; "
                                                               "that they go one way is not shown";
  return fmt::format(
      "Of {} runs taken up at step {} with and without {}, {} {} sooner with it, {} sooner without, {} "
      "cannot be told apart (sign test: p = {}). Both continuations share every bit up to that step and every "
      "batch after it{}.",
      paired.pairs, study.branch->at, arm.name, paired.arm_sooner,
      study.event == AwaitedEvent::moment ? "had the moment" : "reached the target", paired.baseline_sooner,
      paired.undecided, p_value_text(paired.sign.p), conclusion);
}

class Reporter {
 public:
  Reporter(const Study& study, const std::vector<Trial>& trials, const fs::path& out) : trials_(trials) {
    report_.study = study;
    report_.planned = trials.size();
    std::vector<std::tuple<std::size_t, std::size_t, std::size_t>> order;  // point, arm, index: seeds keep theirs
    for (std::size_t i = 0; i < trials.size(); ++i) order.emplace_back(trials[i].point, trials[i].arm, i);
    std::sort(order.begin(), order.end());
    for (std::size_t point = 0; point < study.points.size(); ++point) metrics_.push_back(metric_at(point));
    for (const auto& [point, arm, index] : order) read(trials[index], trials[index].directory.lexically_relative(out));
  }

  StudyReport make() {
    for (std::size_t point = 0; point < report_.study.points.size(); ++point) add_point(point);
    return std::move(report_);
  }

 private:
  void read(const Trial& trial, const fs::path& directory) {
    if (!trial.damage.empty()) {
      report_.damaged.push_back({directory, trial.damage});
      return;
    }
    try {
      const std::optional<TrialRow> row = read_trial(trial);
      if (!row) return;
      if (static_cast<double>(row->steps) < row->origin)
        throw Error(ErrorKind::input,
                    fmt::format("{} steps, of a run continued from step {:g}", row->steps, row->origin),
                    "summary.json");
      curves_.push_back(metric_curve(trial.directory, metrics_[trial.point]));
      report_.trials.push_back(*row);
      report_.trial_directories.push_back(directory);
    } catch (const Error& error) {
      report_.damaged.push_back(
          {directory, fmt::format("{}: {}", fs::path(error.where()).filename().string(), error.what())});
    }
  }

  std::vector<TrialOutcome> outcomes(std::size_t point, std::size_t arm) const {
    std::vector<TrialOutcome> found;
    for (const TrialRow& row : report_.trials)
      if (row.point == point && row.arm == arm) found.push_back(outcome_of(row));
    return found;
  }

  Metric metric_at(std::size_t point) const {
    const auto trial = std::find_if(trials_.begin(), trials_.end(), [&](const Trial& t) {
      return t.point == point && t.arm == report_.study.baseline;
    });
    if (trial == trials_.end()) return {};
    return metric_of(trial->config);
  }

  void choose_target(std::size_t index, PointReport& point) const {
    point.target_accuracy = report_.study.target;
    if (point.target_accuracy) return;
    const Metric& metric = point.metric;
    const auto of_arm = [&](std::size_t arm) {
      return target_accuracy(outcomes(index, arm), report_.study.relative_target, metric.origin());
    };
    // A target that a run stuck on the plateau has reached says nothing.
    const auto beyond_plateau = [&](double value) {
      return !metric.plateau || (metric.is_better(value, *metric.plateau) && !metric.on_plateau(value));
    };
    std::size_t chosen = report_.study.baseline;
    std::optional<double> target = of_arm(chosen);
    if (target && !beyond_plateau(*target))
      for (std::size_t arm = 0; arm < report_.study.arms.size(); ++arm)
        if (const auto other = of_arm(arm); other && metric.is_better(*other, *target)) target = other, chosen = arm;
    if (!target || !beyond_plateau(*target)) return;
    point.target_accuracy = target;
    point.target_arm = report_.study.arms[chosen].name;
  }

  void look_up_level(std::size_t point, const Metric& metric, double level) {
    for (std::size_t i = 0; i < report_.trials.size(); ++i)
      if (TrialRow& row = report_.trials[i]; row.point == point)
        row.steps_to_level = first_step_at(curves_[i], metric, level, row.origin);
  }

  void add_point(std::size_t index) {
    const Study& study = report_.study;
    PointReport point{study.points[index], horizon_of(trials_, index), metrics_[index], {}, {}, {}};
    choose_target(index, point);
    if (point.target_accuracy) look_up_level(index, point.metric, *point.target_accuracy);
    const Arm baseline{study.arms[study.baseline].name, outcomes(index, study.baseline)};
    std::vector<Arm> others;
    for (std::size_t arm = 0; arm < study.arms.size(); ++arm)
      if (arm != study.baseline) others.push_back({study.arms[arm].name, outcomes(index, arm)});
    ComparisonOptions options;
    options.awaited = study.event;
    options.has_level = point.target_accuracy.has_value();
    options.range = {point.metric.low, point.metric.high};
    StudyComparison comparison = compare_arms(baseline, others, point.horizon, options);
    std::size_t next = 0;
    for (std::size_t arm = 0; arm < study.arms.size(); ++arm) {
      const bool is_baseline = arm == study.baseline;
      ArmReport& statistics = is_baseline ? comparison.baseline : comparison.arms[next];
      const Arm& trials = is_baseline ? baseline : others[next++];
      const std::string causal = causal_verdict(study, statistics);
      point.arms.push_back({std::move(statistics), mean_of_moments(trials.trials), causal});
    }
    report_.points.push_back(std::move(point));
  }

  const std::vector<Trial>& trials_;
  StudyReport report_;
  std::vector<Metric> metrics_;                  // at each point of the study
  std::vector<std::vector<CurvePoint>> curves_;  // of the trials in the report
};

}  // namespace

StudyReport report_study(const Study& study, const std::vector<Trial>& trials, const fs::path& out) {
  return Reporter(study, trials, out).make();
}

}  // namespace eureka
