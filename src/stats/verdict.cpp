#include "stats/verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "stats/p_value_text.h"

namespace eureka {
namespace {

constexpr std::size_t kFewestRuns = 5;  // per arm; below, p-values and intervals are too rough to stand on
constexpr double kLargeChange = 1.25;   // a speed-up or slow-down worth talking about

// "1.8 times sooner", "1.3 times later" for a speed-up of 0.77.
std::string in_words(double speedup) {
  return speedup >= 1 ? fmt::format("{:.2f} times sooner", speedup) : fmt::format("{:.2f} times later", 1 / speedup);
}

// How sentences speak of the awaited event.
struct EventWords {
  const char* had;           // "5 of 6 runs ... within 2000 steps"
  const char* reaches;       // "the arm ... reliably sooner"
  const char* at_same_step;  // "every seed ..."
  const char* tally;         // "...: 6 of 6 runs against 5 of 6"
};

EventWords words_of(AwaitedEvent awaited) {
  if (awaited == AwaitedEvent::moment)
    return {"had their moment", "reaches the moment", "has its moment at the same step", "Moments"};
  return {"reached the target", "reaches the target", "reaches the target at the same step", "Reached"};
}

std::string events_of(const ArmSummary& arm) { return fmt::format("{} of {}", arm.event.events, arm.n); }

std::string p_text(double p) { return "p = " + p_value_text(p); }

std::string seeds_clause(const ArmComparison& comparison, bool sooner) {
  if (!comparison.paired) return "";
  const PairedComparison& paired = *comparison.paired;
  const std::size_t agreeing = sooner ? paired.arm_sooner : paired.baseline_sooner;
  const char* word = sooner ? "sooner" : "later";
  if (agreeing == paired.pairs) return fmt::format(" and {} in every one of {} shared seeds", word, paired.pairs);
  return fmt::format(", {} in {} of {} shared seeds", word, agreeing, paired.pairs);
}

std::string interval_text(const std::optional<Interval>& speedup, double level) {
  if (!speedup) return "no interval, as the times do not vary";
  return fmt::format("{:.0f}% interval of the speed-up {:.2f} to {:.2f}", 100 * level, speedup->low, speedup->high);
}

struct Evidence {
  const std::string& name;
  const ArmSummary& arm;
  const std::string& baseline_name;
  const ArmSummary& baseline;
  const ArmComparison& comparison;
  double level;
  EventWords words;
};

std::string rates_sentence(const Evidence& e) {
  return fmt::format(" {}: {} runs against {}.", e.words.tally, events_of(e.arm), events_of(e.baseline));
}

Verdict reliable_difference(const Evidence& e, double p, const MeanRatio& speedup) {
  const bool sooner = speedup.ratio > 1;
  return {
      sooner ? VerdictKind::sooner : VerdictKind::later,
      fmt::format("{} {} reliably {}: {} than {} ({}; {}){}.{}", e.name, e.words.reaches, sooner ? "sooner" : "later",
                  in_words(speedup.ratio), e.baseline_name, interval_text(speedup.interval, e.level), p_text(p),
                  seeds_clause(e.comparison, sooner), rates_sentence(e))};
}

Verdict no_reliable_difference(const Evidence& e, double p, const MeanRatio& speedup) {
  const Interval range = speedup.interval.value_or(Interval{speedup.ratio, speedup.ratio});
  if (range.low > 1 || range.high < 1)
    return {
        VerdictKind::inconclusive,
        fmt::format("{} seems {} than {} ({}), but the log-rank test does not bear it out ({}): a hint, no evidence.{}",
                    e.name, in_words(speedup.ratio), e.baseline_name, interval_text(range, e.level), p_text(p),
                    rates_sentence(e))};
  if (range.low > 1 / kLargeChange && range.high < kLargeChange)
    return {VerdictKind::alike,
            fmt::format("{}: no evidence of a difference from {} ({}), and a large one is unlikely ({}).{}", e.name,
                        e.baseline_name, p_text(p), interval_text(range, e.level), rates_sentence(e))};
  return {
      VerdictKind::inconclusive,
      fmt::format("{}: no evidence of a difference from {} ({}), but with {} runs against {} anything from {} to {} is "
                  "possible.{}",
                  e.name, e.baseline_name, p_text(p), e.arm.n, e.baseline.n, in_words(range.low), in_words(range.high),
                  rates_sentence(e))};
}

Verdict no_events(const Evidence& e, double horizon, AwaitedEvent awaited) {
  if (awaited == AwaitedEvent::moment)
    return {VerdictKind::no_moments,
            fmt::format("{}: no moment within {:g} steps in any of {} runs, nor in {} of {}: nothing to compare.",
                        e.name, horizon, e.arm.n, e.baseline.n, e.baseline_name)};
  return {
      VerdictKind::not_reached,
      fmt::format("{}: none of {} runs reached the target within {:g} steps, nor any of {} of {}: nothing to compare.",
                  e.name, e.arm.n, horizon, e.baseline.n, e.baseline_name)};
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
bool learns_gradually(const ArmSummary& arm, const ArmSummary& baseline) {
  return 2 * arm.level_without_moment > arm.n && 2 * baseline.moments > baseline.n;
}

}  // namespace

Verdict baseline_verdict(const std::string& name, const ArmSummary& summary, double horizon,
                         const ComparisonOptions& options) {
  if (summary.n == 0) return {VerdictKind::no_trials, fmt::format("{}: no finished runs.", name)};
  const std::string text = fmt::format("{} is the baseline: {} runs {} within {:g} steps", name, events_of(summary),
                                       words_of(options.awaited).had, horizon) +
                           groks_clause(summary);
  if (!summary.event.median) return {VerdictKind::baseline, text + "."};
  return {VerdictKind::baseline, text + fmt::format(", half of them by step {:.0f}.", *summary.event.median)};
}

Verdict arm_verdict(const std::string& name, const ArmSummary& arm, const std::string& baseline_name,
                    const ArmSummary& baseline, const ArmComparison& comparison, double horizon,
                    const ComparisonOptions& options) {
  const Evidence evidence{name, arm, baseline_name, baseline, comparison, options.level, words_of(options.awaited)};
  if (arm.n == 0 || baseline.n == 0)
    return {VerdictKind::no_trials,
            fmt::format("{}: no finished runs {}to compare.", name, arm.n == 0 ? "" : "of " + baseline_name + " ")};
  if (options.awaited == AwaitedEvent::moment && learns_gradually(arm, baseline))
    return {
        VerdictKind::gradual,
        fmt::format("{} learns without a moment: {} of {} runs reach the target accuracy without one{}, so its waiting "
                    "times do not compare with those of {}; see the steps to the target accuracy.",
                    name, arm.level_without_moment, arm.n, groks_clause(arm), baseline_name)};
  if (arm.event.events == 0 && baseline.event.events == 0) return no_events(evidence, horizon, options.awaited);
  if (std::min(arm.n, baseline.n) < kFewestRuns || !comparison.log_rank_p_holm || !comparison.speedup)
    return {VerdictKind::too_few, fmt::format("{}: too few seeds to tell ({} runs against {}).{}", name, arm.n,
                                              baseline.n, rates_sentence(evidence))};
  if (same_run_by_run(arm, baseline, comparison))
    return {VerdictKind::alike, fmt::format("{}: no difference from {} at all: every seed {}.{}", name, baseline_name,
                                            evidence.words.at_same_step, rates_sentence(evidence))};
  const double p = *comparison.log_rank_p_holm;
  const MeanRatio& speedup = *comparison.speedup;
  if (p >= options.alpha) return no_reliable_difference(evidence, p, speedup);
  if (!speedup.interval || !speedup.interval->contains(1)) return reliable_difference(evidence, p, speedup);
  return {
      VerdictKind::different,
      fmt::format("{} differs from {} ({}), but is neither sooner nor later on the whole ({}).{}", name, baseline_name,
                  p_text(p), interval_text(speedup.interval, options.level), rates_sentence(evidence))};
}

}  // namespace eureka
