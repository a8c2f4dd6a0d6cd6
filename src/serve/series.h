// Columns of metrics.jsonl for a chart: few enough points to draw, each a row that is there, exact around what matters.
//
//   Series series = read_series(file, {.columns = {"val_accuracy"}, .points = 400});
//   series.steps, series.columns[0]                 of one length; NaN where a row has no finite number
#pragma once

#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "figure/thinning.h"
#include "serve/served_tree.h"

namespace eureka::serve {

struct SeriesQuery {
  std::vector<std::string> columns;
  std::size_t points = 1000;  // of a curve, about
  double from = -std::numeric_limits<double>::infinity(), to = std::numeric_limits<double>::infinity();
  std::vector<figure::Stretch> exact = {};  // every point is kept there, up to as many again
};

struct Series {
  std::vector<double> steps;
  std::vector<std::vector<double>> columns;  // in the order of the query
  std::uint64_t offset = 0;                  // behind the last line that was read
};

// Rows as they come, of which only those are kept that have one of the columns and lie in the range.
class SeriesRows {
 public:
  explicit SeriesRows(const SeriesQuery& query) : query_(query), cells_(query.columns.size()) {}

  // Whole lines; those that are no rows, or go back, are passed over. Returns the bytes that were read.
  std::size_t take_lines(std::string_view text);
  Series thinned() const;
  // Those of the steps, which ascend, and all within the query's exact stretches.
  Series only(const std::vector<double>& steps) const;

 private:
  Series of_rows(const std::vector<std::size_t>& rows) const;

  const SeriesQuery& query_;
  std::vector<double> steps_;
  std::vector<std::vector<std::pair<std::size_t, double>>> cells_;  // of each column: row and value
  double last_step_ = -1;
};

// Longer files are for LongMetrics.
inline constexpr std::uint64_t kReadDirectly = 8 << 20;

// The whole file.
Series read_series(const OpenFile& file, const SeriesQuery& query);

}  // namespace eureka::serve
