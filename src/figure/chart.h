// Curves on axes, in one panel or many of a size: laid out once for every painter.
//
//   Chart chart{.title = "When does each arm learn?"};
//   chart.panels.push_back({.x = {.label = "training step"}, .y = {.label = "validation accuracy"}});
//   chart.panels[0].series.push_back({.name = "softmax", .points = {{0, 0.1}, {100, 0.55}}});
//   Drawing drawing = lay_out(chart);
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "figure/drawing.h"

namespace eureka::figure {

// How a series looks, the same in every figure it is part of.
struct Tone {
  Color color = Color::ink();
  Dash dash = Dash::solid;
  double width = 1.6;
  double opacity = 1;
};

struct BandPoint {
  double x = 0, low = 0, high = 0;
};

struct Series {
  std::string name;  // in the legend; nothing: not there
  Tone tone;
  std::vector<Point> points;         // x ascending; one that is not finite leaves a gap
  std::vector<BandPoint> band = {};  // around it; one that is not finite leaves a gap
  bool is_staircase = false;         // level between its points
};

struct Dots {
  std::string name;
  Color color;
  Shape shape = Shape::circle;
  std::vector<Point> points;
  double size = 7;
};

// A line across the panel to read by.
struct ReferenceLine {
  double at = 0;
  bool is_vertical = true;
  Tone tone;
  std::string name;
};

// A rest of the curve: shaded, with its level.
struct RestingSpan {
  double from = 0, to = 0, level = 0;
};

// Numbers below the axis, one at each of its ticks.
struct NumberRow {
  std::string name;
  Color color;
  std::function<std::string(double)> at;
};

struct Axis {
  std::string label;  // with its unit
  bool is_logarithmic = false;
  bool is_percent = false;
  std::optional<double> low = {}, high = {};  // else as far as the data go
};

struct Panel {
  std::string title = {};
  Axis x, y;
  std::vector<Series> series = {};
  std::vector<Dots> dots = {};
  std::vector<ReferenceLine> lines = {};
  std::vector<RestingSpan> rests = {};
  std::vector<NumberRow> rows = {};
  std::string rows_title = {};
};

struct Chart {
  std::string title;  // the question it answers
  std::vector<Panel> panels = {};
  int columns = 1;
  double width = 760;         // of the whole
  double panel_height = 300;  // of the plots
  bool shares_x = false, shares_y = false;
};

enum class Titled { no, yes };

// Requires: a panel. Ensures: nothing lies outside of the drawing, whatever the numbers are.
Drawing lay_out(const Chart& chart, Titled titled = Titled::yes);

}  // namespace eureka::figure
