// What terminal plots are drawn with: braille dots, and text in color where color is wanted.
//
//   Canvas canvas(60, 14);                      columns and rows of letters, 2 x 4 dots each
//   canvas.line(0, 55, 119, 0);                 dots count from the upper left
//   Painter paint(use_color(STDOUT_FILENO));
//   paint.add(braille(canvas.cell(3, 0)), PlotInk::curve);
//   paint.end_line();
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace eureka {

inline constexpr int kDotsPerColumn = 2;  // of a braille cell
inline constexpr int kDotsPerRow = 4;

constexpr std::size_t index(int i) { return static_cast<std::size_t>(i); }

std::string spaces(int count);

// first_series and the five after it tell curves of one plot apart.
enum class PlotInk { none, axis, curve, plateau, moment, title, first_series };
inline constexpr int kSeriesInks = 6;
PlotInk series_ink(std::size_t series);

// Lines of colored text; spaces at their ends are cut off.
class Painter {
 public:
  explicit Painter(bool color) : color_(color) {}

  void add(std::string_view text, PlotInk ink);
  void end_line();
  std::string take() { return std::move(out_); }

 private:
  bool color_;
  PlotInk ink_ = PlotInk::none;
  std::string out_;
};

// The letter of a cell's dots.
std::string braille(std::uint8_t dots);

class Canvas {
 public:
  Canvas(int columns, int rows) : columns_(columns), rows_(rows), dots_(index(columns * rows)) {}

  int width_dots() const { return columns_ * kDotsPerColumn; }
  int height_dots() const { return rows_ * kDotsPerRow; }
  std::uint8_t cell(int column, int row) const { return dots_[index(row * columns_ + column)]; }

  // Nothing outside is drawn.
  void dot(int x, int y);
  void vertical(int x, int from, int to);

  // From one point to a later one: a vertical piece in each column of dots between.
  void line(int x0, int y0, int x1, int y1);

 private:
  int columns_, rows_;
  std::vector<std::uint8_t> dots_;
};

}  // namespace eureka
