#include "stats/verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "stats/p_value_text.h"

namespace eureka {
namespace {

constexpr std::size_t kFewestRuns = 5;  // per arm; below, p-values and intervals are too rough to stand on
constexpr double kLargeChange = 1.25;   // a speed-up or slow-down worth talking about
constexpr double kClearOfOne = 1.005;   // an end nearer to 1 is printed as 1.00
constexpr double kHint = 1.05;          // without a test that bears it out an interval must keep this far from 1

bool keeps_clear_of_one(const Interval& speedup, double factor) {
  return speedup.low > factor || speedup.high < 1 / factor;
}

// How sentences speak of the awaited event.
struct EventWords {
  const char* have;          // "5 of 6 runs ... within 2000 steps"
  const char* has;           // "none of 6 runs ... within 2000 steps"
  const char* reaches;       // "the arm ... reliably sooner"
  const char* at_same_step;  // "every seed ..."
  const char* tally;         // "...: 6 of 6 runs against 5 of 6"
};

EventWords words_of(AwaitedEvent awaited) {
  if (awaited == AwaitedEvent::moment)
    return {"had their moment", "had its moment", "reaches the moment", "has its moment at the same step", "Moments"};
  return {"reached the target", "reached the target", "reaches the target", "reaches the target at the same step",
          "Reached"};
}

std::string events_of(const ArmSummary& arm) {
  return arm.event.events == 0 ? fmt::format("none of {}", arm.n) : fmt::format("{} of {}", arm.event.events, arm.n);
}

std::string p_text(double p) { return "p = " + p_value_text(p); }

// "in 0.51 of softmax's steps", "in 2.03 times softmax's steps" for a speed-up of 0.49.
std::string steps_clause(double speedup, const std::string& baseline) {
  return fmt::format("in {:.2f} {} {}'s steps", 1 / speedup, speedup >= 1 ? "of" : "times", baseline);
}

std::string speedup_clause(const MeanRatio& speedup, double level) {
  if (!speedup.interval)
    return fmt::format("speed-up {:.2f} without an interval, as the times do not vary", speedup.ratio);
  return fmt::format("speed-up {:.2f}, {:.0f}% interval {:.2f} to {:.2f}", speedup.ratio, 100 * level,
                     speedup.interval->low, speedup.interval->high);
}

std::string seeds_clause(const ArmComparison& comparison, bool sooner) {
  if (!comparison.paired) return "";
  const PairedComparison& paired = *comparison.paired;
  const std::size_t agreeing = sooner ? paired.arm_sooner : paired.baseline_sooner;
  const char* word = sooner ? "sooner" : "later";
  if (agreeing == paired.pairs) return fmt::format(" and {} in every one of {} shared seeds", word, paired.pairs);
  return fmt::format(", {} in {} of {} shared seeds", word, agreeing, paired.pairs);
}

struct Evidence {
  const std::string& name;
  const ArmSummary& arm;
  const std::string& baseline_name;
  const ArmSummary& baseline;
  const ArmComparison& comparison;
  double horizon;
  double level;
  EventWords words;
};

std::string tally_sentence(const Evidence& e) {
  return fmt::format(" {}: {} runs against {}.", e.words.tally, events_of(e.arm), events_of(e.baseline));
}

// A share of the steps of runs that never get there would be a share of the budget.
Verdict only_one_has_the_event(const Evidence& e, double p) {
  if (e.arm.event.events == 0)
    return {VerdictKind::never,
            fmt::format("{} never {} within {:g} steps: none of {} runs does, against {} of {} ({}).", e.name,
                        e.words.reaches, e.horizon, e.arm.n, events_of(e.baseline), e.baseline_name, p_text(p))};
  return {VerdictKind::sooner, fmt::format("{} {} reliably, {} does not: {} runs within {:g} steps against {} ({}){}.",
                                           e.name, e.words.reaches, e.baseline_name, events_of(e.arm), e.horizon,
                                           events_of(e.baseline), p_text(p), seeds_clause(e.comparison, true))};
}

Verdict reliable_difference(const Evidence& e, double p, const MeanRatio& speedup) {
  if (e.arm.event.events == 0 || e.baseline.event.events == 0) return only_one_has_the_event(e, p);
  if (speedup.interval && !keeps_clear_of_one(*speedup.interval, kClearOfOne))
    return {VerdictKind::different,
            fmt::format("{} differs from {} ({}), but which is sooner on the whole is not shown: the interval does not "
                        "leave out 1 ({}).{}",
                        e.name, e.baseline_name, p_text(p), speedup_clause(speedup, e.level), tally_sentence(e))};
  const bool sooner = speedup.ratio > 1;
  return {sooner ? VerdictKind::sooner : VerdictKind::later,
          fmt::format("{} {} reliably {}: {} ({}; {}){}.{}", e.name, e.words.reaches, sooner ? "sooner" : "later",
                      steps_clause(speedup.ratio, e.baseline_name), speedup_clause(speedup, e.level), p_text(p),
                      seeds_clause(e.comparison, sooner), tally_sentence(e))};
}

Verdict no_reliable_difference(const Evidence& e, double p, double alpha, const MeanRatio& speedup) {
  const std::string no_evidence =
      fmt::format("{}: no evidence of a difference from {} ({})", e.name, e.baseline_name, p_text(p));
  if (!speedup.interval)
    return {VerdictKind::inconclusive,
            fmt::format("{}, and no interval for one, as the times do not vary.{}", no_evidence, tally_sentence(e))};
  const Interval& range = *speedup.interval;
  if (range.low > 1 / kLargeChange && range.high < kLargeChange)
    return {VerdictKind::alike, fmt::format("{}, and a large one is unlikely ({}).{}", no_evidence,
                                            speedup_clause(speedup, e.level), tally_sentence(e))};
  // What would be evidence if no other arm had been looked at.
  const bool alone_it_differs = e.comparison.log_rank && e.comparison.log_rank->p < alpha;
  if (alone_it_differs && keeps_clear_of_one(range, kHint))
    return {VerdictKind::inconclusive,
            fmt::format("{} seems {}, {} ({}), but the log-rank test, corrected over the arms, does not bear it out "
                        "({}): a hint, no evidence.{}",
                        e.name, speedup.ratio > 1 ? "sooner" : "later", steps_clause(speedup.ratio, e.baseline_name),
                        speedup_clause(speedup, e.level), p_text(p), tally_sentence(e))};
  return {VerdictKind::inconclusive,
          fmt::format("{}, but with {} runs against {} anything from {:.2f} to {:.2f} times {}'s steps is possible "
                      "({}).{}",
                      no_evidence, e.arm.n, e.baseline.n, std::min(1.0, 1 / range.high), std::max(1.0, 1 / range.low),
                      e.baseline_name, speedup_clause(speedup, e.level), tally_sentence(e))};
}

Verdict no_events(const Evidence& e, AwaitedEvent awaited) {
  return {awaited == AwaitedEvent::moment ? VerdictKind::no_moments : VerdictKind::not_reached,
          fmt::format("{}: none of {} runs {} within {:g} steps, nor any of {} of {}: nothing to compare.", e.name,
                      e.arm.n, e.words.has, e.horizon, e.baseline.n, e.baseline_name)};
}

bool same_run_by_run(const ArmSummary& arm, const ArmSummary& baseline, const ArmComparison& comparison) {
  return comparison.paired && arm.n == baseline.n && comparison.paired->pairs == arm.n &&
         comparison.paired->arm_sooner + comparison.paired->baseline_sooner == 0 &&
         comparison.paired->left_out_of_signed_rank == 0;
}

// A study must not count grokking as moments, nor keep silent about it.
std::string groks_clause(const ArmSummary& arm) {
  return arm.groks == 0 ? "" : fmt::format(" ({} grokked: validation rose long after training was solved)", arm.groks);
}

// The target accuracy is past the plateau only if the baseline's typical run gets there by a moment.
bool learns_gradually(const ArmSummary& arm, const ArmSummary& baseline, const ComparisonOptions& options) {
  return options.awaited == AwaitedEvent::moment && 2 * arm.level_without_moment > arm.n &&
         2 * baseline.moments > baseline.n;
}

}  // namespace

bool waiting_times_compare(const ArmSummary& arm, const ArmSummary& baseline, const ComparisonOptions& options) {
  return !learns_gradually(arm, baseline, options) && arm.event.events + baseline.event.events > 0;
}

Verdict baseline_verdict(const std::string& name, const ArmSummary& summary, double horizon,
                         const ComparisonOptions& options) {
  if (summary.n == 0) return {VerdictKind::no_trials, fmt::format("{}: no finished runs.", name)};
  const EventWords words = words_of(options.awaited);
  const std::string text = fmt::format("{} is the baseline: {} runs {} within {:g} steps", name, events_of(summary),
                                       summary.event.events == 0 || summary.n == 1 ? words.has : words.have, horizon) +
                           groks_clause(summary);
  if (!summary.event.median) return {VerdictKind::baseline, text + "."};
  return {VerdictKind::baseline, text + fmt::format(", half of all by step {:.0f}.", *summary.event.median)};
}

Verdict arm_verdict(const std::string& name, const ArmSummary& arm, const std::string& baseline_name,
                    const ArmSummary& baseline, const ArmComparison& comparison, double horizon,
                    const ComparisonOptions& options) {
  const Evidence evidence{name,       arm,     baseline_name, baseline,
                          comparison, horizon, options.level, words_of(options.awaited)};
  if (arm.n == 0 || baseline.n == 0)
    return {VerdictKind::no_trials,
            fmt::format("{}: no finished runs {}to compare.", name, arm.n == 0 ? "" : "of " + baseline_name + " ")};
  if (learns_gradually(arm, baseline, options))
    return {
        VerdictKind::gradual,
        fmt::format("{} learns without a moment: {} of {} runs reach the target accuracy without one{}, so its waiting "
                    "times do not compare with those of {}; see the steps to the target accuracy.",
                    name, arm.level_without_moment, arm.n, groks_clause(arm), baseline_name)};
  if (arm.event.events == 0 && baseline.event.events == 0) return no_events(evidence, options.awaited);
  if (std::min(arm.n, baseline.n) < kFewestRuns)
    return {VerdictKind::too_few, fmt::format("{}: too few seeds to tell ({} runs against {}).{}", name, arm.n,
                                              baseline.n, tally_sentence(evidence))};
  if (same_run_by_run(arm, baseline, comparison))
    return {VerdictKind::alike, fmt::format("{}: no difference from {} at all: every seed {}.{}", name, baseline_name,
                                            evidence.words.at_same_step, tally_sentence(evidence))};
  if (!comparison.log_rank_p_holm || !comparison.speedup)
    return {VerdictKind::inconclusive,
            fmt::format("{} cannot be told from {}: there is no step at which runs of both still waited and some {}.{}",
                        name, baseline_name, evidence.words.have, tally_sentence(evidence))};
  const double p = *comparison.log_rank_p_holm;
  return p < options.alpha ? reliable_difference(evidence, p, *comparison.speedup)
                           : no_reliable_difference(evidence, p, options.alpha, *comparison.speedup);
}

}  // namespace eureka
