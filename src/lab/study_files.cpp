// study.json, arms.csv and trials.csv: docs/study-json.md says what is in them.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "lab/study_report.h"

namespace eureka {
namespace {

using Json = nlohmann::ordered_json;

template <class T>
Json maybe(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json pair_of(const Interval& interval) { return {interval.low, interval.high}; }
Json pair_of(const OpenInterval& interval) { return {maybe(interval.low), maybe(interval.high)}; }
Json pair_of(const std::optional<Interval>& interval) { return interval ? pair_of(*interval) : Json(nullptr); }

const char* name_of(HazardLimit limit) {
  return limit == HazardLimit::none ? "none" : limit == HazardLimit::zero ? "zero" : "infinite";
}

const char* name_of(VerdictKind kind) {
  switch (kind) {
    case VerdictKind::baseline:
      return "baseline";
    case VerdictKind::sooner:
      return "sooner";
    case VerdictKind::later:
      return "later";
    case VerdictKind::different:
      return "different";
    case VerdictKind::alike:
      return "alike";
    case VerdictKind::inconclusive:
      return "inconclusive";
    case VerdictKind::gradual:
      return "gradual";
    case VerdictKind::too_few:
      return "too_few";
    case VerdictKind::no_moments:
      return "no_moments";
    case VerdictKind::no_trials:
      return "no_trials";
  }
  return "";
}

Json values_of(const ConfigEntries& entries) {
  Json values = Json::object();
  for (const auto& [key, entry] : entries)
    std::visit([&, &name = key](const auto& value) { values[name] = value; }, entry.value);
  return values;
}

Json paired_json(const PairedComparison& paired) {
  return {{"pairs", paired.pairs},
          {"sooner", paired.arm_sooner},
          {"later", paired.baseline_sooner},
          {"undecided", paired.undecided},
          {"sign_p", paired.sign.p},
          {"signed_rank_p", paired.signed_rank.p},
          {"signed_rank_pairs", paired.signed_rank.pairs},
          {"signed_rank_bounds", paired.censored_in_signed_rank}};
}

Json survival_json(const WaitingTime& waiting) {
  Json curve = Json::array();
  for (const SurvivalStep& step : waiting.curve)
    curve.push_back({step.time, step.survival, step.interval.low, step.interval.high});
  return curve;
}

// What the arm is by itself.
Json summary_json(const ArmSummary& arm) {
  Json json = {{"n", arm.n},
               {"moments", arm.moments},
               {"diverged", arm.diverged},
               {"rate", maybe(arm.rate)},
               {"rate_ci", pair_of(arm.rate_interval)},
               {"median", maybe(arm.moment.median)},
               {"median_ci", pair_of(arm.moment.median_interval)},
               {"rmst", maybe(arm.moment.restricted_mean)},
               {"rmst_ci", pair_of(arm.moment.restricted_mean_interval)}};
  const auto& accuracy = arm.final_accuracy;
  json["final_accuracy"] = accuracy ? Json(accuracy->median) : Json(nullptr);
  json["final_accuracy_ci"] = accuracy ? pair_of(accuracy->median_interval) : Json(nullptr);
  json["final_accuracy_mean"] = accuracy ? Json(accuracy->mean) : Json(nullptr);
  json["reached_target"] = arm.level ? Json(arm.level->events) : Json(nullptr);
  json["steps_to_target_median"] = arm.level ? maybe(arm.level->median) : Json(nullptr);
  return json;
}

// What it is against the baseline; nulls for the baseline itself.
Json comparison_json(const std::optional<ArmComparison>& against) {
  const ArmComparison comparison = against.value_or(ArmComparison{});
  const auto& hazard = comparison.hazard;
  const auto& speedup = comparison.speedup;
  const auto& level = comparison.level_speedup;
  return {{"logrank_p", maybe(comparison.log_rank_p_holm)},
          {"logrank_p_uncorrected", comparison.log_rank ? Json(comparison.log_rank->p) : Json(nullptr)},
          {"hazard_ratio", hazard ? maybe(hazard->ratio) : Json(nullptr)},
          {"hazard_ratio_ci", hazard ? pair_of(hazard->interval) : Json(nullptr)},
          {"hazard_ratio_limit", hazard ? Json(name_of(hazard->limit)) : Json(nullptr)},
          {"speedup", speedup ? Json(speedup->ratio) : Json(nullptr)},
          {"speedup_ci", speedup ? pair_of(speedup->interval) : Json(nullptr)},
          {"speedup_to_target", level ? Json(level->ratio) : Json(nullptr)},
          {"speedup_to_target_ci", level ? pair_of(level->interval) : Json(nullptr)},
          {"paired", comparison.paired ? paired_json(*comparison.paired) : Json(nullptr)}};
}

Json name_or_null(const std::string& name) { return name.empty() ? Json(nullptr) : Json(name); }

Json arm_json(const PointReport& point, const ArmResult& arm) {
  const ArmReport& report = arm.statistics;
  Json json = {{"name", report.name}, {"point", name_or_null(point.point.name)}};
  json.update(summary_json(report.summary));
  json["mean_of_moments"] = maybe(arm.mean_of_moments);
  json.update(comparison_json(report.against_baseline));
  json["verdict_kind"] = name_of(report.kind);
  json["verdict"] = report.verdict;
  if (!arm.causal_verdict.empty()) json["causal_verdict"] = arm.causal_verdict;
  json["survival"] = survival_json(report.summary.moment);
  return json;
}

Json trial_json(const StudyReport& report, std::size_t index) {
  const TrialRow& row = report.trials[index];
  return {{"arm", report.study.arms[row.arm].name},
          {"point", name_or_null(report.study.points[row.point].name)},
          {"seed", row.seed},
          {"status", status_name(row.status)},
          {"steps", row.steps},
          {"moment", maybe(row.moment)},
          {"rise_width", maybe(row.rise_width)},
          {"final_accuracy", maybe(row.final_accuracy)},
          {"steps_to_target", maybe(row.steps_to_level)},
          {"directory", report.trial_directories[index].generic_string()}};
}

Json arms_json(const StudyReport& report) {
  Json arms = Json::array();
  for (const PointReport& point : report.points)
    for (const ArmResult& arm : point.arms) arms.push_back(arm_json(point, arm));
  return arms;
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

// Objects of the same keys as rows. A pair becomes two columns, an object one for each key; curves are left out.
void flatten_into(std::vector<std::pair<std::string, std::string>>& cells, const std::string& key, const Json& value) {
  if (key == "survival") return;
  if (key.ends_with("_ci")) {
    const bool there = value.is_array();
    cells.emplace_back(key + "_low", there ? csv_cell(value[0]) : "");
    cells.emplace_back(key + "_high", there ? csv_cell(value[1]) : "");
  } else if (key == "paired") {
    const Json keys = paired_json(PairedComparison{});
    for (const auto& [inner, number] : keys.items())
      cells.emplace_back(fmt::format("paired_{}", inner), value.is_object() ? csv_cell(value.at(inner)) : "");
  } else {
    cells.emplace_back(key, csv_cell(value));
  }
}

std::string csv_of(const Json& rows) {
  std::string text;
  for (const Json& row : rows) {
    std::vector<std::pair<std::string, std::string>> cells;
    for (const auto& [key, value] : row.items())
      if (key != "causal_verdict") flatten_into(cells, key, value);
    std::string header, line;
    for (const auto& [name, cell] : cells) {
      header += fmt::format("{}{}", header.empty() ? "" : ",", name);
      line += fmt::format("{}{}", &cell == &cells.front().second ? "" : ",", cell);
    }
    if (text.empty()) text = header + "\n";
    text += line + "\n";
  }
  return text;
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
  for (const PointReport& point : report.points) {
    json["points"].push_back({{"name", name_or_null(point.point.name)},
                              {"set", values_of(point.point.overrides)},
                              {"budget", point.horizon},
                              {"target_accuracy", maybe(point.target_accuracy)},
                              {"target_arm", name_or_null(point.target_arm)}});
    // A point without the name of its metric is of accuracies.
    if (point.metric.key() != "accuracy") json["points"].back()["metric"] = point.metric.key();
  }
  json["arms"] = arms_json(report);
  json["trials"] = Json::array();
  for (std::size_t i = 0; i < report.trials.size(); ++i) json["trials"].push_back(trial_json(report, i));
  return json.dump(2) + "\n";
}

std::string arms_csv(const StudyReport& report) { return csv_of(arms_json(report)); }

std::string trials_csv(const StudyReport& report) {
  Json rows = Json::array();
  for (std::size_t i = 0; i < report.trials.size(); ++i) rows.push_back(trial_json(report, i));
  return csv_of(rows);
}

}  // namespace eureka
