#include "stats/arm_comparison.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "base/error.h"
#include "base/median.h"
#include "stats/holm.h"
#include "stats/verdict.h"

namespace eureka {
namespace {

SurvivalTime waited(const std::optional<double>& event, const TrialOutcome& trial, double horizon) {
  if (event && *event <= horizon) return {*event, true};
  return {trial.diverged || event ? horizon : std::min(trial.last_step, horizon), false};
}
SurvivalTime time_to_moment(const TrialOutcome& trial, double horizon) { return waited(trial.moment, trial, horizon); }
SurvivalTime time_to_level(const TrialOutcome& trial, double horizon) {
  return waited(trial.steps_to_level, trial, horizon);
}

using TimeOf = SurvivalTime (*)(const TrialOutcome&, double);

TimeOf time_to(AwaitedEvent awaited) { return awaited == AwaitedEvent::moment ? time_to_moment : time_to_level; }

std::vector<SeededTime> seeded_times(std::span<const TrialOutcome> trials, double horizon, TimeOf time_of) {
  std::vector<SeededTime> times;
  for (const TrialOutcome& trial : trials) times.push_back({trial.seed, time_of(trial, horizon)});
  return times;
}

std::vector<SurvivalTime> plain_times(std::span<const TrialOutcome> trials, double horizon, TimeOf time_of) {
  std::vector<SurvivalTime> times;
  for (const TrialOutcome& trial : trials) times.push_back(time_of(trial, horizon));
  return times;
}

WaitingTime waiting_time(std::span<const SurvivalTime> times, double horizon, double level) {
  const SurvivalCurve curve(times, horizon, level);
  return {.n = curve.n(),
          .events = curve.events(),
          .curve = curve.steps(),
          .median = curve.median(),
          .median_interval = curve.median_interval(),
          .restricted_mean = curve.restricted_mean(),
          .restricted_mean_interval = curve.restricted_mean_interval()};
}

std::vector<double> final_accuracies(std::span<const TrialOutcome> trials) {
  std::vector<double> values;
  for (const TrialOutcome& trial : trials) {
    if (!trial.final_accuracy) continue;
    EUREKA_CHECK(std::isfinite(*trial.final_accuracy), "a final value must be finite");
    values.push_back(*trial.final_accuracy);
  }
  return values;
}

// Counted from the lowest, values are times without censoring before a horizon: the curve's median interval is theirs.
OpenInterval median_interval_of(const std::vector<double>& values, const ValueRange& range, double level) {
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  const double low = std::isfinite(range.low) ? std::min(range.low, *least) : *least;
  const double high = std::isfinite(range.high) ? std::max(range.high, *most) : *most;
  std::vector<SurvivalTime> as_times;
  for (const double value : values) as_times.push_back({value - low, true});
  OpenInterval interval = SurvivalCurve(as_times, high > low ? high - low : 1, level).median_interval();
  if (interval.low) *interval.low += low;
  if (interval.high) *interval.high += low;
  return interval;
}

std::optional<AccuracySummary> summarize_accuracy(const std::vector<double>& values, const ValueRange& range,
                                                  double level) {
  if (values.empty()) return {};
  AccuracySummary summary{.n = values.size(),
                          .median = median(values),
                          .median_interval = median_interval_of(values, range, level),
                          .mean_interval = mean_interval(values, level)};
  for (const double value : values) summary.mean += value / static_cast<double>(values.size());
  if (summary.mean_interval)
    *summary.mean_interval = {std::max(range.low, summary.mean_interval->low),
                              std::min(range.high, summary.mean_interval->high)};
  return summary;
}

// Which of two runs had the event sooner: -1 the first, 1 the second, 0 when it cannot be told.
int compare_pair(const SurvivalTime& first, const SurvivalTime& second) {
  if (first.event && second.event) return first.time < second.time ? -1 : first.time > second.time ? 1 : 0;
  if (first.event && first.time <= second.time) return -1;
  if (second.event && second.time <= first.time) return 1;
  return 0;
}

std::optional<PairedComparison> compare_pairs(std::span<const SeededTime> baseline, std::span<const SeededTime> arm,
                                              double horizon) {
  std::map<std::int64_t, SurvivalTime> baseline_by_seed;
  for (const SeededTime& run : baseline) baseline_by_seed[run.seed] = run.outcome;
  PairedComparison result;
  std::vector<double> differences;
  const auto known = [horizon](const SurvivalTime& run) { return run.event || run.time == horizon; };
  for (const SeededTime& run : arm) {
    const auto match = baseline_by_seed.find(run.seed);
    if (match == baseline_by_seed.end()) continue;
    const SurvivalTime &own = run.outcome, &other = match->second;
    ++result.pairs;
    const int order = compare_pair(own, other);
    ++(order < 0 ? result.arm_sooner : order > 0 ? result.baseline_sooner : result.undecided);
    if (!known(own) || !known(other)) {
      ++result.left_out_of_signed_rank;
      continue;
    }
    differences.push_back(other.time - own.time);
    result.censored_in_signed_rank += own.event != other.event;
  }
  if (result.pairs == 0) return {};
  result.sign = sign_test(result.arm_sooner, result.baseline_sooner);
  result.signed_rank = signed_rank_test(differences);
  return result;
}

ArmComparison compare_with_baseline(const Arm& baseline, const Arm& arm, bool times_compare, double horizon,
                                    const ComparisonOptions& options) {
  const TimeOf time_of_event = time_to(options.awaited);
  const auto before = plain_times(baseline.trials, horizon, time_of_event);
  const auto after = plain_times(arm.trials, horizon, time_of_event);
  const BootstrapOptions bootstrap{options.bootstrap_seed, options.resamples, options.level};
  const auto ratio = [&](TimeOf time_of) {
    return ratio_of_restricted_means(seeded_times(baseline.trials, horizon, time_of),
                                     seeded_times(arm.trials, horizon, time_of), horizon, bootstrap);
  };
  ArmComparison result;
  if (options.has_level) result.level_speedup = ratio(time_to_level);
  if (!times_compare) return result;
  result.log_rank = log_rank(before, after);
  result.hazard = hazard_ratio(before, after, options.level);
  result.speedup = ratio(time_of_event);
  result.paired = compare_pairs(seeded_times(baseline.trials, horizon, time_of_event),
                                seeded_times(arm.trials, horizon, time_of_event), horizon);
  return result;
}

void correct_over_arms(std::vector<ArmReport>& arms) {
  std::vector<double> p_values;
  for (const ArmReport& arm : arms)
    if (arm.against_baseline->log_rank) p_values.push_back(arm.against_baseline->log_rank->p);
  const std::vector<double> corrected = holm_corrected(p_values);
  auto next = corrected.begin();
  for (ArmReport& arm : arms)
    if (arm.against_baseline->log_rank) arm.against_baseline->log_rank_p_holm = *next++;
}

void check_seeds_differ(const Arm& arm) {
  std::set<std::int64_t> seen;
  for (const TrialOutcome& trial : arm.trials)
    EUREKA_CHECK(seen.insert(trial.seed).second, "a seed twice in arm " + arm.name);
}

}  // namespace

std::optional<double> target_accuracy(std::span<const TrialOutcome> arm, double fraction, double origin) {
  const std::vector<double> values = final_accuracies(arm);
  if (values.empty()) return {};
  return origin + fraction * (median(values) - origin);
}

ArmSummary summarize_arm(std::span<const TrialOutcome> trials, double horizon, const ComparisonOptions& options) {
  ArmSummary summary{
      .n = trials.size(),
      .event = waiting_time(plain_times(trials, horizon, time_to(options.awaited)), horizon, options.level)};
  const auto count = static_cast<double>(summary.n), events = static_cast<double>(summary.event.events);
  if (summary.n > 0) summary.rate = events / count;
  summary.rate_interval = wilson_interval(events, count, options.level);
  if (options.has_level)
    summary.level = waiting_time(plain_times(trials, horizon, time_to_level), horizon, options.level);
  for (const TrialOutcome& trial : trials) {
    summary.moments += time_to_moment(trial, horizon).event;
    summary.diverged += trial.diverged;
    summary.groks += trial.grokked;
    summary.level_without_moment += options.has_level && trial.steps_to_level && !trial.moment;
  }
  summary.final_accuracy = summarize_accuracy(final_accuracies(trials), options.range, options.level);
  return summary;
}

StudyComparison compare_arms(const Arm& baseline, std::span<const Arm> arms, double horizon,
                             const ComparisonOptions& options) {
  check_seeds_differ(baseline);
  StudyComparison study{.horizon = horizon, .level = options.level};
  study.baseline.name = baseline.name;
  study.baseline.summary = summarize_arm(baseline.trials, horizon, options);
  for (const Arm& arm : arms) {
    check_seeds_differ(arm);
    const ArmSummary summary = summarize_arm(arm.trials, horizon, options);
    const bool times_compare = waiting_times_compare(summary, study.baseline.summary, options);
    study.arms.push_back({.name = arm.name,
                          .summary = summary,
                          .against_baseline = compare_with_baseline(baseline, arm, times_compare, horizon, options)});
  }
  correct_over_arms(study.arms);

  const Verdict first = baseline_verdict(study.baseline.name, study.baseline.summary, horizon, options);
  study.baseline.kind = first.kind;
  study.baseline.verdict = first.text;
  for (ArmReport& arm : study.arms) {
    const Verdict verdict = arm_verdict(arm.name, arm.summary, study.baseline.name, study.baseline.summary,
                                        *arm.against_baseline, horizon, options);
    arm.kind = verdict.kind;
    arm.verdict = verdict.text;
  }
  return study;
}

}  // namespace eureka
