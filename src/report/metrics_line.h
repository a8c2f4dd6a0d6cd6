// One line of metrics.jsonl, fast: rows as eureka writes them are read without building a value of them, nine tenths of
// the time of a long run; anything else is left to the reader of the record.
//
//   MetricsLine row;
//   row.parse(line);                      throws Error(input) for what is no row
//   for (const auto& [name, value] : row.numbers()) ...
#pragma once

#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "train/records/metrics_row.h"

namespace eureka {

class MetricsLine {
 public:
  // What it tells afterwards is good as long as the line, and until the next one.
  void parse(std::string_view line);

  double step() const { return step_; }
  // In the order of the line; NaN for what is not finite.
  const std::vector<std::pair<std::string_view, double>>& numbers() const { return numbers_; }
  std::optional<double> find(std::string_view name) const;

 private:
  bool parse_plain(std::string_view line);

  double step_ = -1;
  std::vector<std::pair<std::string_view, double>> numbers_;
  MetricsRow strict_;
};

}  // namespace eureka
