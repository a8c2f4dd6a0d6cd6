// A figure as a list of things to draw, in the order in which they cover one another. Laid out once, painted by
// svg_painter.h, png_painter.h and pdf_painter.h.
//
//   Drawing drawing{.width = 640, .height = 400, .title = "When does it learn?"};
//   drawing.add(Polyline{{{0, 0}, {640, 400}}, {.color = series_color(1), .width = 2}});
//   drawing.add(Text{.at = {320, 20}, .text = "a line", .anchor = Anchor::middle});
//
// Lengths are in CSS pixels (96 to the inch), y downwards. Colors are told by their part in the figure, so that a page
// can be light or dark while a paper is always light.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "figure/palette.h"
#include "io/png.h"

namespace eureka::figure {

struct Point {
  double x = 0, y = 0;
};

enum class Dash { solid, dashed, dotted, dash_dotted };

struct Stroke {
  Color color;
  double width = 1;
  Dash dash = Dash::solid;
  double opacity = 1;
};

struct Polyline {
  std::vector<Point> points;
  Stroke stroke;
};

// A closed outline, filled.
struct Area {
  std::vector<Point> outline;
  Color fill;
  double opacity = 1;
};

struct Box {
  double x = 0, y = 0, width = 0, height = 0;
  Color fill;
  double opacity = 1;
};

enum class Shape { circle, square, triangle, diamond };

struct Marker {
  Point at;
  Shape shape = Shape::circle;
  double size = 6;  // across
  Color fill;
};

// A small picture made large, with hard edges.
struct Picture {
  double x = 0, y = 0, width = 0, height = 0;
  RgbImage image;
};

enum class Anchor { start, middle, end };

// One line; `at` is on its baseline.
struct Text {
  Point at;
  std::string text;
  double size = 12;
  Color color = Color::ink();
  Anchor anchor = Anchor::start;
  bool upwards = false;  // turned a quarter to the left
};

// What follows up to the end of the group belongs to one thing, say an arm: a page can address it by its name and show
// the tip when it is pointed at.
struct GroupBegin {
  std::string name;
  std::string tip;
};
struct GroupEnd {};

using Item = std::variant<Polyline, Area, Box, Marker, Picture, Text, GroupBegin, GroupEnd>;

// A plot within the drawing: where its data lie, so that a page can tell the numbers under the pointer.
struct Frame {
  double left = 0, top = 0, width = 0, height = 0;
  double x_low = 0, x_high = 1, y_low = 0, y_high = 1;
  bool x_is_logarithmic = false, y_is_logarithmic = false;
};

struct Drawing {
  double width = 0, height = 0;
  std::string title;
  std::vector<Item> items = {};
  std::vector<Frame> frames = {};
  std::vector<double> breaks = {};  // heights between rows of plots, where sheets of paper may part it

  void add(Item item) { items.push_back(std::move(item)); }
};

}  // namespace eureka::figure
