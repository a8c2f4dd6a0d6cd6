#include "lab/study_statistics.h"

#include <fmt/format.h>

#include <algorithm>

#include "stats/p_value_text.h"

namespace eureka {
namespace {

StatisticValue count(std::size_t value) { return static_cast<std::int64_t>(value); }
StatisticValue maybe(const std::optional<double>& value) { return value ? StatisticValue(*value) : StatisticValue(); }
StatisticValue name_or_nothing(const std::string& name) {
  return name.empty() ? StatisticValue() : StatisticValue(name);
}

std::optional<OpenInterval> closed(const std::optional<Interval>& interval) {
  return interval ? std::optional(OpenInterval{interval->low, interval->high}) : std::nullopt;
}

const ArmSummary& own(const ArmAtPoint& arm) { return arm.result.statistics.summary; }
const std::optional<ArmComparison>& against(const ArmAtPoint& arm) { return arm.result.statistics.against_baseline; }

// A number of the final accuracy, of the comparison with the baseline, or of one part of that; nothing where it has
// none.
template <class Getter>
auto of_accuracy(Getter get) {
  return [get](const ArmAtPoint& arm) {
    return own(arm).final_accuracy ? get(*own(arm).final_accuracy) : decltype(get(*own(arm).final_accuracy)){};
  };
}
template <class Part, class Getter>
auto of_part(std::optional<Part> ArmComparison::*part, Getter get) {
  return [part, get](const ArmAtPoint& arm) {
    using Result = decltype(get(std::declval<const Part&>()));
    return against(arm) && (*against(arm)).*part ? get(*((*against(arm)).*part)) : Result{};
  };
}
template <class Getter>
auto of_pairs(Getter get) {
  return of_part(&ArmComparison::paired, get);
}

const char* name_of(HazardLimit limit) {
  return limit == HazardLimit::none ? "none" : limit == HazardLimit::zero ? "zero" : "infinite";
}

const char* name_of(VerdictKind kind) { return enum_names(kind)[static_cast<std::size_t>(kind)]; }

std::string of_runs(std::size_t events, const ArmAtPoint& arm) { return fmt::format("{}/{}", events, own(arm).n); }

std::string hazard_text(const ArmAtPoint& arm) {
  if (!against(arm)) return "1";
  const auto& hazard = against(arm)->hazard;
  if (!hazard) return "-";
  if (hazard->ratio) return fmt::format("{:.2f}", *hazard->ratio);
  // No estimate, but the end of the interval that there is.
  if (hazard->limit == HazardLimit::infinite && hazard->interval.low)
    return fmt::format(">{:.2f}", *hazard->interval.low);
  if (hazard->limit == HazardLimit::zero && hazard->interval.high)
    return fmt::format("<{:.2f}", *hazard->interval.high);
  return "-";
}

std::string speedup_text(const ArmAtPoint& arm) {
  if (!against(arm)) return "1";
  const auto& speedup = against(arm)->speedup;
  return speedup ? fmt::format("{:.2f}", speedup->ratio) : "-";
}

std::string log_rank_text(const ArmAtPoint& arm) {
  if (!against(arm)) return "baseline";
  return against(arm)->log_rank_p_holm ? p_value_text(*against(arm)->log_rank_p_holm) : "-";
}

// What the arm is by itself.
std::vector<ArmStatistic> own_statistics() {
  return {
      {.key = "name", .help = "of the arm", .value = [](const ArmAtPoint& arm) { return arm.result.statistics.name; }},
      {.key = "point",
       .help = "of the axes; none without axes",
       .value = [](const ArmAtPoint& arm) { return name_or_nothing(arm.point.point.name); }},
      {.key = "n", .help = "trials that ended", .value = [](const ArmAtPoint& arm) { return count(own(arm).n); }},
      {.key = "moments",
       .help = "trials with a moment within the budget",
       .value = [](const ArmAtPoint& arm) { return count(own(arm).moments); },
       .text = [](const ArmAtPoint& arm) { return of_runs(own(arm).moments, arm); }},
      {.key = "diverged",
       .help = "trials whose loss left the numbers",
       .value = [](const ArmAtPoint& arm) { return count(own(arm).diverged); }},
      {.key = "rate",
       .help = "share of the trials with the event; Wilson's interval",
       .value = [](const ArmAtPoint& arm) { return maybe(own(arm).rate); },
       .interval = [](const ArmAtPoint& arm) { return closed(own(arm).rate_interval); },
       .format = "{:.2f}"},
      {.key = "median",
       .help = "Kaplan-Meier median step of the event; none when more than half never had it",
       .value = [](const ArmAtPoint& arm) { return maybe(own(arm).event.median); },
       .interval = [](const ArmAtPoint& arm) { return std::optional(own(arm).event.median_interval); },
       .title = "median step"},
      {.key = "rmst",
       .help = "restricted mean: mean step of the event, a trial without it counting as the budget",
       .value = [](const ArmAtPoint& arm) { return maybe(own(arm).event.restricted_mean); },
       .interval = [](const ArmAtPoint& arm) { return closed(own(arm).event.restricted_mean_interval); },
       .title = "mean to budget"},
      {.key = "final_accuracy",
       .help = "median validation accuracy at the end",
       .value = of_accuracy([](const AccuracySummary& accuracy) { return StatisticValue(accuracy.median); }),
       .interval = of_accuracy([](const AccuracySummary& accuracy) { return std::optional(accuracy.median_interval); }),
       .title = "final acc",
       .format = "{:.3f}"},
      {.key = "final_accuracy_mean",
       .help = "mean validation accuracy at the end",
       .value = of_accuracy([](const AccuracySummary& accuracy) { return StatisticValue(accuracy.mean); }),
       .format = "{:.3f}"},
      {.key = "reached_target",
       .help = "trials that reached the target accuracy, with or without a moment",
       .value = [](const ArmAtPoint& arm) { return own(arm).level ? count(own(arm).level->events) : StatisticValue(); },
       .title = "reached",
       .text = [](const ArmAtPoint& arm) { return own(arm).level ? of_runs(own(arm).level->events, arm) : "-"; }},
      {.key = "steps_to_target_median",
       .help = "median step at which they did",
       .value = [](const ArmAtPoint& arm) { return own(arm).level ? maybe(own(arm).level->median) : StatisticValue(); },
       .title = "to target"},
      {.key = "mean_of_moments",
       .help = "mean step over the trials that had a moment, as papers print it",
       .value = [](const ArmAtPoint& arm) { return maybe(arm.result.mean_of_moments); }},
      {.key = "groks",
       .help = "trials whose validation rose long after training was solved: grokking, no moments",
       .value = [](const ArmAtPoint& arm) { return count(own(arm).groks); },
       .text = [](const ArmAtPoint& arm) { return of_runs(own(arm).groks, arm); },
       .only_if_any = true},
  };
}

// What it is against the baseline; nothing for the baseline itself.
std::vector<ArmStatistic> comparison_statistics() {
  const auto ratio = [](const MeanRatio& mean) { return StatisticValue(mean.ratio); };
  const auto ratio_interval = [](const MeanRatio& mean) { return closed(mean.interval); };
  return {
      {.key = "logrank_p",
       .help = "log-rank test of the event, Holm-corrected over the arms of the point",
       .value =
           [](const ArmAtPoint& arm) { return against(arm) ? maybe(against(arm)->log_rank_p_holm) : StatisticValue(); },
       .title = "log-rank p",
       .text = log_rank_text},
      {.key = "logrank_p_uncorrected",
       .help = "the same without the correction",
       .value = of_part(&ArmComparison::log_rank, [](const LogRank& test) { return StatisticValue(test.p); })},
      {.key = "hazard_ratio",
       .help = "arm over baseline, above 1: sooner",
       .value = of_part(&ArmComparison::hazard, [](const HazardRatio& hazard) { return maybe(hazard.ratio); }),
       .interval =
           of_part(&ArmComparison::hazard, [](const HazardRatio& hazard) { return std::optional(hazard.interval); }),
       .title = "hazard",
       .text = hazard_text},
      {.key = "hazard_ratio_limit",
       .help = "infinite or zero where there is no finite estimate",
       .value = of_part(&ArmComparison::hazard,
                        [](const HazardRatio& hazard) { return StatisticValue(name_of(hazard.limit)); })},
      {.key = "speedup",
       .help = "rmst of the baseline over the arm's, above 1: sooner; bootstrap interval",
       .value = of_part(&ArmComparison::speedup, ratio),
       .interval = of_part(&ArmComparison::speedup, ratio_interval),
       .title = "speed-up",
       .format = "{:.2f}",
       .text = speedup_text},
      {.key = "speedup_to_target",
       .help = "the same for the steps to the target accuracy",
       .value = of_part(&ArmComparison::level_speedup, ratio),
       .interval = of_part(&ArmComparison::level_speedup, ratio_interval),
       .format = "{:.2f}"},
  };
}

// The same seeds in both arms.
std::vector<ArmStatistic> paired_statistics() {
  using P = PairedComparison;
  return {
      {.key = "pairs", .help = "shared seeds", .value = of_pairs([](const P& p) { return count(p.pairs); })},
      {.key = "sooner", .help = "the arm was sooner", .value = of_pairs([](const P& p) {
                                                        return count(p.arm_sooner);
                                                      })},
      {.key = "later", .help = "the baseline was", .value = of_pairs([](const P& p) {
                                                     return count(p.baseline_sooner);
                                                   })},
      {.key = "undecided", .help = "cannot be told", .value = of_pairs([](const P& p) { return count(p.undecided); })},
      {.key = "sign_p", .help = "sign test", .value = of_pairs([](const P& p) { return StatisticValue(p.sign.p); })},
      {.key = "signed_rank_p", .help = "Wilcoxon's signed-rank test", .value = of_pairs([](const P& p) {
                                                                        return StatisticValue(p.signed_rank.p);
                                                                      })},
      {.key = "signed_rank_pairs", .help = "pairs it could use", .value = of_pairs([](const P& p) {
                                                                   return count(p.signed_rank.pairs);
                                                                 })},
      {.key = "signed_rank_bounds",
       .help = "pairs whose difference is a bound, because a run had no event",
       .value = of_pairs([](const P& p) { return count(p.censored_in_signed_rank); })},
  };
}

std::vector<ArmStatistic> all_of_arms() {
  std::vector<ArmStatistic> all = own_statistics();
  for (ArmStatistic& statistic : comparison_statistics()) all.push_back(std::move(statistic));
  for (ArmStatistic& statistic : paired_statistics()) {
    statistic.group = "paired";
    all.push_back(std::move(statistic));
  }
  all.push_back({.key = "verdict_kind", .help = "the verdict in one word", .value = [](const ArmAtPoint& arm) {
                   return std::string(name_of(arm.result.statistics.kind));
                 }});
  all.push_back({.key = "verdict", .help = "what was found, in a sentence", .value = [](const ArmAtPoint& arm) {
                   return arm.result.statistics.verdict;
                 }});
  return all;
}

const TrialRow& row_of(const TrialInStudy& trial) { return trial.report.trials[trial.index]; }

}  // namespace

const std::vector<ArmStatistic>& arm_statistics() {
  static const std::vector<ArmStatistic> all = all_of_arms();
  return all;
}

const std::vector<TrialStatistic>& trial_statistics() {
  static const std::vector<TrialStatistic> all = {
      {.key = "arm",
       .help = "its name",
       .value = [](const TrialInStudy& t) { return t.report.study.arms[row_of(t).arm].name; }},
      {.key = "point",
       .help = "of the axes; none without axes",
       .value = [](const TrialInStudy& t) { return name_or_nothing(t.report.study.points[row_of(t).point].name); }},
      {.key = "seed", .help = "of the run", .value = [](const TrialInStudy& t) { return row_of(t).seed; }},
      {.key = "status",
       .help = "finished or diverged",
       .value = [](const TrialInStudy& t) { return std::string(status_name(row_of(t).status)); }},
      {.key = "steps", .help = "done", .value = [](const TrialInStudy& t) { return row_of(t).steps; }},
      {.key = "moment", .help = "its step", .value = [](const TrialInStudy& t) { return maybe(row_of(t).moment); }},
      {.key = "rise_width",
       .help = "10-90% of the rise, in steps",
       .value = [](const TrialInStudy& t) { return maybe(row_of(t).rise_width); }},
      {.key = "final_accuracy",
       .help = "validation accuracy at the end",
       .value = [](const TrialInStudy& t) { return maybe(row_of(t).final_accuracy); }},
      {.key = "steps_to_target",
       .help = "first evaluation at the target accuracy",
       .value = [](const TrialInStudy& t) { return maybe(row_of(t).steps_to_level); }},
      {.key = "grokking",
       .help = "the step at which it grokked, which is no moment",
       .value = [](const TrialInStudy& t) { return maybe(row_of(t).grokking); },
       .only_if_any = true},
      {.key = "directory",
       .help = "below that of the study",
       .value = [](const TrialInStudy& t) { return t.report.trial_directories[t.index].generic_string(); }},
  };
  return all;
}

const ArmStatistic& arm_statistic(std::string_view key) {
  const auto& all = arm_statistics();
  const auto found = std::find_if(all.begin(), all.end(), [&](const ArmStatistic& s) { return s.key == key; });
  EUREKA_CHECK(found != all.end(), "a statistic nobody declared: " + std::string(key));
  return *found;
}

}  // namespace eureka
