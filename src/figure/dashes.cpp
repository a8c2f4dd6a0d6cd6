#include "figure/dashes.h"

#include <cmath>

namespace eureka::figure {

std::vector<double> dash_pattern(const Stroke& stroke) {
  const double unit = stroke.width < 1 ? 1 : stroke.width;
  switch (stroke.dash) {
    case Dash::solid:
      return {};
    case Dash::dashed:
      return {4 * unit, 2.5 * unit};
    case Dash::dotted:
      return {1.2 * unit, 2 * unit};
    case Dash::dash_dotted:
      return {5 * unit, 2 * unit, 1.2 * unit, 2 * unit};
  }
  return {};
}

std::vector<std::vector<Point>> dashes(const std::vector<Point>& line, const std::vector<double>& pattern) {
  if (pattern.empty() || line.size() < 2) return {line};
  std::vector<std::vector<Point>> pieces = {{line.front()}};
  std::size_t part = 0;
  double left = pattern[0];
  for (std::size_t i = 1; i < line.size(); ++i) {
    Point from = line[i - 1];
    const Point to = line[i];
    double length = std::hypot(to.x - from.x, to.y - from.y);
    while (length > left) {
      const double share = left / length;
      from = {from.x + share * (to.x - from.x), from.y + share * (to.y - from.y)};
      length -= left;
      if (part % 2 == 0)
        pieces.back().push_back(from);
      else
        pieces.push_back({from});
      part = (part + 1) % pattern.size();
      left = pattern[part];
    }
    left -= length;
    if (part % 2 == 0) pieces.back().push_back(to);
  }
  std::erase_if(pieces, [](const std::vector<Point>& piece) { return piece.size() < 2; });
  return pieces;
}

}  // namespace eureka::figure
