#include "report/study_data.h"

#include <fmt/format.h>

#include <algorithm>

namespace eureka {
namespace {

constexpr std::uint64_t kMostTomlBytes = 16 << 20;
constexpr std::size_t kNamedProblems = 12;
constexpr RunReadOptions kOneOfMany{.only_metric = true, .most_points = 160};

// Without a record: every run below, its arm being the folder it lies in.
std::vector<fs::path> runs_below(const fs::path& directory, int depth) {
  std::vector<fs::path> found;
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(directory, ignored)) {
    if (!entry.is_directory(ignored)) continue;
    if (is_run_directory(entry.path()))
      found.push_back(entry.path());
    else if (depth > 1)
      for (fs::path& path : runs_below(entry.path(), depth - 1)) found.push_back(std::move(path));
  }
  std::sort(found.begin(), found.end());
  return found;
}

void read_runs(StudyData& study) {
  if (study.record) {
    for (const RecordedTrial& trial : study.record->trials)
      study.runs.push_back({trial.arm, trial.point, read_run(study.directory / trial.directory, kOneOfMany)});
    return;
  }
  for (const fs::path& path : runs_below(study.directory, 3))
    study.runs.push_back(
        {path.parent_path().lexically_relative(study.directory).string(), 0, read_run(path, kOneOfMany)});
}

void tell_problems(StudyData& study) {
  if (study.record) {
    const StudyRecord& record = *study.record;
    if (!record.note.empty()) study.problems.push_back(record.note);
    for (const auto& [directory, reason] : record.damaged)
      study.problems.push_back(fmt::format("{} is damaged and left out: {}", directory, reason));
    if (record.note.empty() && record.trials.size() + record.damaged.size() < record.planned)
      study.problems.push_back(fmt::format("{} of {} trials have ended; the others failed or are missing",
                                           record.trials.size(), record.planned));
  }
  std::size_t more = 0;
  for (const StudyRun& one : study.runs)
    for (const std::string& problem : one.run.problems) {
      if (study.problems.size() < kNamedProblems)
        study.problems.push_back(
            fmt::format("{}: {}", one.run.directory.lexically_relative(study.directory).string(), problem));
      else
        ++more;
    }
  if (more > 0) study.problems.push_back(fmt::format("and {} more such remarks about single runs", more));
  if (study.runs.empty()) study.problems.emplace_back("there is no run yet whose curve could be shown");
}

}  // namespace

std::vector<std::string> StudyData::arm_names() const {
  if (record) return record->arm_names;
  std::vector<std::string> names;
  for (const StudyRun& run : runs)
    if (std::find(names.begin(), names.end(), run.arm) == names.end()) names.push_back(run.arm);
  return names;
}

std::string StudyData::baseline() const {
  if (record) return record->baseline;
  const std::vector<std::string> names = arm_names();
  return names.empty() ? "" : names.front();
}

std::vector<RunGroup> StudyData::groups(std::size_t point) const {
  std::vector<RunGroup> groups;
  for (const std::string& arm : arm_names()) {
    RunGroup group{arm, {}};
    for (const StudyRun& run : runs)
      if (run.arm == arm && run.point == point) group.runs.push_back(&run.run);
    groups.push_back(std::move(group));
  }
  return groups;
}

bool is_study_directory(const fs::path& directory) {
  return fs::exists(directory / "study.toml") || fs::exists(directory / "study.json");
}

StudyData read_study_data(const fs::path& directory, const Catalog& catalog) {
  StudyData study;
  study.directory = directory;
  study.name = fs::absolute(directory / "").lexically_normal().parent_path().filename().string();
  try {
    study.record = read_study_record(directory, catalog);
  } catch (const Error& error) {
    study.problems.push_back(fmt::format("the statistics cannot be told: {}{}", error.what(),
                                         error.hint().empty() ? "" : fmt::format(" ({})", error.hint())));
  }
  try {
    study.study_toml = read_file(directory / "study.toml", kMostTomlBytes);
  } catch (const Error& error) {
    study.problems.push_back(fmt::format("study.toml cannot be read: {}", error.what()));
  }
  read_runs(study);
  tell_problems(study);
  return study;
}

}  // namespace eureka
