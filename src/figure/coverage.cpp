#include "figure/coverage.h"

#include <algorithm>
#include <cmath>

#include "figure/shapes.h"

namespace eureka::figure {
namespace {

constexpr int kSlices = 4;

struct Crossing {
  double x = 0;
  int turn = 0;  // +1 where the outline goes down
};

// Where the outlines cross the middle of a slice, from left to right.
std::vector<Crossing> crossings_at(const std::vector<Outline>& outlines, double y) {
  std::vector<Crossing> found;
  for (const Outline& outline : outlines)
    for (std::size_t i = 0; i < outline.size(); ++i) {
      const Point &a = outline[i], &b = outline[(i + 1) % outline.size()];
      if ((a.y <= y) == (b.y <= y)) continue;
      found.push_back({a.x + (y - a.y) / (b.y - a.y) * (b.x - a.x), a.y < b.y ? 1 : -1});
    }
  std::sort(found.begin(), found.end(), [](const Crossing& a, const Crossing& b) { return a.x < b.x; });
  return found;
}

void add_span(std::vector<double>& row, double from, double to) {
  from = std::clamp(from, 0.0, static_cast<double>(row.size()));
  to = std::clamp(to, 0.0, static_cast<double>(row.size()));
  for (auto x = static_cast<std::size_t>(from); x < row.size() && static_cast<double>(x) < to; ++x)
    row[x] += (std::min(to, static_cast<double>(x + 1)) - std::max(from, static_cast<double>(x))) / kSlices;
}

double signed_area(const Outline& outline) {
  double sum = 0;
  for (std::size_t i = 0; i < outline.size(); ++i) {
    const Point &a = outline[i], &b = outline[(i + 1) % outline.size()];
    sum += a.x * b.y - b.x * a.y;
  }
  return sum;
}

void add_turned_alike(std::vector<Outline>& outlines, Outline outline) {
  if (signed_area(outline) < 0) std::reverse(outline.begin(), outline.end());
  outlines.push_back(std::move(outline));
}

}  // namespace

void cover(const std::vector<Outline>& outlines, int width, int height,
           const std::function<void(int, int, double)>& paint) {
  double low = height, high = 0;
  for (const Outline& outline : outlines)
    for (const Point& point : outline) low = std::min(low, point.y), high = std::max(high, point.y);
  const int first = std::max(0, static_cast<int>(std::floor(low)));
  const int last = std::min(height - 1, static_cast<int>(std::floor(high)));
  std::vector<double> row(static_cast<std::size_t>(width));
  for (int y = first; y <= last; ++y) {
    std::fill(row.begin(), row.end(), 0.0);
    // Of many outlines few reach a row.
    std::vector<Outline> here;
    for (const Outline& outline : outlines) {
      const auto [top, bottom] =
          std::minmax_element(outline.begin(), outline.end(), [](const Point& a, const Point& b) { return a.y < b.y; });
      if (top != outline.end() && top->y < y + 1 && bottom->y > y) here.push_back(outline);
    }
    for (int slice = 0; slice < kSlices; ++slice) {
      int winding = 0;
      double from = 0;
      for (const Crossing& crossing : crossings_at(here, y + (slice + 0.5) / kSlices)) {
        if (winding == 0) from = crossing.x;
        winding += crossing.turn;
        if (winding == 0) add_span(row, from, crossing.x);
      }
    }
    for (int x = 0; x < width; ++x)
      if (const double share = row[static_cast<std::size_t>(x)]; share > 0) paint(x, y, std::min(1.0, share));
  }
}

std::vector<Outline> stroke_outlines(const std::vector<Point>& line, double width) {
  std::vector<Outline> outlines;
  for (std::size_t i = 1; i < line.size(); ++i) {
    const Point &a = line[i - 1], &b = line[i];
    const double length = std::hypot(b.x - a.x, b.y - a.y);
    if (length == 0) continue;
    const double x = -(b.y - a.y) / length * width / 2, y = (b.x - a.x) / length * width / 2;
    add_turned_alike(outlines, {{a.x + x, a.y + y}, {b.x + x, b.y + y}, {b.x - x, b.y - y}, {a.x - x, a.y - y}});
    if (i + 1 < line.size()) add_turned_alike(outlines, outline_of({b, Shape::circle, width, {}}));
  }
  return outlines;
}

}  // namespace eureka::figure
