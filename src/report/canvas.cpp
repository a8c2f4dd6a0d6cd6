#include "report/canvas.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/printable.h"

namespace eureka {
namespace {

constexpr const char* escape_of(PlotInk ink) {
  constexpr std::array kSeries = {"\x1b[36m", "\x1b[33m", "\x1b[35m", "\x1b[32m", "\x1b[31m", "\x1b[34m"};
  static_assert(kSeries.size() == kSeriesInks);
  switch (ink) {
    case PlotInk::axis:
      return "\x1b[2m";
    case PlotInk::curve:
      return "\x1b[36m";
    case PlotInk::plateau:
      return "\x1b[33m";
    case PlotInk::moment:
      return "\x1b[1;35m";
    case PlotInk::title:
      return "\x1b[1m";
    case PlotInk::none:
      return "\x1b[0m";
    default:
      return kSeries[static_cast<std::size_t>(ink) - static_cast<std::size_t>(PlotInk::first_series)];
  }
}

}  // namespace

std::string spaces(int count) { return std::string(index(count), ' '); }

PlotInk series_ink(std::size_t series) {
  return static_cast<PlotInk>(static_cast<int>(PlotInk::first_series) + static_cast<int>(series % kSeriesInks));
}

void Painter::add(std::string_view text, PlotInk ink) {
  if (color_ && ink != ink_ && text.find_first_not_of(' ') != std::string_view::npos) {
    if (ink_ != PlotInk::none) out_ += escape_of(PlotInk::none);
    if (ink != PlotInk::none) out_ += escape_of(ink);
    ink_ = ink;
  }
  out_ += printable(text);
}

void Painter::end_line() {
  out_.erase(out_.find_last_not_of(' ') + 1);
  if (ink_ != PlotInk::none) out_ += escape_of(PlotInk::none);
  ink_ = PlotInk::none;
  out_ += '\n';
}

std::string braille(std::uint8_t dots) {
  const unsigned code = 0x2800U + dots;
  return {static_cast<char>(0xE0 | (code >> 12)), static_cast<char>(0x80 | ((code >> 6) & 0x3F)),
          static_cast<char>(0x80 | (code & 0x3F))};
}

void Canvas::dot(int x, int y) {
  if (x < 0 || y < 0 || x >= width_dots() || y >= height_dots()) return;
  // Unicode numbers the dots down the left column, down the right, and then the bottom row.
  static constexpr std::array<std::array<std::uint8_t, 4>, 2> kBits = {
      {{0x01, 0x02, 0x04, 0x40}, {0x08, 0x10, 0x20, 0x80}}};
  dots_[index(y / kDotsPerRow * columns_ + x / kDotsPerColumn)] |=
      kBits[index(x % kDotsPerColumn)][index(y % kDotsPerRow)];
}

void Canvas::vertical(int x, int from, int to) {
  from = std::clamp(from, -1, height_dots());
  to = std::clamp(to, -1, height_dots());
  for (int y = std::min(from, to); y <= std::max(from, to); ++y) dot(x, y);
}

void Canvas::line(int x0, int y0, int x1, int y1) {
  const int span = std::max(1, x1 - x0);
  int before = y0;
  for (int x = x0; x <= x1; ++x) {
    const int middle = x == x1 ? y1 : y0 + static_cast<int>(std::lround((x - x0 + 0.5) * (y1 - y0) / span));
    vertical(x, before, middle);
    before = middle;
  }
}

}  // namespace eureka
