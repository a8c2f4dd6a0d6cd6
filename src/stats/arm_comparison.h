// What a study says: each arm by itself, and each arm against the baseline.
//
//   double level = *target_accuracy(baseline.trials);          // then look up steps_to_level in each run's curve
//   StudyComparison study = compare_arms(baseline, arms, 2500);
//   study.arms[0].summary.event.median
//   study.arms[0].against_baseline->speedup->ratio
//   study.arms[0].verdict                            "norm_softmax reaches the moment reliably sooner: in 0.46 of ..."
//
// What is waited for is a choice: the moment, or the first step at a target accuracy. All waiting times, tests, ratios
// and verdicts are of that event.
//
// Pure functions of their arguments: the same trials give the same numbers to the last bit. Nothing in the result is
// NaN or infinite; what the data cannot tell is an empty optional. What each number means is told in
// docs/statistics.md.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "stats/bootstrap.h"
#include "stats/cox.h"
#include "stats/intervals.h"
#include "stats/kaplan_meier.h"
#include "stats/log_rank.h"
#include "stats/paired_tests.h"

namespace eureka {

inline constexpr double kDefaultTargetFraction = 0.95;

// The event the runs of a study are compared by.
enum class AwaitedEvent {
  moment,
  target,  // the first step at the target accuracy, moment or not
};
constexpr auto enum_names(AwaitedEvent) { return std::array{"moment", "target"}; }

// How one run ended. A run that failed for reasons of the machine is no outcome: leave it out.
struct TrialOutcome {
  std::int64_t seed = 0;
  std::optional<double> moment;  // the step of it; nothing: right-censored at last_step
  double last_step = 0;          // where the run ended: the horizon, unless it was stopped early
  // Diverged: what had not come by then never will, so the run counts as waiting until the horizon, whatever last_step
  // says.
  bool diverged = false;
  bool grokked = false;                  // validation followed long after training was solved: no moment
  std::optional<double> final_accuracy;  // or whatever metric the task declares
  std::optional<double> steps_to_level;  // first step at the target accuracy; nothing if never reached
};

struct Arm {
  std::string name;
  std::vector<TrialOutcome> trials;  // seeds differ within an arm; the same seed in two arms makes a pair
};

// What the final value of a run can be at all; infinite where there is no bound.
struct ValueRange {
  double low = 0;
  double high = 1;
};

struct ComparisonOptions {
  AwaitedEvent awaited = AwaitedEvent::moment;
  double level = kDefaultLevel;
  double alpha = 0.05;  // of the Holm-corrected log-rank test, for the verdict
  std::uint64_t bootstrap_seed = 1;
  std::size_t resamples = kDefaultResamples;
  // Also summarize steps_to_level. Off when no target accuracy was known.
  bool has_level = true;
  ValueRange range = {};  // of final_accuracy
};

// The waiting time for one kind of event, restricted to the horizon.
struct WaitingTime {
  std::size_t n = 0;
  std::size_t events = 0;
  std::vector<SurvivalStep> curve;  // Kaplan-Meier with pointwise intervals; survival is 1 before the first step
  std::optional<double> median;     // nothing: more than half never had the event
  OpenInterval median_interval;     // an absent end: beyond what was observed
  std::optional<double> restricted_mean;
  std::optional<Interval> restricted_mean_interval;
};

struct AccuracySummary {
  std::size_t n = 0;  // trials that have one
  double median = 0;
  OpenInterval median_interval;  // holds whatever the distribution; an absent end: too few trials to tell
  double mean = 0;
  std::optional<Interval> mean_interval;  // Student's: much too narrow if a few in a hundred runs stay on the plateau
};

struct ArmSummary {
  std::size_t n = 0;
  std::size_t moments = 0;  // by the horizon
  std::size_t diverged = 0;
  std::size_t groks = 0;             // trials that grokked; never counted as moments
  std::optional<double> rate;        // trials with the awaited event by the horizon, of n; nothing without trials
  Interval rate_interval;            // Wilson
  WaitingTime event;                 // the awaited one
  std::optional<WaitingTime> level;  // steps to the target accuracy
  std::size_t level_without_moment =
      0;  // trials that reached the target accuracy with no moment: they learned gradually
  std::optional<AccuracySummary> final_accuracy;
};

// The same seed in both arms.
struct PairedComparison {
  std::size_t pairs = 0;
  std::size_t arm_sooner = 0;
  std::size_t baseline_sooner = 0;
  std::size_t undecided =
      0;  // neither had the event, both at the same step, or a run stopped early before it could be told
  SignTest sign;
  // On times cut at the horizon: a run without the event counts as if it came at the horizon, so its difference is a
  // lower bound. Pairs with a run stopped before the horizon are left out.
  SignedRank signed_rank;
  std::size_t left_out_of_signed_rank = 0;
  std::size_t censored_in_signed_rank = 0;  // pairs whose difference is such a bound
};

// Where waiting times do not compare (an arm that learns gradually, no event in either arm) there is nothing but
// level_speedup, and the arm has no place in Holm's correction.
struct ArmComparison {
  std::optional<LogRank> log_rank;
  std::optional<double> log_rank_p_holm;   // corrected over the arms that compare
  std::optional<HazardRatio> hazard;       // arm over baseline: > 1 sooner
  std::optional<MeanRatio> speedup;        // restricted mean of the baseline over the arm's: > 1 sooner
  std::optional<MeanRatio> level_speedup;  // the same for the steps to the target accuracy
  std::optional<PairedComparison> paired;  // nothing without a shared seed
};

enum class VerdictKind {
  baseline,
  sooner,        // reliably sooner
  later,         // reliably later
  never,         // reliably less often: no run of the arm had the event
  different,     // the curves differ, but which is sooner on the whole is not shown
  alike,         // no evidence of a difference, and a large one is ruled out
  inconclusive,  // no evidence of a difference, and a large one is not ruled out
  gradual,       // the arm learns, but without a moment: waiting times for one do not apply
  too_few,       // too few seeds to tell anything
  no_moments,    // neither arm had a moment
  not_reached,   // neither arm reached the target
  no_trials,
};
constexpr auto enum_names(VerdictKind) {
  return std::array{"baseline",     "sooner",  "later",   "never",      "different",   "alike",
                    "inconclusive", "gradual", "too_few", "no_moments", "not_reached", "no_trials"};
}

struct ArmReport {
  std::string name;
  ArmSummary summary;
  std::optional<ArmComparison> against_baseline;  // nothing for the baseline itself
  VerdictKind kind = VerdictKind::baseline;
  std::string verdict;  // a sentence or two
};

struct StudyComparison {
  double horizon = 0;  // tau of all restricted means
  double level = kDefaultLevel;
  ArmReport baseline;
  std::vector<ArmReport> arms;  // in the order given
};

// `fraction` of the way from `origin` to the median final value of an arm; nothing when no trial has one.
std::optional<double> target_accuracy(std::span<const TrialOutcome> arm, double fraction = kDefaultTargetFraction,
                                      double origin = 0);

// `horizon` is the budget planned for every run, in the unit of the times; the shortest one if arms differ.
ArmSummary summarize_arm(std::span<const TrialOutcome> trials, double horizon, const ComparisonOptions& options = {});
StudyComparison compare_arms(const Arm& baseline, std::span<const Arm> arms, double horizon,
                             const ComparisonOptions& options = {});

}  // namespace eureka
