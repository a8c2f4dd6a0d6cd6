#include "report/figure_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/printable.h"
#include "io/json.h"

namespace eureka {
namespace {

using figure::Axis;
using figure::Panel;
using figure::Point;
using figure::Tone;

std::string number(double value) { return std::isfinite(value) ? fmt::format("{:.6g}", value) : "null"; }

template <class List, class Text>
std::string list(const List& items, Text text) {
  std::string all = "[";
  for (const auto& item : items) {
    if (all.size() > 1) all += ',';
    all += text(item);
  }
  return all + ']';
}

const char* dash_name(figure::Dash dash) {
  switch (dash) {
    case figure::Dash::solid:
      return "solid";
    case figure::Dash::dashed:
      return "dashed";
    case figure::Dash::dotted:
      return "dotted";
    case figure::Dash::dash_dotted:
      return "dash_dotted";
  }
  return "solid";
}

const char* shape_name(figure::Shape shape) {
  switch (shape) {
    case figure::Shape::circle:
      return "circle";
    case figure::Shape::square:
      return "square";
    case figure::Shape::triangle:
      return "triangle";
    case figure::Shape::diamond:
      return "diamond";
  }
  return "circle";
}

std::string color_text(const figure::Color& color) {
  const std::string variable = css_variable(color);
  return json_text(variable.empty() ? figure::hex(figure::rgb_on_paper(color)) : variable);
}

std::string tone_text(const Tone& tone) {
  return fmt::format(R"({{"color":{},"dash":"{}","width":{},"opacity":{}}})", color_text(tone.color),
                     dash_name(tone.dash), number(tone.width), number(tone.opacity));
}

std::string axis_text(const Axis& axis) {
  std::string text = fmt::format(R"({{"label":{})", json_text(axis.label));
  if (axis.is_logarithmic) text += R"(,"log":true)";
  if (axis.is_percent) text += R"(,"percent":true)";
  if (axis.low && std::isfinite(*axis.low)) text += fmt::format(R"(,"low":{})", number(*axis.low));
  if (axis.high && std::isfinite(*axis.high)) text += fmt::format(R"(,"high":{})", number(*axis.high));
  return text + '}';
}

std::string points_text(const std::vector<Point>& points) {
  return fmt::format(R"("x":{},"y":{})", list(points, [](const Point& point) { return number(point.x); }),
                     list(points, [](const Point& point) { return number(point.y); }));
}

std::string series_text(const figure::Series& series) {
  using figure::BandPoint;
  std::string text = fmt::format(R"({{"name":{},"tone":{},{})", json_text(series.name), tone_text(series.tone),
                                 points_text(series.points));
  if (series.is_staircase) text += R"(,"stairs":true)";
  if (!series.band.empty())
    text += fmt::format(R"(,"band":{{"x":{},"low":{},"high":{}}})",
                        list(series.band, [](const BandPoint& point) { return number(point.x); }),
                        list(series.band, [](const BandPoint& point) { return number(point.low); }),
                        list(series.band, [](const BandPoint& point) { return number(point.high); }));
  return text + '}';
}

std::string dots_text(const figure::Dots& dots) {
  return fmt::format(R"({{"name":{},"color":{},"shape":"{}",{}}})", json_text(dots.name), color_text(dots.color),
                     shape_name(dots.shape), points_text(dots.points));
}

std::string line_text(const figure::ReferenceLine& line) {
  return fmt::format(R"({{"at":{},"vertical":{},"tone":{},"name":{}}})", number(line.at), line.is_vertical,
                     tone_text(line.tone), json_text(line.name));
}

std::string rest_text(const figure::RestingSpan& rest) {
  return fmt::format(R"({{"from":{},"to":{},"level":{}}})", number(rest.from), number(rest.to), number(rest.level));
}

std::string panel_text(const Panel& panel) {
  std::vector<figure::ReferenceLine> lines;
  std::copy_if(panel.lines.begin(), panel.lines.end(), std::back_inserter(lines),
               [](const figure::ReferenceLine& line) { return std::isfinite(line.at); });
  return fmt::format(R"({{"title":{},"x":{},"y":{},"curves":{},"dots":{},"lines":{},"rests":{}}})",
                     json_text(panel.title), axis_text(panel.x), axis_text(panel.y), list(panel.series, series_text),
                     list(panel.dots, dots_text), list(lines, line_text), list(panel.rests, rest_text));
}

}  // namespace

std::string json_text(const std::string& text) {
  std::string safe;
  for (const char letter : Json(printable(text)).dump(-1, Json::BadText::replace))
    safe += letter == '<' ? std::string("\\u003c") : std::string(1, letter);
  return safe;
}

std::string figure_data(const figure::Chart& chart) {
  const bool has_rows =
      std::any_of(chart.panels.begin(), chart.panels.end(), [](const Panel& panel) { return !panel.rows.empty(); });
  return fmt::format(R"({{"kind":"chart","columns":{},"height":{},"rows":{},"panels":{}}})", chart.columns,
                     number(chart.panel_height), has_rows, list(chart.panels, panel_text));
}

std::string figure_data(const figure::Forest& forest) {
  const auto end = [](const std::optional<double>& value) { return value ? number(*value) : std::string("null"); };
  return fmt::format(R"({{"kind":"forest","label":{},"even":{},"rows":{}}})", json_text(forest.label),
                     number(forest.no_difference), list(forest.rows, [&](const figure::ForestRow& row) {
                       return fmt::format(R"({{"name":{},"tone":{},"estimate":{},"low":{},"high":{},"text":{}}})",
                                          json_text(row.name), tone_text(row.tone), end(row.estimate), end(row.low),
                                          end(row.high), json_text(row.text));
                     }));
}

std::string figure_data(const figure::Heatmap& map) {
  const figure::HeatScale scale(map);
  const std::vector<double> key = {0, 0.125, 0.25, 0.375, 0.5, 0.625, 0.75, 0.875, 1};
  const auto cell = [&](const figure::HeatCell& one) {
    return fmt::format(R"({{"text":{},"fill":{},"ink":{}}})", json_text(one.text), color_text(scale.fill(one.value)),
                       color_text(scale.ink(one.value)));
  };
  return fmt::format(
      R"({{"kind":"heatmap","row_label":{},"column_label":{},"value_label":{},"rows":{},"columns":{},"cells":{},)"
      R"("key":{{"low":{},"high":{},"colors":{}}}}})",
      json_text(map.row_label), json_text(map.column_label), json_text(map.value_label), list(map.rows, json_text),
      list(map.columns, json_text),
      list(map.cells, [&](const std::vector<figure::HeatCell>& row) { return list(row, cell); }),
      scale.is_empty() ? "null" : number(scale.low()), scale.is_empty() ? "null" : number(scale.high()),
      list(key, [&](double share) { return color_text(scale.key(share)); }));
}

}  // namespace eureka
