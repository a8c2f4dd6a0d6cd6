// summary.json: how a run ended. There only when it has, finished or diverged.
//
//   if (const std::optional<RunSummary> summary = read_summary("runs/a"))
//     summary->moment ? summary->moment->step : ...
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/files.h"
#include "train/records/metrics_row.h"
#include "train/records/run_status.h"

namespace eureka {

// The largest rise of the run, as the detector saw it.
struct MomentSummary {
  double step = 0;
  double plateau_level = 0;  // before
  double level_after = 0;
  double rise_start = 0;  // 10% of the way
  double rise_end = 0;    // 90%
  double score = 0;

  double rise_width() const { return rise_end - rise_start; }
};

// From where the run began to the plateau of its task: no moment.
struct FirstRiseSummary {
  double step = 0;
  double from = 0;
  double to = 0;
  double rise_start = 0;
  double rise_end = 0;
};

struct RunSummary {
  RunStatus status = RunStatus::finished;
  std::int64_t steps = 0;  // updates done
  std::int64_t seed = 0;
  std::string task;
  std::string model;
  std::string attention;
  std::int64_t parameters = 0;
  // What the run is judged by. The keys below carry its name ("final_validation_accuracy"); the name itself is written
  // only where it is another.
  std::string metric = "accuracy";
  std::optional<double> task_plateau;
  // Nothing where the last evaluation is not finite.
  std::optional<double> final_validation_metric;
  std::optional<double> final_validation_loss;
  std::optional<MomentSummary> moment;
  std::optional<double> stuck_level;         // without a moment: the level of the task's plateau the run is still on
  std::optional<double> under_way;           // without a moment: where the run ended, if in a rise off that plateau
  std::optional<MomentSummary> grokking;     // the largest rise of validation after training was solved; no moment
  std::optional<double> grokking_under_way;  // without one: where the run ended, if in such a rise
  std::optional<FirstRiseSummary> first_rise;
  std::optional<MetricsRow> diagnostics;  // what diagnostics saw last, where there were any
};

// The whole text of summary.json.
std::string to_text(const RunSummary& summary);

// Throws Error(input) at `where` that names the field which is missing or of another type.
RunSummary parse_summary(std::string_view text, const std::string& where);

// Nothing when the run has not ended. Throws Error(input) with the name of the file when it is damaged.
std::optional<RunSummary> read_summary(const fs::path& run_directory);

// The run has not ended any more, even after a power cut. Nothing when there is no summary.
void remove_summary(const fs::path& run_directory);

// Renames a summary that cannot be read to summary.json.damaged, so that a resumed run writes it again. One in a newer
// format is not damaged and stays.
void set_aside_damaged_summary(const fs::path& run_directory);

}  // namespace eureka
