// A run directory for showing: read to the end whatever is wrong with it, with a sentence for everything that is.
//
//   RunData run = read_run("runs/a", {});
//   run.metric_curve();                 thinned, but exact around its moment
//   run.problems;                       "summary.json is missing: the run has not ended, or was killed"
//
// Memory depends on the number of columns, not on the length of the run.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "figure/drawing.h"
#include "figure/thinning.h"
#include "io/toml.h"
#include "report/curve_plot.h"
#include "train/records/run_event.h"
#include "train/records/run_meta.h"
#include "train/records/run_summary.h"

namespace eureka {

struct RunCurve {
  std::string name;  // of the column in metrics.jsonl
  std::vector<figure::Point> points;
};

struct RunData {
  fs::path directory;
  std::string name;
  std::vector<std::string> problems;
  std::optional<RunMeta> meta;
  std::optional<RunSummary> summary;
  std::string config_text;
  ConfigEntries config;
  std::string metric;  // the column the run is judged by: "val_accuracy"
  std::vector<RunCurve> curves;
  PlotMarks marks;
  std::vector<RunEvent> events;
  std::size_t rows = 0;  // of metrics.jsonl
  bool shows_grokking = false;

  const RunCurve* find(std::string_view column) const;
  // Empty when there is none.
  const std::vector<figure::Point>& metric_curve() const;
  std::optional<double> moment() const;
};

struct RunReadOptions {
  bool only_metric = false;       // of the columns: for one of many runs
  bool with_curves = true;        // else metrics.jsonl is not opened
  std::size_t most_points = 600;  // of a curve, about
};

// Is there anything of a run?
bool is_run_directory(const fs::path& directory);

RunData read_run(const fs::path& directory, const RunReadOptions& options);

}  // namespace eureka
