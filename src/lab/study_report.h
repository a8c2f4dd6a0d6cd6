// What a study found, point by point: the statistics of every arm, and the trials behind them.
//
//   StudyReport report = report_study(study, trials, out);
//   atomic_write(out / "study.json", study_json(report));          docs/study-json.md says what is in it
//
// A pure function of the run directories: the same however often the study was killed on the way.
#pragma once

#include <string>
#include <vector>

#include "lab/trial_row.h"

namespace eureka {

struct ArmResult {
  ArmReport statistics;
  // Over the trials that had a moment, as papers print it: flatters an arm that often has none.
  std::optional<double> mean_of_moments;
  // With and without the change, from the very same checkpoints: only in a study that branches.
  std::string causal_verdict;
};

struct PointReport {
  StudyPoint point;
  double horizon = 0;           // the budget: times are cut there
  Metric metric;                // of the baseline's task
  std::vector<ArmResult> arms;  // in the study's order
  // The study's own; or its share of the way to the median final value of the baseline, or of the best arm where the
  // baseline never left the plateau; nothing where no arm did.
  std::optional<double> target_accuracy;
  std::string target_arm;  // empty: the study's own
};

// One whose records cannot be read. It counts for nothing.
struct DamagedTrial {
  fs::path directory;  // below the study's own
  std::string reason;
};

struct StudyReport {
  Study study;
  std::size_t planned = 0;  // trials
  std::vector<PointReport> points;
  std::vector<TrialRow> trials;             // that ended, by point, arm and seed
  std::vector<fs::path> trial_directories;  // of each of them, below the study's own
  std::vector<DamagedTrial> damaged;        // in the same order
  std::size_t runs_looked_at = 0;           // in a study that branches: those that could have been continued
};

StudyReport report_study(const Study& study, const std::vector<Trial>& trials, const fs::path& out);

std::string study_json(const StudyReport& report);
std::string arms_csv(const StudyReport& report);
std::string trials_csv(const StudyReport& report);

}  // namespace eureka
