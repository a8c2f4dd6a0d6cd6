// study.json, read back: what a study found, whoever ran it and wherever its directory lies now.
//
//   StudyRecord record = read_study_record("runs/demo/cures", catalog);
//   record.arms[0].number("speedup")
//
// The keys are those of docs/study-json.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/files.h"
#include "io/json.h"
#include "lab/study_report.h"
#include "stats/intervals.h"
#include "train/catalog.h"

namespace eureka {

struct RecordedPoint {
  std::string name;  // empty in a study without axes
  std::vector<std::pair<std::string, std::string>> settings;
  double budget = 0;
  std::optional<double> target;
  std::string target_arm;
  std::string metric = "accuracy";
};

struct RecordedSurvival {
  double step = 0, share = 1, low = 1, high = 1;
};

// One arm at one point.
struct RecordedArm {
  std::string name;
  std::size_t point = 0;
  std::vector<RecordedSurvival> survival;
  std::string verdict_kind, verdict, causal_verdict;
  Json values;  // every statistic, by its key

  std::optional<double> number(std::string_view key) const;
  OpenInterval interval(std::string_view key) const;
};

struct RecordedTrial {
  std::string arm;
  std::size_t point = 0;
  std::int64_t seed = 0;
  std::string status;
  double steps = 0;
  std::optional<double> moment, steps_to_target, final_value;
  fs::path directory;  // below that of the study
};

struct StudyRecord {
  std::string name, question, base, baseline;
  std::size_t planned = 0;
  bool awaits_target = false;    // else the moment
  std::optional<double> origin;  // in a study that branches: the step the runs were taken up at
  std::vector<std::string> arm_names;
  std::vector<RecordedPoint> points;
  std::vector<RecordedArm> arms;  // point by point
  std::vector<RecordedTrial> trials;
  std::vector<std::pair<std::string, std::string>> damaged;  // directory and reason
  std::string note;                                          // how it came about, if not from study.json as it is
  Json whole;                                                // with everything else that study.json has

  const RecordedArm* find(std::string_view arm, std::size_t point) const;
  // When the event of a trial came, from where its time counts; nothing if it never did.
  std::optional<double> event_of(const RecordedTrial& trial) const;
};

// Throws Error(input) at `where`, NewerFormat for one of a later eureka.
StudyRecord parse_study_record(std::string_view text, const std::string& where);

// From study.json; where there is none yet, or the study has grown since, worked out from the trials that have ended.
// Throws Error when neither can be had.
StudyRecord read_study_record(const fs::path& directory, const Catalog& catalog);

// The same as run_study ended with, worked out again from the trials in the directory; of those that have ended, where
// some have not. Throws Error when there is no study.
StudyReport read_study_report(const fs::path& directory, const Catalog& catalog);

}  // namespace eureka
