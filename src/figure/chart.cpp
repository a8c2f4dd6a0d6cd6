#include "figure/chart.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "figure/heading.h"
#include "figure/letters.h"
#include "figure/panel_painter.h"
#include "figure/scale.h"

namespace eureka::figure {
namespace {

constexpr double kGapBetween = 14, kRowHeight = 15;

std::vector<LegendEntry> legend_of(const Chart& chart) {
  std::vector<LegendEntry> entries;
  const auto add = [&](LegendEntry entry) {
    const bool is_known =
        std::any_of(entries.begin(), entries.end(), [&](const auto& e) { return e.name == entry.name; });
    if (!entry.name.empty() && !is_known) entries.push_back(std::move(entry));
  };
  for (const Panel& panel : chart.panels) {
    for (const Series& series : panel.series) add({series.name, series.tone});
    for (const Dots& dots : panel.dots) add({dots.name, {.color = dots.color}, dots.shape});
  }
  for (const Panel& panel : chart.panels)
    for (const ReferenceLine& line : panel.lines) add({line.name, line.tone});
  return entries;
}

struct Extents {
  Extent x, y;
};

Extents extents_of(const Panel& panel) {
  Extents all;
  // What lies outside of a given stretch of x does not stretch y.
  const auto is_in = [&](double x) {
    return x >= panel.x.low.value_or(-kLargestPlotted) && x <= panel.x.high.value_or(kLargestPlotted);
  };
  const auto add = [&](double x, double y) {
    if (!std::isfinite(y) || !std::isfinite(x)) return;
    all.x.add(x);
    if (is_in(x)) all.y.add(y);
  };
  for (const Series& series : panel.series) {
    for (const Point& point : series.points) add(point.x, point.y);
    for (const BandPoint& point : series.band) add(point.x, point.low), add(point.x, point.high);
  }
  for (const Dots& dots : panel.dots)
    for (const Point& point : dots.points) add(point.x, point.y);
  for (const RestingSpan& rest : panel.rests) all.y.add(rest.level);
  for (const ReferenceLine& line : panel.lines)
    if (!line.is_vertical) all.y.add(line.at);
  return all;
}

class ChartLayout {
 public:
  ChartLayout(const Chart& chart, Titled titled) : chart_(chart) {
    EUREKA_CHECK(!chart.panels.empty(), "a chart has a panel");
    drawing_.width = chart.width;
    drawing_.title = chart.title;
    columns_ = std::clamp(chart.columns, 1, static_cast<int>(chart.panels.size()));
    measure();
    const double top = add_legend(drawing_, legend_of(chart), left_margin(), add_title(drawing_, titled));
    place_panels(top);
  }

  Drawing take() { return std::move(drawing_); }

 private:
  void measure() {
    Extents shared;
    for (const Panel& panel : chart_.panels) {
      extents_.push_back(extents_of(panel));
      shared.x.add(extents_.back().x), shared.y.add(extents_.back().y);
    }
    for (Extents& own : extents_) {
      if (chart_.shares_x) own.x = shared.x;
      if (chart_.shares_y) own.y = shared.y;
    }
    const int most = std::max(3, static_cast<int>(chart_.panel_height / 38));
    for (std::size_t i = 0; i < chart_.panels.size(); ++i) {
      y_scales_.emplace_back(extents_[i].y, chart_.panels[i].y, 0, 1, most);
      for (const Tick& tick : y_scales_[i].ticks())
        tick_width_ = std::max(tick_width_, text_width(tick.label, kTickSize));
      for (const NumberRow& row : chart_.panels[i].rows)
        row_name_width_ = std::max(row_name_width_, std::min(120.0, text_width(row.name, kTickSize)));
      rows_ = std::max(rows_, chart_.panels[i].rows.size());
      has_titles_ |= !chart_.panels[i].title.empty();
      const std::size_t lines = label_lines(chart_.panels[i].y.label, chart_.panel_height + kLabelReach).size();
      if (lines > 0) y_label_room_ = std::max(y_label_room_, 4 + kLabelLine * static_cast<double>(lines));
    }
  }

  // Curves end where they end, not at the next round number; dots keep their distance from the edge.
  Axis x_axis(std::size_t panel) const {
    Axis axis = chart_.panels[panel].x;
    if (!axis.high && chart_.panels[panel].dots.empty() && !extents_[panel].x.is_empty())
      axis.high = extents_[panel].x.high;
    return axis;
  }

  double left_margin() const { return std::max(tick_width_ + 12 + y_label_room_, row_name_width_ + 14); }

  void place_panels(double top) {
    const double margin = left_margin();
    const double panel_width = (drawing_.width - 12) / columns_;
    const double plot_width = std::max(40.0, panel_width - margin - kGapBetween);
    double title_room = has_titles_ ? 24 : 6;
    for (const Panel& panel : chart_.panels)
      if (label_lines(panel.title, plot_width).size() > 1) title_room = 24 + kLabelLine;
    const double rows_room = rows_ > 0 ? 18 + kRowHeight * static_cast<double>(rows_) : 0;
    const double below = 18 + 20 + rows_room + 6;
    const double height = title_room + chart_.panel_height + below;
    for (std::size_t i = 0; i < chart_.panels.size(); ++i) {
      const auto column = static_cast<int>(i) % columns_;
      const auto row = static_cast<int>(i) / columns_;
      const Frame frame{.left = column * panel_width + margin,
                        .top = top + row * height + title_room,
                        .width = plot_width,
                        .height = chart_.panel_height};
      const int most = std::max(4, static_cast<int>(plot_width / 60));
      const Scale x(extents_[i].x, x_axis(i), frame.left, frame.left + frame.width, most);
      const Scale y = y_scales_[i].moved(frame.top + frame.height, frame.top);
      PanelPainter(drawing_, chart_.panels[i], frame, x, y).paint(column == 0, margin);
    }
    for (double at = top + height; at < drawing_.frames.back().top - title_room + 1; at += height)
      drawing_.breaks.push_back(at);
    const int rows = (static_cast<int>(chart_.panels.size()) + columns_ - 1) / columns_;
    drawing_.height = std::ceil(top + rows * height + 2);
  }

  const Chart& chart_;
  Drawing drawing_;
  int columns_ = 1;
  std::vector<Extents> extents_;
  std::vector<Scale> y_scales_;
  double tick_width_ = 20, row_name_width_ = 0, y_label_room_ = 0;
  std::size_t rows_ = 0;
  bool has_titles_ = false;
};

}  // namespace

Drawing lay_out(const Chart& chart, Titled titled) { return ChartLayout(chart, titled).take(); }

}  // namespace eureka::figure
