// A study for showing: what it found, and the curves of its runs, whatever is missing.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lab/study_record.h"
#include "report/run_data.h"
#include "report/run_group.h"

namespace eureka {

struct StudyRun {
  std::string arm;
  std::size_t point = 0;
  RunData run;
};

struct StudyData {
  fs::path directory;
  std::string name;
  std::vector<std::string> problems;
  std::optional<StudyRecord> record;  // nothing: its numbers cannot be had, its runs are shown all the same
  std::string study_toml;
  std::vector<StudyRun> runs;

  // In the study's order; arms without a run are there too.
  std::vector<RunGroup> groups(std::size_t point) const;
  std::vector<std::string> arm_names() const;
  std::size_t points() const { return record ? record->points.size() : 1; }
  std::string baseline() const;
};

bool is_study_directory(const fs::path& directory);

StudyData read_study_data(const fs::path& directory, const Catalog& catalog);

}  // namespace eureka
