// A metrics.jsonl too long to be read for every chart: read once, from then on only what was added, and kept as thinned
// curves and a list of places. Ten million rows take some megabytes.
//
//   LongMetrics metrics;
//   metrics.read_on(file);
//   metrics.answer(file, {.columns = {"val_accuracy"}, .from = 100, .to = 200});
#pragma once

#include <string>
#include <vector>

#include "report/metrics_line.h"
#include "serve/series.h"

namespace eureka::serve {

class LongMetrics {
 public:
  void read_on(const OpenFile& file);
  // Short stretches come from the file itself, with every row; the whole from the thinned curves. All values are those
  // of the file.
  Series answer(const OpenFile& file, const SeriesQuery& query) const;

  std::uint64_t rows() const { return rows_; }
  std::vector<std::string> columns() const;

 private:
  struct Block {
    double first_step = 0;
    std::uint64_t offset = 0;
  };
  struct Column {
    std::string name;
    figure::ThinnedCurve curve;
  };

  void take(std::string_view line, std::uint64_t offset);
  Column* column(std::string_view name);
  // The blocks with the steps from `from` to `to`.
  std::pair<std::size_t, std::size_t> blocks_of(double from, double to) const;
  std::uint64_t end_of(std::size_t block) const;
  std::vector<double> steps_to_show(const SeriesQuery& query) const;

  std::uint64_t inode_ = 0, offset_ = 0, rows_ = 0;
  double last_step_ = -1;
  bool skips_line_ = false;
  std::vector<Block> blocks_;
  std::vector<Column> columns_;
  std::size_t next_column_ = 0;
  MetricsLine row_;
};

}  // namespace eureka::serve
