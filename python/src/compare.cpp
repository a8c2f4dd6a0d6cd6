// The statistics of a study, for anybody's table of runs.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "arrays.h"
#include "bindings.h"
#include "stats/arm_comparison.h"

namespace eureka::python {
namespace {

nb::object interval(const std::optional<Interval>& of) {
  if (!of) return nb::none();
  return nb::make_tuple(of->low, of->high);
}
nb::object interval(const OpenInterval& of) { return nb::make_tuple(of.low, of.high); }

nb::dict dict_of(const WaitingTime& waiting) {
  std::vector<double> times, survival, low, high;
  for (const SurvivalStep& step : waiting.curve) {
    times.push_back(step.time);
    survival.push_back(step.survival);
    low.push_back(step.interval.low);
    high.push_back(step.interval.high);
  }
  nb::dict all;
  all["events"] = waiting.events;
  all["median"] = waiting.median;
  all["median_interval"] = interval(waiting.median_interval);
  all["restricted_mean"] = waiting.restricted_mean;
  all["restricted_mean_interval"] = interval(waiting.restricted_mean_interval);
  all["times"] = array_of(std::move(times));
  all["survival"] = array_of(std::move(survival));
  all["survival_low"] = array_of(std::move(low));
  all["survival_high"] = array_of(std::move(high));
  return all;
}

nb::object dict_of(const std::optional<PairedComparison>& paired) {
  if (!paired) return nb::none();
  nb::dict all;
  all["pairs"] = paired->pairs;
  all["sooner"] = paired->arm_sooner;
  all["later"] = paired->baseline_sooner;
  all["undecided"] = paired->undecided;
  all["sign_test_p"] = paired->sign.p;
  all["signed_rank_p"] = paired->signed_rank.p;
  return all;
}

nb::dict dict_of(const ArmReport& report) {
  nb::dict all = dict_of(report.summary.event);
  all["name"] = report.name;
  all["n"] = report.summary.n;
  all["rate"] = report.summary.rate;
  all["rate_interval"] = nb::make_tuple(report.summary.rate_interval.low, report.summary.rate_interval.high);
  all["verdict"] = report.verdict;
  all["verdict_kind"] = enum_names(VerdictKind())[static_cast<std::size_t>(report.kind)];
  for (const char* key : {"log_rank_p", "log_rank_p_holm", "hazard_ratio", "hazard_ratio_interval", "speedup",
                          "speedup_interval", "paired"})
    all[key] = nb::none();
  if (const auto& against = report.against_baseline) {
    if (against->log_rank) all["log_rank_p"] = against->log_rank->p;
    all["log_rank_p_holm"] = against->log_rank_p_holm;
    if (against->hazard) {
      all["hazard_ratio"] = against->hazard->ratio;
      all["hazard_ratio_interval"] = interval(against->hazard->interval);
    }
    if (against->speedup) {
      all["speedup"] = against->speedup->ratio;
      all["speedup_interval"] = interval(against->speedup->interval);
    }
    all["paired"] = dict_of(against->paired);
  }
  return all;
}

// One run: how long it was seen, whether the event had come by then, which pair it belongs to.
using Run = std::tuple<double, bool, std::int64_t>;

Arm arm_of(const std::string& name, const std::vector<Run>& runs) {
  Arm arm{name, {}};
  for (const auto& [time, happened, pair] : runs) {
    TrialOutcome trial{.seed = pair, .last_step = time};
    if (happened) trial.moment = time;
    arm.trials.push_back(trial);
  }
  return arm;
}

}  // namespace

void bind_compare(nb::module_& module) {
  module.def(
      "compare",
      [](const std::vector<std::tuple<std::string, std::vector<Run>>>& groups, double horizon, double level,
         bool paired) {
        std::vector<Arm> arms;
        for (const auto& [name, runs] : groups) arms.push_back(arm_of(name, runs));
        StudyComparison study;
        {
          nb::gil_scoped_release release;
          // Seeds that were only made up to tell runs apart are shared by nobody.
          if (!paired)
            for (std::size_t arm = 0, seed = 0; arm < arms.size(); ++arm)
              for (TrialOutcome& trial : arms[arm].trials) trial.seed = static_cast<std::int64_t>(seed++);
          study = compare_arms(arms.front(), std::span(arms).subspan(1), horizon, {.level = level, .has_level = false});
        }
        nb::list all;
        all.append(dict_of(study.baseline));
        for (const ArmReport& arm : study.arms) all.append(dict_of(arm));
        return all;
      },
      nb::arg("groups"), nb::arg("horizon"), nb::arg("level"), nb::arg("paired"));
}

}  // namespace eureka::python
