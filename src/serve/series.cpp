#include "serve/series.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "report/metrics_line.h"

namespace eureka::serve {

std::size_t SeriesRows::take_lines(std::string_view text) {
  MetricsLine line;
  std::size_t taken = 0;
  for (std::size_t end; (end = text.find('\n', taken)) != std::string_view::npos; taken = end + 1) {
    try {
      line.parse(text.substr(taken, end - taken));
    } catch (const Error&) {
      continue;
    }
    if (line.step() <= last_step_) continue;
    last_step_ = line.step();
    if (line.step() < query_.from || line.step() > query_.to) continue;
    bool has_any = false;
    for (std::size_t i = 0; i < cells_.size(); ++i)
      if (const auto value = line.find(query_.columns[i])) {
        cells_[i].emplace_back(steps_.size(), *value);
        has_any = true;
      }
    if (has_any) steps_.push_back(line.step());
  }
  return taken;
}

Series SeriesRows::thinned() const {
  std::vector<std::size_t> rows;
  for (const auto& column : cells_) {
    figure::ThinnedCurve curve(query_.points, query_.exact);
    for (const auto& [row, value] : column) curve.add(steps_[row], value);
    for (const figure::Point& point : curve.points())
      rows.push_back(
          static_cast<std::size_t>(std::lower_bound(steps_.begin(), steps_.end(), point.x) - steps_.begin()));
  }
  std::sort(rows.begin(), rows.end());
  rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
  return of_rows(rows);
}

Series SeriesRows::only(const std::vector<double>& steps) const {
  std::vector<std::size_t> rows;
  for (std::size_t row = 0; row < steps_.size(); ++row) {
    const double step = steps_[row];
    const auto holds = [&](const figure::Stretch& s) { return s.from <= step && step <= s.to; };
    if (std::binary_search(steps.begin(), steps.end(), step) ||
        std::any_of(query_.exact.begin(), query_.exact.end(), holds))
      rows.push_back(row);
  }
  return of_rows(rows);
}

Series SeriesRows::of_rows(const std::vector<std::size_t>& rows) const {
  Series series;
  for (const std::size_t row : rows) series.steps.push_back(steps_[row]);
  for (const auto& column : cells_) {
    std::vector<double>& values = series.columns.emplace_back();
    auto cell = column.begin();
    for (const std::size_t row : rows) {
      while (cell != column.end() && cell->first < row) ++cell;
      const bool is_there = cell != column.end() && cell->first == row;
      values.push_back(is_there ? cell->second : std::numeric_limits<double>::quiet_NaN());
    }
  }
  return series;
}

Series read_series(const OpenFile& file, const SeriesQuery& query) {
  const std::string text = file.read(0, static_cast<std::size_t>(file.stamp().bytes));
  SeriesRows rows(query);
  const std::size_t offset = rows.take_lines(text);
  Series series = rows.thinned();
  series.offset = offset;
  return series;
}

}  // namespace eureka::serve
