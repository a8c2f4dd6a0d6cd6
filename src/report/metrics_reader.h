// metrics.jsonl as thinned curves, line by line: ten million rows take no more memory than a thousand. Lines that are
// no rows are passed over and counted.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"
#include "figure/thinning.h"
#include "report/metrics_line.h"
#include "report/run_data.h"

namespace eureka {

class MetricsReader {
 public:
  MetricsReader(std::size_t most_points, std::vector<figure::Stretch> exact, bool only_metric)
      : most_points_(most_points), exact_(std::move(exact)), only_metric_(only_metric) {}

  // Throws Error(input) when the file cannot be opened.
  void read(const fs::path& file);

  // The column by which the run is judged; empty without rows.
  const std::string& metric() const { return metric_; }
  std::size_t rows() const { return rows_; }
  std::vector<RunCurve> take_curves();
  std::vector<std::string> problems() const;

 private:
  struct Column {
    std::string name;
    figure::ThinnedCurve curve;
    std::size_t not_finite = 0;
  };
  void take(std::string_view line, std::size_t number);
  void count_unreadable(std::size_t number, const std::string& reason);
  bool goes_on(double step);
  void add(std::string_view name, double step, double value);

  std::size_t most_points_;
  std::vector<figure::Stretch> exact_;
  bool only_metric_;
  std::string metric_;
  std::vector<Column> columns_;
  std::size_t next_column_ = 0;  // where the next name is likely to be: rows repeat their order
  double last_step_ = -1;
  MetricsLine row_;  // at hand
  std::size_t rows_ = 0, unreadable_ = 0, backwards_ = 0, first_unreadable_ = 0;
  std::string first_reason_;
  bool is_torn_ = false;
};

}  // namespace eureka
