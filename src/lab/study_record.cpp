#include "lab/study_record.h"

#include <fmt/format.h>

#include <algorithm>

#include "lab/branch_plan.h"
#include "lab/run_study.h"
#include "lab/study_plan.h"
#include "lab/study_report.h"
#include "train/records/record.h"

namespace eureka {
namespace {

constexpr std::string_view kFormat = "eureka-study-1";
constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 30;

std::optional<double> number_in(const Json& object, std::string_view key) {
  const Json* found = object.find(key);
  return found != nullptr && found->is_number() ? std::optional(found->get<double>()) : std::nullopt;
}

std::string text_in(const Json& object, std::string_view key, const std::string& otherwise = {}) {
  const Json* found = object.find(key);
  return found != nullptr && found->is_string() ? found->get<std::string>() : otherwise;
}

const Json& list_in(const Json& object, std::string_view key) {
  static const Json none = Json::array();
  const Json* found = object.find(key);
  return found != nullptr && found->is_array() ? *found : none;
}

RecordedPoint read_point(const Json& json) {
  RecordedPoint point{.name = text_in(json, "name"), .settings = {}, .target_arm = text_in(json, "target_arm")};
  point.budget = number_in(json, "budget").value_or(0);
  point.target = number_in(json, "target_accuracy");
  point.metric = text_in(json, "metric", "accuracy");
  if (const Json* set = json.find("set"); set != nullptr && set->is_object())
    for (const auto& [key, value] : set->items())
      point.settings.emplace_back(key, value.is_string() ? value.get<std::string>() : value.dump());
  return point;
}

class RecordBuilder {
 public:
  RecordBuilder(const Json& json, const std::string& where) : json_(json), where_(where) {}

  StudyRecord build() {
    record_.name = text_in(json_, "study");
    record_.question = text_in(json_, "question");
    record_.base = text_in(json_, "base");
    record_.baseline = text_in(json_, "baseline");
    record_.planned = static_cast<std::size_t>(std::max(0.0, number_in(json_, "trials_planned").value_or(0)));
    record_.awaits_target = text_in(json_, "event") == "target";
    if (const Json* branch = json_.find("branch"); branch != nullptr && branch->is_object())
      record_.origin = number_in(*branch, "at");
    for (const Json& point : list_in(json_, "points")) record_.points.push_back(read_point(point));
    if (record_.points.empty()) refuse("it has no points");
    for (const Json& arm : list_in(json_, "arms")) add_arm(arm);
    if (record_.arms.empty()) refuse("it has no arms");
    for (const Json& trial : list_in(json_, "trials")) add_trial(trial);
    for (const Json& trial : list_in(json_, "damaged"))
      record_.damaged.emplace_back(text_in(trial, "directory"), text_in(trial, "reason"));
    return std::move(record_);
  }

 private:
  [[noreturn]] void refuse(const std::string& what) const {
    throw Error(ErrorKind::input, "not what a study found: " + what, where_, "eureka study --resume writes it anew");
  }

  std::size_t point_of(const Json& json) const {
    const std::string name = text_in(json, "point");
    for (std::size_t i = 0; i < record_.points.size(); ++i)
      if (record_.points[i].name == name) return i;
    refuse(fmt::format("there is no point '{}'", name));
  }

  void add_arm(const Json& json) {
    RecordedArm arm{.name = text_in(json, "name"), .point = point_of(json), .values = json};
    arm.verdict_kind = text_in(json, "verdict_kind");
    arm.verdict = text_in(json, "verdict");
    arm.causal_verdict = text_in(json, "causal_verdict");
    for (const Json& step : list_in(json, "survival")) {
      if (!step.is_array() || step.size() != 4) refuse("a step of a survival curve is not four numbers");
      const auto value = [&](std::size_t i, double otherwise) {
        return step[i].is_number() ? step[i].get<double>() : otherwise;
      };
      arm.survival.push_back({value(0, 0), value(1, 1), value(2, 0), value(3, 1)});
    }
    const auto& names = record_.arm_names;
    if (std::find(names.begin(), names.end(), arm.name) == names.end()) record_.arm_names.push_back(arm.name);
    record_.arms.push_back(std::move(arm));
  }

  void add_trial(const Json& json) {
    RecordedTrial trial{.arm = text_in(json, "arm"), .point = point_of(json), .status = text_in(json, "status")};
    trial.seed = static_cast<std::int64_t>(number_in(json, "seed").value_or(0));
    trial.steps = number_in(json, "steps").value_or(0);
    trial.moment = number_in(json, "moment");
    trial.steps_to_target = number_in(json, "steps_to_target");
    trial.final_value = number_in(json, "final_accuracy");
    trial.directory = text_in(json, "directory");
    // A file from elsewhere must not lead out of the study.
    const fs::path inside = trial.directory.lexically_normal();
    if (inside.is_absolute() || (!inside.empty() && *inside.begin() == ".."))
      refuse(fmt::format("'{}' lies outside of the study", trial.directory.string()));
    record_.trials.push_back(std::move(trial));
  }

  const Json& json_;
  const std::string& where_;
  StudyRecord record_;
};

std::vector<Trial> plan_of(const Study& study, const Catalog& catalog, const fs::path& directory) {
  if (!study.branch) return plan_trials(study, catalog, directory);
  const std::vector<Trial> parents = plan_parents(study, catalog, directory);
  return plan_continuations(study, choose_runs(study, catalog, parents), catalog, directory);
}

StudyRecord worked_out(const Study& study, const Catalog& catalog, const fs::path& directory) {
  const std::vector<Trial> trials = plan_of(study, catalog, directory);
  StudyRecord record = parse_study_record(study_json(report_study(study, trials, directory)), directory.string());
  record.note =
      fmt::format("{} of {} trials have ended: the numbers are of these", record.trials.size(), record.planned);
  return record;
}

bool has_grown(const Study& study, const StudyRecord& record) {
  return !study.branch && study.arms.size() * study.points.size() * study.seeds.size() != record.planned;
}

}  // namespace

StudyReport read_study_report(const fs::path& directory, const Catalog& catalog) {
  const Study study = read_study_directory(directory);
  if (!study.branch) return report_study(study, plan_trials(study, catalog, directory), directory);
  const ContinuedRuns runs = choose_runs(study, catalog, plan_parents(study, catalog, directory));
  Study continued = study;
  continued.seeds.clear();
  for (const ContinuedRun& run : runs.chosen) continued.seeds.push_back(run.seed);
  StudyReport report = report_study(continued, plan_continuations(study, runs, catalog, directory), directory);
  report.runs_looked_at = runs.looked_at;
  return report;
}

std::optional<double> RecordedArm::number(std::string_view key) const { return number_in(values, key); }

OpenInterval RecordedArm::interval(std::string_view key) const {
  const Json& ends = list_in(values, std::string(key) + "_ci");
  if (ends.size() != 2) return {};
  const auto end = [&](std::size_t i) {
    return ends[i].is_number() ? std::optional(ends[i].get<double>()) : std::nullopt;
  };
  return {end(0), end(1)};
}

const RecordedArm* StudyRecord::find(std::string_view arm, std::size_t point) const {
  const auto found =
      std::find_if(arms.begin(), arms.end(), [&](const RecordedArm& a) { return a.name == arm && a.point == point; });
  return found == arms.end() ? nullptr : &*found;
}

std::optional<double> StudyRecord::event_of(const RecordedTrial& trial) const {
  const std::optional<double>& event = awaits_target ? trial.steps_to_target : trial.moment;
  return event ? std::optional(*event - origin.value_or(0)) : std::nullopt;
}

StudyRecord parse_study_record(std::string_view text, const std::string& where) {
  const std::optional<Json> json = Json::parse_if_valid(text);
  if (!json || !json->is_object())
    throw Error(ErrorKind::input, "not what a study found: no JSON object", where,
                "eureka study --resume writes it anew");
  if (const std::string format = text_in(*json, "format"); format != kFormat)
    throw NewerFormat(ErrorKind::input,
                      fmt::format("has the format '{}'; eureka {} reads '{}'", format, EUREKA_VERSION, kFormat), where,
                      "a later eureka wrote it: use that one");
  StudyRecord record = RecordBuilder(*json, where).build();
  record.whole = *json;
  return record;
}

StudyRecord read_study_record(const fs::path& directory, const Catalog& catalog) {
  const fs::path file = directory / "study.json";
  if (!fs::exists(file)) return worked_out(read_study_directory(directory), catalog, directory);
  std::string reason;
  try {
    StudyRecord record = parse_study_record(read_file(file, kMostBytes), file.string());
    try {
      const Study study = read_study_directory(directory);
      return has_grown(study, record) ? worked_out(study, catalog, directory) : record;
    } catch (const Error& error) {
      record.note = fmt::format("study.json as it is; what has changed since cannot be told: {}", error.what());
      return record;
    }
  } catch (const NewerFormat&) {
    throw;
  } catch (const Error& error) {
    reason = error.what();
  }
  try {
    StudyRecord record = worked_out(read_study_directory(directory), catalog, directory);
    record.note = fmt::format("study.json cannot be read ({}); {}", reason, record.note);
    return record;
  } catch (const Error& error) {
    throw Error(ErrorKind::input,
                fmt::format("study.json cannot be read ({}), nor the trials: {}", reason, error.what()), file.string());
  }
}

}  // namespace eureka
