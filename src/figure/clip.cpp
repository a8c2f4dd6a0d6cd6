#include "figure/clip.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

namespace eureka::figure {
namespace {

// After Liang and Barsky.
std::optional<std::pair<Point, Point>> clipped_segment(const Point& a, const Point& b, const Frame& frame) {
  const double dx = b.x - a.x, dy = b.y - a.y;
  double enter = 0, leave = 1;
  const auto cut = [&](double direction, double room) {
    if (direction == 0) return room >= 0;
    const double share = room / direction;
    if (direction < 0)
      enter = std::max(enter, share);
    else
      leave = std::min(leave, share);
    return enter <= leave;
  };
  if (!cut(-dx, a.x - frame.left) || !cut(dx, frame.left + frame.width - a.x) || !cut(-dy, a.y - frame.top) ||
      !cut(dy, frame.top + frame.height - a.y))
    return std::nullopt;
  return std::pair(Point{a.x + enter * dx, a.y + enter * dy}, Point{a.x + leave * dx, a.y + leave * dy});
}

bool is_finite(const Point& point) { return std::isfinite(point.x) && std::isfinite(point.y); }

}  // namespace

std::vector<std::vector<Point>> clipped(const std::vector<Point>& line, const Frame& frame) {
  std::vector<std::vector<Point>> pieces;
  bool is_open = false;
  for (std::size_t i = 1; i < line.size(); ++i) {
    const auto segment =
        is_finite(line[i - 1]) && is_finite(line[i]) ? clipped_segment(line[i - 1], line[i], frame) : std::nullopt;
    if (!segment) {
      is_open = false;
      continue;
    }
    const bool goes_on =
        is_open && pieces.back().back().x == segment->first.x && pieces.back().back().y == segment->first.y;
    if (!goes_on) pieces.push_back({segment->first});
    pieces.back().push_back(segment->second);
    is_open = true;
  }
  return pieces;
}

}  // namespace eureka::figure
