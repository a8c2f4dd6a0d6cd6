// study.json, arms.csv and trials.csv, from the declarations of lab/study_statistics.h; docs/study-json.md says what is
// in them.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "io/json.h"
#include "lab/study_report.h"
#include "lab/study_statistics.h"

namespace eureka {
namespace {

Json maybe(const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); }
Json name_or_null(const std::string& name) { return name.empty() ? Json(nullptr) : Json(name); }

Json json_of(const StatisticValue& value) {
  return std::visit(
      [](const auto& held) {
        if constexpr (std::is_same_v<std::decay_t<decltype(held)>, std::monostate>)
          return Json(nullptr);
        else
          return Json(held);
      },
      value);
}

Json values_of(const ConfigEntries& entries) {
  Json values = Json::object();
  for (const auto& [key, entry] : entries)
    std::visit([&, &name = key](const auto& value) { values[name] = value; }, entry.value);
  return values;
}

// A group without any value is null.
template <class Subject>
Json row_json(const std::vector<Statistic<Subject>>& statistics, const Subject& subject) {
  Json row = Json::object();
  for (const Statistic<Subject>& statistic : statistics) {
    const Json value = json_of(statistic.value(subject));
    if (!statistic.group.empty()) {
      Json& group = row[statistic.group];
      if (!value.is_null()) group[statistic.key] = value;
      continue;
    }
    row[statistic.key] = value;
    if (!statistic.interval) continue;
    const auto interval = statistic.interval(subject);
    row[statistic.key + "_ci"] = interval ? Json{maybe(interval->low), maybe(interval->high)} : Json(nullptr);
  }
  return row;
}

std::string csv_cell(const Json& value) {
  if (value.is_null()) return {};
  if (!value.is_string()) return value.dump();
  std::string quoted = "\"";
  const std::string text = value.get<std::string>();
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  for (const char letter : text) quoted += letter == '"' ? std::string("\"\"") : std::string(1, letter);
  return quoted + "\"";
}

template <class Subject>
std::string csv_of(const std::vector<Statistic<Subject>>& statistics, const std::vector<Subject>& subjects) {
  std::vector<std::string> names;
  for (const Statistic<Subject>& statistic : statistics) {
    names.push_back(statistic.group.empty() ? statistic.key : fmt::format("{}_{}", statistic.group, statistic.key));
    if (statistic.interval) names.insert(names.end(), {statistic.key + "_ci_low", statistic.key + "_ci_high"});
  }
  std::string text = fmt::format("{}\n", fmt::join(names, ","));
  for (const Subject& subject : subjects) {
    std::vector<std::string> cells;
    for (const Statistic<Subject>& statistic : statistics) {
      cells.push_back(csv_cell(json_of(statistic.value(subject))));
      if (!statistic.interval) continue;
      const OpenInterval interval = statistic.interval(subject).value_or(OpenInterval{});
      cells.insert(cells.end(), {csv_cell(maybe(interval.low)), csv_cell(maybe(interval.high))});
    }
    text += fmt::format("{}\n", fmt::join(cells, ","));
  }
  return text;
}

std::vector<ArmAtPoint> arms_of(const StudyReport& report) {
  std::vector<ArmAtPoint> arms;
  for (const PointReport& point : report.points)
    for (const ArmResult& arm : point.arms) arms.push_back({point, arm});
  return arms;
}

std::vector<TrialInStudy> trials_of(const StudyReport& report) {
  std::vector<TrialInStudy> trials;
  for (std::size_t i = 0; i < report.trials.size(); ++i) trials.push_back({report, i});
  return trials;
}

Json survival_json(const WaitingTime& waiting) {
  Json curve = Json::array();
  for (const SurvivalStep& step : waiting.curve)
    curve.push_back({step.time, step.survival, step.interval.low, step.interval.high});
  return curve;
}

bool is_none(const StatisticValue& value) {
  const auto* count = std::get_if<std::int64_t>(&value);
  return std::holds_alternative<std::monostate>(value) || (count && *count == 0);
}

// Those that the files of a study have whose rows these are.
template <class Subject>
std::vector<Statistic<Subject>> told_of(std::vector<Statistic<Subject>> statistics, const std::vector<Subject>& rows) {
  std::erase_if(statistics, [&](const Statistic<Subject>& one) {
    return one.only_if_any &&
           std::all_of(rows.begin(), rows.end(), [&](const Subject& row) { return is_none(one.value(row)); });
  });
  return statistics;
}

Json arm_json(const ArmAtPoint& arm, const std::vector<ArmStatistic>& statistics) {
  Json json = row_json(statistics, arm);
  if (!arm.result.causal_verdict.empty()) json["causal_verdict"] = arm.result.causal_verdict;
  json["survival"] = survival_json(arm.result.statistics.summary.event);
  return json;
}

Json point_json(const PointReport& point) {
  Json json = {{"name", name_or_null(point.point.name)},
               {"set", values_of(point.point.overrides)},
               {"budget", point.horizon},
               {"target_accuracy", maybe(point.target_accuracy)},
               {"target_arm", name_or_null(point.target_arm)}};
  // A point without the name of its metric is of accuracies.
  if (point.metric.key() != "accuracy") json["metric"] = point.metric.key();
  return json;
}

}  // namespace

std::string study_json(const StudyReport& report) {
  const Study& study = report.study;
  Json json = {{"format", "eureka-study-1"},
               {"study", study.name},
               {"question", study.question},
               {"base", name_or_null(study.base)},
               {"baseline", study.arms[study.baseline].name},
               {"seeds", study.seeds},
               {"trials_planned", report.planned},
               {"trials_ended", report.trials.size()}};
  if (study.event != AwaitedEvent::moment)
    json["event"] = enum_names(study.event)[static_cast<std::size_t>(study.event)];
  if (!report.damaged.empty()) {
    json["trials_damaged"] = report.damaged.size();
    json["damaged"] = Json::array();
    for (const DamagedTrial& trial : report.damaged)
      json["damaged"].push_back({{"directory", trial.directory.generic_string()}, {"reason", trial.reason}});
  }
  if (study.branch)
    json["branch"] = {{"from", name_or_null(study.branch->from)},
                      {"at", study.branch->at},
                      {"only", enum_names(study.branch->only)[static_cast<std::size_t>(study.branch->only)]},
                      {"runs", report.runs_looked_at},
                      {"continued", study.seeds.size()}};
  json["points"] = Json::array();
  for (const PointReport& point : report.points) json["points"].push_back(point_json(point));
  json["arms"] = Json::array();
  const std::vector<ArmStatistic> of_arms = told_of(arm_statistics(), arms_of(report));
  for (const ArmAtPoint& arm : arms_of(report)) json["arms"].push_back(arm_json(arm, of_arms));
  json["trials"] = Json::array();
  const std::vector<TrialStatistic> of_trials = told_of(trial_statistics(), trials_of(report));
  for (const TrialInStudy& trial : trials_of(report)) json["trials"].push_back(row_json(of_trials, trial));
  return json.dump(2, Json::BadText::replace) + "\n";
}

std::string arms_csv(const StudyReport& report) {
  return csv_of(told_of(arm_statistics(), arms_of(report)), arms_of(report));
}

std::string trials_csv(const StudyReport& report) {
  return csv_of(told_of(trial_statistics(), trials_of(report)), trials_of(report));
}

}  // namespace eureka
