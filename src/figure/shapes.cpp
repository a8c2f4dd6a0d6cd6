#include "figure/shapes.h"

#include <cmath>
#include <numbers>

namespace eureka::figure {
namespace {

std::vector<Point> corners(const Point& center, double radius, int count, double first_turn) {
  std::vector<Point> points;
  for (int i = 0; i < count; ++i) {
    const double angle = 2 * std::numbers::pi * (first_turn + static_cast<double>(i) / count);
    points.push_back({center.x + radius * std::cos(angle), center.y - radius * std::sin(angle)});
  }
  return points;
}

}  // namespace

std::vector<Point> outline_of(const Marker& marker) {
  const double radius = marker.size / 2;
  switch (marker.shape) {
    case Shape::circle:
      return corners(marker.at, radius, 24, 0);
    case Shape::square:
      return corners(marker.at, radius * 1.2, 4, 0.125);
    case Shape::triangle:
      return corners(marker.at, radius * 1.2, 3, 0.25);
    case Shape::diamond:
      return corners(marker.at, radius * 1.2, 4, 0);
  }
  return {};
}

}  // namespace eureka::figure
