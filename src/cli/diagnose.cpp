// eureka diagnose: is the softmax the obstacle, where, and what to try. Reads records alone.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "base/output.h"
#include "base/terminal.h"
#include "cli/cli.h"
#include "report/diagnosis_advice.h"
#include "report/diagnosis_text.h"
#include "report/study_data.h"
#include "train/checkpoint.h"
#include "train/run_directory.h"
#include "train/watched_run.h"

namespace eureka::cli {
namespace {

struct DiagnoseArguments {
  std::vector<std::string> places;
  bool json = false;
};

constexpr RunReadOptions kExact{.most_points = 1 << 15};

// As show judges the run. Where its config is not understood here, by what its records tell.
Judgement judgement_of(RunData& run) {
  if (run.config.contains(kWatchedProgram) || run.config.empty()) {
    const auto plateau = run.config.find(kWatchedPlateau);
    const auto* level = plateau == run.config.end() ? nullptr : std::get_if<double>(&plateau->second.value);
    const std::optional<double> known = level != nullptr ? std::optional(*level) : std::nullopt;
    return {Metric{.plateau = known}, watched_detector_options(run.metric, known)};
  }
  try {
    const RunConfig config = read_run_config(run.directory, catalog());
    const auto task = Registry<Task>::instance().make(config.task.name, config.task.options);
    return {task->metric(), detector_options(*task, config)};
  } catch (const Error& error) {
    run.problems.push_back(fmt::format("judged by its curve alone: {}", error.what()));
    const std::optional<double> level = run.summary ? run.summary->task_plateau : std::nullopt;
    return {Metric{.plateau = level}, watched_detector_options(run.metric, level)};
  }
}

RunDiagnosis diagnosis_of(const fs::path& directory) {
  RunData run = read_run(directory, kExact);
  const Judgement judgement = judgement_of(run);
  return diagnose(run, judgement);
}

StudyDiagnosis diagnosis_of_study(const fs::path& directory) {
  const StudyData data = read_study_data(directory, catalog());
  StudyDiagnosis study{.directory = directory, .problems = data.problems};
  const std::size_t points = data.record ? std::max<std::size_t>(data.record->points.size(), 1) : 1;
  for (std::size_t point = 0; point < points; ++point) {
    std::vector<ArmDiagnosis> arms;
    for (const RunGroup& group : data.groups(point)) {
      arms.push_back({group.name, {}});
      for (const RunData* run : group.runs) arms.back().runs.push_back(diagnosis_of(run->directory));
    }
    const bool is_named = data.record && point < data.record->points.size();
    study.points.emplace_back(is_named ? data.record->points[point].name : "", std::move(arms));
  }
  return study;
}

// The first checkpoint on the plateau, so that a change has steps left to show.
std::optional<std::int64_t> branch_step(const RunDiagnosis& run) {
  if (!run.curve.plateau || !run.program.empty()) return std::nullopt;
  for (const std::int64_t step : list_checkpoints(run.directory))
    if (const auto at = static_cast<double>(step); at >= run.curve.plateau->start && at < run.curve.plateau->end)
      return step;
  return std::nullopt;
}

DiagnosisTextOptions text_options() {
  return {.width = terminal_columns(STDOUT_FILENO), .color = use_color(STDOUT_FILENO)};
}

void tell_problems(const fs::path& place, const std::vector<std::string>& problems) {
  for (const std::string& problem : problems) tell("eureka: {}: {}\n", place.string(), problem);
}

int diagnose_places(const DiagnoseArguments& arguments) {
  Json list = Json::array();
  bool is_first = true;
  for (const fs::path place : arguments.places) {
    const bool is_study = is_study_directory(place);
    if (!is_study && !is_run_directory(place))
      throw Error(ErrorKind::input, "holds neither a run nor a study", place.string(),
                  "give a directory that eureka train, eureka.watch or eureka study wrote to");
    if (!is_first && !arguments.json) print("\n");
    is_first = false;
    if (is_study) {
      const StudyDiagnosis study = diagnosis_of_study(place);
      if (arguments.json)
        list.push_back(diagnosis_json(study));
      else
        print("{}", Layout{diagnosis_text(study, text_options())});
      tell_problems(place, study.problems);
      continue;
    }
    const RunDiagnosis run = diagnosis_of(place);
    if (arguments.json) {
      Json one = diagnosis_json(run);
      one["try"] = advice_for(run, branch_step(run)).commands;
      list.push_back(std::move(one));
    } else {
      print("{}", Layout{diagnosis_text(run, branch_step(run), text_options())});
    }
    tell_problems(place, run.problems);
  }
  if (arguments.json) print("{}\n", Lines{list.dump(2, Json::BadText::replace)});
  return kOk;
}

}  // namespace

void add_diagnose(Command& program) {
  Command verb = program.add_command("diagnose", "is the softmax the obstacle, where, and what to try");
  auto arguments = std::make_shared<DiagnoseArguments>();
  verb.option("place", arguments->places, "directories of runs, also of eureka.watch, or of studies").required();
  verb.flag("--json", arguments->json, "machine-readable: a list");
  verb.runs([=] { return diagnose_places(*arguments); });
}

}  // namespace eureka::cli
