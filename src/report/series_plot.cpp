#include "report/series_plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "figure/scale.h"
#include "report/canvas.h"
#include "report/step_axis.h"
#include "report/table.h"

namespace eureka {
namespace {

constexpr double kDecadesForLogarithm = 2;
constexpr int kClear = 2;  // rows to the next line that are enough for a mark

class SeriesPicture {
 public:
  SeriesPicture(const std::vector<PlotSeries>& series, const SeriesPlotOptions& options)
      : series_(series),
        options_(options),
        width_(std::clamp(options.width, 8, 500)),
        rows_(std::clamp(options.height, 2, 200)) {
    measure();
    lay_out();
  }

  PlotMargins margins() const { return {label_width_, right_}; }

  std::string draw(const PlotMarks& marks) {
    const StepAxis axis(x_, columns_, marks);
    for (const PlotSeries& one : series_) {
      canvases_.emplace_back(columns_, rows_);
      trace(one, axis, canvases_.back());
    }
    for (std::size_t i = 0; i < series_.size(); ++i) place_mark(i);
    Painter paint(options_.color);
    if (!options_.title.empty() && display_width(options_.title) + label_width_ + 2 <= width_) {
      paint.add(spaces(label_width_ + 2), PlotInk::none);
      paint.add(options_.title, PlotInk::title);
      paint.end_line();
    }
    for (int row = 0; row < rows_; ++row) draw_row(axis, row, paint);
    axis.paint(label_width_ + 1, paint);
    draw_legend(paint);
    return paint.take();
  }

 private:
  static bool drawable(const PlotSeries& one, std::size_t i) { return std::abs(one.values[i]) <= kLargestPlotted; }

  static std::optional<std::size_t> last_point(const PlotSeries& one) {
    for (std::size_t i = one.values.size(); i-- > 0;)
      if (drawable(one, i)) return i;
    return std::nullopt;
  }

  void measure() {
    figure::Extent x, y;
    for (const PlotSeries& one : series_)
      for (std::size_t i = 0; i < one.steps.size(); ++i) {
        if (!drawable(one, i)) continue;
        has_points_ = true;
        x.add(one.steps[i]);
        y.add(one.values[i]);
      }
    if (!has_points_) x = {0, 1};
    x_ = {.low = std::min(x.low, usable(options_.x_min).value_or(x.low)),
          .high = std::max(x.high, usable(options_.x_max).value_or(x.high))};
    const bool is_logarithmic = options_.logarithm == SeriesPlotOptions::Logarithm::where_it_helps && y.low > 0 &&
                                std::log10(y.high / y.low) > kDecadesForLogarithm;
    y_.emplace(y, figure::Axis{.is_logarithmic = is_logarithmic}, 0, rows_ * kDotsPerRow - 1,
               std::max(2, (rows_ + 1) / 2));
  }

  int dot_of(double value) const { return rows_ * kDotsPerRow - 1 - y_->dot(value); }

  void lay_out() {
    row_labels_.assign(index(rows_), "");
    for (const auto& [at, text] : y_->ticks())
      if (const int dot = dot_of(at); dot >= 0 && dot < rows_ * kDotsPerRow)
        row_labels_[index(dot / kDotsPerRow)] = text;
    for (const std::string& label : row_labels_) label_width_ = std::max(label_width_, static_cast<int>(label.size()));
    if (width_ < 2 * label_width_ + 4) {
      label_width_ = 0;
      row_labels_.assign(row_labels_.size(), "");
    }
    if (width_ >= 40) {
      label_width_ = std::max(label_width_, options_.margins.left);
      right_ = options_.margins.right;
    }
    columns_ = std::max(1, width_ - label_width_ - 2 - right_);
  }

  void trace(const PlotSeries& one, const StepAxis& axis, Canvas& canvas) const {
    std::optional<std::pair<int, int>> before;
    for (std::size_t i = 0; i < one.steps.size(); ++i) {
      if (!drawable(one, i)) continue;
      const std::pair<int, int> now{axis.dot_of(one.steps[i]), dot_of(one.values[i])};
      if (before && before->first < now.first)
        canvas.line(before->first, before->second, now.first, now.second);
      else
        canvas.vertical(now.first, before ? before->second : now.second, now.second);
      before = now;
    }
  }

  // Where the line is clear of the others, as far to the right as that can be had.
  void place_mark(std::size_t series) {
    int best = 0;
    std::pair<int, int> place;
    for (int column = 0; column < columns_; ++column)
      for (int row = 0; row < rows_; ++row) {
        if (canvases_[series].cell(column, row) == 0) continue;
        const int clearance = clearance_of(series, column, row);
        if (clearance >= best && clearance > 0) best = clearance, place = {row, column};
      }
    const int width = display_width(series_[series].mark);
    if (best == 0 || width > columns_) return;
    place.second = std::min(place.second, columns_ - width);
    marks_[place] = series;
  }

  // Rows to the next of the other lines in this column, up to kClear; 0 where they run together.
  int clearance_of(std::size_t series, int column, int row) const {
    for (int away = 0; away < kClear; ++away)
      for (std::size_t other = 0; other < canvases_.size(); ++other) {
        if (other == series) continue;
        for (const int near : {row - away, row + away})
          if (near >= 0 && near < rows_ && canvases_[other].cell(column, near) != 0) return away;
      }
    return kClear;
  }

  void draw_row(const StepAxis& axis, int row, Painter& paint) const {
    const std::string& label = row_labels_[index(row)];
    paint.add(fmt::format("{:>{}} ", label, label_width_), PlotInk::axis);
    paint.add(label.empty() ? "│" : "┤", PlotInk::axis);
    const std::string_view message = !has_points_ && row == rows_ / 2 ? "nothing to see yet" : "";
    for (int column = 0; column < columns_; ++column) {
      if (const auto mark = marks_.find({row, column}); mark != marks_.end()) {
        paint.add(series_[mark->second].mark, series_ink(mark->second));
        column += display_width(series_[mark->second].mark) - 1;
        continue;
      }
      std::uint8_t dots = 0;
      std::size_t owner = 0;
      for (std::size_t i = 0; i < canvases_.size(); ++i)
        if (const std::uint8_t own = canvases_[i].cell(column, row); own != 0) dots |= own, owner = i;
      if (index(column) < message.size())
        paint.add(message.substr(index(column), 1), PlotInk::axis);
      else if (dots != 0)
        paint.add(braille(dots), series_ink(owner));
      else if (axis.is_moment(column))
        paint.add("┊", PlotInk::moment);
      else
        paint.add(" ", PlotInk::none);
    }
    paint.end_line();
  }

  void draw_legend(Painter& paint) const {
    int used = 0;
    for (std::size_t i = 0; i < series_.size(); ++i) {
      const auto last = last_point(series_[i]);
      if (!last) continue;
      const std::string text = fmt::format("{} {}: {:.3g}", series_[i].mark, series_[i].name, series_[i].values[*last]);
      const int margin = width_ < 40 ? 0 : label_width_ + 2;
      if (used > 0 && used + 3 + display_width(text) > width_) {
        paint.end_line();
        used = 0;
      }
      const int gap = used == 0 ? margin : 3;
      if (gap + display_width(text) > width_) continue;
      paint.add(spaces(gap), PlotInk::none);
      paint.add(text, series_ink(i));
      used += gap + display_width(text);
    }
    if (used > 0) paint.end_line();
  }

  const std::vector<PlotSeries>& series_;
  const SeriesPlotOptions& options_;
  int width_, rows_;
  int columns_ = 1, label_width_ = 0, right_ = 0;
  bool has_points_ = false;
  figure::Axis x_;
  std::optional<figure::Scale> y_;
  std::vector<std::string> row_labels_;
  std::vector<Canvas> canvases_;                      // of each line
  std::map<std::pair<int, int>, std::size_t> marks_;  // by row and column
};

}  // namespace

std::string plot_series(const std::vector<PlotSeries>& series, const PlotMarks& marks,
                        const SeriesPlotOptions& options) {
  return SeriesPicture(series, options).draw(marks);
}

PlotMargins series_margins(const std::vector<PlotSeries>& series, const SeriesPlotOptions& options) {
  return SeriesPicture(series, options).margins();
}

}  // namespace eureka
