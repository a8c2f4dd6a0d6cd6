#include "report/curve_plot.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "figure/scale.h"
#include "report/canvas.h"
#include "report/step_axis.h"
#include "report/table.h"

namespace eureka {
namespace {

// Where everything goes. Made once from the data and the options, then drawn line by line.
class Plot {
 public:
  Plot(const PlotCurve& curve, const PlotMarks& marks, const PlotOptions& options)
      : curve_(curve),
        marks_(marks),
        options_(options),
        width_(std::clamp(options.width, 8, 500)),
        rows_(std::clamp(options.height, 2, 200)) {
    EUREKA_CHECK(curve.steps.size() == curve.values.size(), "a curve needs a step for every value");
    measure();
    lay_out();
    axis_.emplace(x_, columns_, marks_);
    place_levels();
  }

  PlotMargins margins() const { return margins_; }

  std::string draw() {
    Canvas canvas(columns_, rows_);
    draw_curve(canvas);
    Painter paint(options_.color);
    if (!options_.title.empty() && display_width(options_.title) + label_width_ + 2 <= width_) {
      paint.add(spaces(label_width_ + 2), PlotInk::none);
      paint.add(options_.title, PlotInk::title);
      paint.end_line();
    }
    for (int row = 0; row < rows_; ++row) draw_row(canvas, row, paint);
    axis_->paint(label_width_ + 1, paint);
    draw_caption(paint);
    return paint.take();
  }

 private:
  void measure() {
    figure::Extent x, y;
    for (std::size_t i = 0; i < curve_.steps.size(); ++i) {
      if (!drawable(i)) {
        ++left_out_;
        continue;
      }
      ++points_;
      x.add(curve_.steps[i]);
      y.add(curve_.values[i]);
    }
    if (points_ == 0) x = {0, 1};
    if (points_ > 0)
      for (const PlotPlateau& plateau : marks_.plateaus) y.add(plateau.level);
    x_ = {.low = x.low, .high = std::max(x.high, usable(options_.x_max).value_or(x.high))};
    y_.emplace(y, figure::Axis{.low = options_.y_min, .high = options_.y_max}, 0, rows_ * kDotsPerRow - 1,
               std::max(2, (rows_ + 1) / 2));
  }

  bool drawable(std::size_t i) const {
    return std::abs(curve_.steps[i]) <= kLargestPlotted && std::abs(curve_.values[i]) <= kLargestPlotted;
  }

  // Labels go first when the picture is narrow: the curve needs the room.
  void lay_out() {
    row_labels_.assign(index(rows_), "");
    level_labels_.assign(index(rows_), "");
    for (const auto& [at, text] : y_->ticks())
      if (const int row = row_of(at); row >= 0 && row < rows_) row_labels_[index(row)] = text;
    for (const PlotPlateau& plateau : marks_.plateaus)
      if (const int row = row_of(plateau.level); row >= 0 && row < rows_)
        level_labels_[index(row)] = fmt::format(" {:.3g}", plateau.level);
    const auto widest = [](const std::vector<std::string>& labels) {
      int width = 0;
      for (const std::string& label : labels) width = std::max(width, static_cast<int>(label.size()));
      return width;
    };
    label_width_ = widest(row_labels_);
    if (width_ < 2 * label_width_ + 4) {
      label_width_ = 0;
      row_labels_.assign(row_labels_.size(), "");
    }
    int level_width = widest(level_labels_);
    if (width_ < 40) {
      level_width = 0;
      level_labels_.assign(level_labels_.size(), "");
    }
    if (width_ >= 40) {
      label_width_ = std::max(label_width_, options_.margins.left);
      level_width = std::max(level_width, options_.margins.right);
    }
    margins_ = {label_width_, level_width};
    columns_ = std::max(1, width_ - label_width_ - 2 - level_width);
  }

  void place_levels() {
    level_from_.assign(index(rows_), columns_);
    for (const PlotPlateau& plateau : marks_.plateaus)
      if (const int row = row_of(plateau.level); row >= 0 && row < rows_)
        level_from_[index(row)] = std::min(level_from_[index(row)], std::max(0, axis_->column_of(plateau.start)));
  }

  int row_of(double value) const {
    const int dot = y_->dot(value);
    return dot < 0 ? -1 : rows_ - 1 - dot / kDotsPerRow;
  }

  // The points of one column of dots are drawn as their range, so a million points cost no more lines than a thousand.
  void draw_curve(Canvas& canvas) const {
    struct Strip {
      int x, first, last, top, bottom;
    };
    std::optional<Strip> strip;
    const auto finish = [&] {
      if (strip) canvas.vertical(strip->x, strip->top, strip->bottom);
    };
    for (std::size_t i = 0; i < curve_.steps.size(); ++i) {
      if (!drawable(i)) {
        finish();
        strip.reset();
        continue;
      }
      const int x = axis_->dot_of(curve_.steps[i]);
      const int y = canvas.height_dots() - 1 - y_->dot(curve_.values[i]);
      if (strip && strip->x == x) {
        strip->last = y;
        strip->top = std::min(strip->top, y);
        strip->bottom = std::max(strip->bottom, y);
        continue;
      }
      finish();
      if (strip) canvas.line(strip->x, strip->last, x, y);
      strip = Strip{x, y, y, y, y};
    }
    finish();
  }

  void draw_row(const Canvas& canvas, int row, Painter& paint) const {
    const std::string& label = row_labels_[index(row)];
    paint.add(fmt::format("{:>{}} ", label, label_width_), PlotInk::axis);
    paint.add(label.empty() ? "│" : "┤", PlotInk::axis);
    const std::string& level = level_labels_[index(row)];
    const std::string_view message = points_ == 0 && row == rows_ / 2 ? "no points yet" : "";
    for (int column = 0; column < columns_; ++column) {
      if (index(column) < message.size())
        paint.add(message.substr(index(column), 1), PlotInk::axis);
      else if (canvas.cell(column, row) != 0)
        paint.add(points_ == 1 ? "•" : braille(canvas.cell(column, row)), PlotInk::curve);
      else if (axis_->is_moment(column))
        paint.add("┊", PlotInk::moment);
      else if (column >= level_from_[index(row)])
        paint.add("╌", PlotInk::plateau);
      else
        paint.add(" ", PlotInk::none);
    }
    paint.add(level, PlotInk::plateau);
    paint.end_line();
  }

  struct Remark {
    std::string text;
    PlotInk ink;
  };

  std::vector<Remark> remarks() const {
    constexpr std::size_t kNamed = 3;
    std::vector<Remark> all;
    const auto rest = [](std::size_t count) {
      return count > kNamed ? fmt::format(" and {} more", count - kNamed) : "";
    };
    std::vector<std::string> names;
    for (std::size_t i = 0; i < std::min(kNamed, marks_.plateaus.size()); ++i) {
      const PlotPlateau& plateau = marks_.plateaus[i];
      const bool last = i + 1 == std::min(kNamed, marks_.plateaus.size());
      all.push_back({fmt::format("━ plateau at {:.3g}, steps {} to {}{}", plateau.level, step_text(plateau.start),
                                 step_text(plateau.end), last ? rest(marks_.plateaus.size()) : ""),
                     PlotInk::plateau});
    }
    for (std::size_t i = 0; i < std::min(kNamed, marks_.moments.size()); ++i)
      names.push_back(step_text(marks_.moments[i].step));
    if (!names.empty())
      all.push_back({fmt::format("▲ {} {}{}", names.size() > 1 ? "moments at steps" : "moment at step",
                                 fmt::join(names, ", "), rest(marks_.moments.size())),
                     PlotInk::moment});
    for (std::size_t i = 0; i < std::min(kNamed, marks_.rises.size()); ++i)
      all.push_back({fmt::format("△ {} at step {:.0f}", marks_.rises[i].what, marks_.rises[i].step), PlotInk::axis});
    if (left_out_ > 0)
      all.push_back({fmt::format("{} point{} not finite", left_out_, left_out_ == 1 ? " is" : "s are"), PlotInk::axis});
    return all;
  }

  // Side by side while they fit, else below one another; one too wide for any line is left out.
  void draw_caption(Painter& paint) const {
    int used = 0;
    for (const Remark& remark : remarks()) {
      const int margin = width_ < 40 ? 0 : label_width_ + 2;
      const int size = display_width(remark.text);
      if (margin + size > width_) continue;
      if (used > 0 && used + 3 + size > width_) {
        paint.end_line();
        used = 0;
      }
      const int space = used == 0 ? margin : 3;
      paint.add(spaces(space), PlotInk::none);
      paint.add(remark.text, remark.ink);
      used += space + size;
    }
    if (used > 0) paint.end_line();
  }

  const PlotCurve& curve_;
  const PlotMarks& marks_;
  const PlotOptions& options_;
  int width_, rows_;
  int columns_ = 1, label_width_ = 0;
  PlotMargins margins_;
  std::size_t points_ = 0, left_out_ = 0;
  figure::Axis x_;
  std::optional<figure::Scale> y_;
  std::optional<StepAxis> axis_;
  std::vector<std::string> row_labels_, level_labels_;  // left and right of each row
  std::vector<int> level_from_;                         // first column of a plateau's level in each row
};

}  // namespace

std::string plot_curve(const PlotCurve& curve, const PlotMarks& marks, const PlotOptions& options) {
  return Plot(curve, marks, options).draw();
}

PlotMargins curve_margins(const PlotCurve& curve, const PlotMarks& marks, const PlotOptions& options) {
  return Plot(curve, marks, options).margins();
}

}  // namespace eureka
