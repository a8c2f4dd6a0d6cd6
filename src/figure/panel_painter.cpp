#include "figure/panel_painter.h"

#include <algorithm>
#include <cmath>

#include "figure/clip.h"
#include "figure/heading.h"
#include "figure/letters.h"

namespace eureka::figure {
namespace {

constexpr double kLegibleGap = 8;  // between two labels of an axis

std::vector<Point> as_staircase(const std::vector<Point>& points) {
  std::vector<Point> stairs;
  for (const Point& point : points) {
    if (!stairs.empty()) stairs.push_back({point.x, stairs.back().y});
    stairs.push_back(point);
  }
  return stairs;
}

bool is_finite(const BandPoint& point) {
  return std::isfinite(point.x) && std::isfinite(point.low) && std::isfinite(point.high);
}

}  // namespace

std::vector<std::string> label_lines(const std::string& text, double width) {
  if (text.empty()) return {};
  std::vector<std::string> lines = wrapped_lines(text, kLabelSize, width);
  for (std::size_t i = 2; i < lines.size(); ++i) lines[1] += " " + lines[i];
  lines.resize(std::min<std::size_t>(2, lines.size()));
  for (std::string& line : lines) line = fitted(line, kLabelSize, width);
  return lines;
}

void PanelPainter::paint(bool is_first_column, double margin) {
  grid();
  rests();
  for (const Series& one : panel_.series) band(one);
  lines();
  for (const Series& one : panel_.series) series(one);
  for (const Dots& one : panel_.dots) dots(one);
  labels(is_first_column, margin);
  rows(margin);
  drawing_.frames.push_back({frame_.left, frame_.top, frame_.width, frame_.height, x_.low(), x_.high(), y_.low(),
                             y_.high(), x_.is_logarithmic(), y_.is_logarithmic()});
}

void PanelPainter::grid() {
  for (const Tick& tick : y_.ticks()) {
    const double y = y_.place(tick.at);
    drawing_.add(Polyline{{{frame_.left, y}, {frame_.left + frame_.width, y}}, {Color::grid(), 1}});
  }
  drawing_.add(Polyline{{{frame_.left, bottom()}, {frame_.left + frame_.width, bottom()}}, {Color::muted(), 1}});
}

void PanelPainter::rests() {
  for (const RestingSpan& rest : panel_.rests) {
    const double from = std::clamp(x_.place(rest.from), frame_.left, frame_.left + frame_.width);
    const double to = std::clamp(x_.place(rest.to), frame_.left, frame_.left + frame_.width);
    if (to <= from) continue;
    drawing_.add(Box{from, frame_.top, to - from, frame_.height, Color::plateau(), 0.13});
    if (y_.holds(rest.level))
      drawing_.add(
          Polyline{{{from, y_.place(rest.level)}, {to, y_.place(rest.level)}}, {Color::plateau(), 1.5, Dash::dashed}});
  }
}

void PanelPainter::lines() {
  for (const ReferenceLine& line : panel_.lines) {
    const Scale& scale = line.is_vertical ? x_ : y_;
    if (!std::isfinite(line.at) || !scale.holds(line.at)) continue;
    const double at = scale.place(line.at);
    const Point from = line.is_vertical ? Point{at, frame_.top} : Point{frame_.left, at};
    const Point to = line.is_vertical ? Point{at, bottom()} : Point{frame_.left + frame_.width, at};
    drawing_.add(Polyline{{from, to}, {line.tone.color, line.tone.width, line.tone.dash, line.tone.opacity}});
  }
}

void PanelPainter::band(const Series& series) {
  std::vector<Point> upper, lower;
  const auto inside = [&](double y) { return std::clamp(y, frame_.top, bottom()); };
  const auto flush = [&] {
    if (series.is_staircase) upper = as_staircase(upper), lower = as_staircase(lower);
    upper.insert(upper.end(), lower.rbegin(), lower.rend());
    drawing_.add(Area{std::move(upper), series.tone.color, 0.16});
    upper.clear(), lower.clear();
  };
  for (const BandPoint& point : series.band) {
    if (!is_finite(point) || !x_.holds(point.x)) {
      flush();
      continue;
    }
    upper.push_back({x_.place(point.x), inside(y_.place(point.high))});
    lower.push_back({x_.place(point.x), inside(y_.place(point.low))});
  }
  flush();
}

void PanelPainter::series(const Series& series) {
  std::vector<Point> line;
  for (const Point& point : series.is_staircase ? as_staircase(series.points) : series.points)
    line.push_back(place(point));
  if (!series.name.empty()) drawing_.add(GroupBegin{series.name, series.name});
  for (std::vector<Point>& piece : clipped(line, frame_))
    drawing_.add(
        Polyline{std::move(piece), {series.tone.color, series.tone.width, series.tone.dash, series.tone.opacity}});
  // A line of one point would not be seen.
  if (line.size() == 1 && x_.holds(series.points[0].x) && y_.holds(series.points[0].y))
    drawing_.add(Marker{line[0], Shape::circle, 5, series.tone.color});
  if (!series.name.empty()) drawing_.add(GroupEnd{});
}

void PanelPainter::dots(const Dots& dots) {
  for (const Point& point : dots.points)
    if (x_.holds(point.x) && y_.holds(point.y)) drawing_.add(Marker{place(point), dots.shape, dots.size, dots.color});
}

void PanelPainter::labels(bool is_first_column, double margin) {
  const std::vector<std::string> title = label_lines(panel_.title, frame_.width);
  for (std::size_t i = 0; i < title.size(); ++i)
    drawing_.add(Text{.at = {frame_.left, frame_.top - 9 - kLabelLine * static_cast<double>(title.size() - 1 - i)},
                      .text = title[i],
                      .size = kLabelSize});
  for (const Tick& tick : y_.ticks())
    drawing_.add(Text{.at = {frame_.left - 7, y_.place(tick.at) + 4},
                      .text = tick.label,
                      .size = kTickSize,
                      .color = Color::muted(),
                      .anchor = Anchor::end});
  double free_from = -1e9;
  for (const Tick& tick : x_.ticks()) {
    const double x = x_.place(tick.at), half = text_width(tick.label, kTickSize) / 2;
    drawing_.add(Polyline{{{x, bottom()}, {x, bottom() + 4}}, {Color::muted(), 1}});
    if (x - half < free_from) continue;
    free_from = x + half + kLegibleGap;
    drawing_.add(Text{.at = {x, bottom() + 16},
                      .text = tick.label,
                      .size = kTickSize,
                      .color = Color::muted(),
                      .anchor = Anchor::middle});
  }
  drawing_.add(Text{.at = {frame_.left + frame_.width / 2, bottom() + 33},
                    .text = fitted(panel_.x.label, kLabelSize, frame_.width),
                    .size = kLabelSize,
                    .color = Color::muted(),
                    .anchor = Anchor::middle});
  if (!is_first_column) return;
  double x = frame_.left - margin + 16;
  for (const std::string& line : label_lines(panel_.y.label, frame_.height + kLabelReach)) {
    drawing_.add(Text{.at = {x, frame_.top + frame_.height / 2},
                      .text = line,
                      .size = kLabelSize,
                      .color = Color::muted(),
                      .anchor = Anchor::middle,
                      .upwards = true});
    x += kLabelLine;
  }
}

void PanelPainter::rows(double margin) {
  if (panel_.rows.empty()) return;
  double y = bottom() + 51;
  drawing_.add(Text{.at = {frame_.left, y},
                    .text = fitted(panel_.rows_title, kTickSize, frame_.width),
                    .size = kTickSize,
                    .color = Color::muted()});
  for (const NumberRow& row : panel_.rows) {
    y += 15;
    drawing_.add(Text{.at = {frame_.left - 10, y},
                      .text = fitted(row.name, kTickSize, margin - 12),
                      .size = kTickSize,
                      .color = row.color,
                      .anchor = Anchor::end});
    double free_from = -1e9;
    for (const Tick& tick : x_.ticks()) {
      const std::string text = row.at(tick.at);
      const double x = x_.place(tick.at), half = text_width(text, kTickSize) / 2;
      if (x - half < free_from) continue;
      free_from = x + half + kLegibleGap;
      drawing_.add(Text{.at = {x, y}, .text = text, .size = kTickSize, .color = row.color, .anchor = Anchor::middle});
    }
  }
}

}  // namespace eureka::figure
