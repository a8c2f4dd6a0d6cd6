#include "data/glyph_canvas.h"

#include <algorithm>
#include <cmath>

namespace eureka {
namespace {

constexpr float kMiddle = kGlyphSide / 2.0F;

Point blend(const Point& a, const Point& b, const Point& c, const Point& d, float t) {
  const auto along = [t](float p, float q, float r, float s) {
    return 0.5F * (2 * q + t * (r - p) + t * t * (2 * p - 5 * q + 4 * r - s) + t * t * t * (3 * q - p - 3 * r + s));
  };
  return {along(a.x, b.x, c.x, d.x), along(a.y, b.y, c.y, d.y)};
}

}  // namespace

float between(RandomStream& random, float low, float high) { return low + (high - low) * random.uniform_float(); }

Pose random_pose(RandomStream& random, const PoseRange& range) {
  const float height = range.height + between(random, -range.height_spread, range.height_spread);
  const float width = height * (range.width + between(random, -range.width_spread, range.width_spread));
  // The rational form of a rotation: no library function whose last bit differs between machines.
  const float t = between(random, -range.tilt, range.tilt);
  const float cosine = (1 - t * t) / (1 + t * t), sine = 2 * t / (1 + t * t);
  const float slant = between(random, -range.slant, range.slant);
  return {width * cosine,
          height * (slant * cosine - sine),
          width * sine,
          height * (slant * sine + cosine),
          between(random, -range.shift, range.shift),
          between(random, -range.shift, range.shift)};
}

Polyline jittered(Polyline points, RandomStream& random, float deviation) {
  for (Point& point : points) {
    point.x += deviation * random.normal();
    point.y += deviation * random.normal();
  }
  return points;
}

Polyline smooth(const Polyline& points) {
  constexpr int kPieces = 4;
  Polyline curve;
  const std::size_t last = points.size() - 1;
  for (std::size_t i = 0; i < last; ++i)
    for (int piece = 0; piece < kPieces; ++piece)
      curve.push_back(blend(points[i > 0 ? i - 1 : 0], points[i], points[i + 1], points[std::min(i + 2, last)],
                            static_cast<float>(piece) / kPieces));
  curve.push_back(points[last]);
  return curve;
}

Polyline circle(Point center, float radius_x, float radius_y) {
  // Eight points on the unit circle, each with the half-angle formula's exact square root.
  const float diagonal = std::sqrt(0.5F);
  Polyline points;
  for (const auto& [x, y] :
       {Point{1, 0}, Point{diagonal, diagonal}, Point{0, 1}, Point{-diagonal, diagonal}, Point{-1, 0},
        Point{-diagonal, -diagonal}, Point{0, -1}, Point{diagonal, -diagonal}, Point{1, 0}})
    points.push_back({center.x + radius_x * x, center.y + radius_y * y});
  return smooth(points);
}

GlyphCanvas::GlyphCanvas(int channels) : planes_(static_cast<std::size_t>(channels), Plane{}) {}

Point GlyphCanvas::to_pixels(Point point) const {
  const float x = point.x - 0.5F, y = point.y - 0.5F;
  return {pose_.xx * x + pose_.xy * y + kMiddle + pose_.shift_x, pose_.yx * x + pose_.yy * y + kMiddle + pose_.shift_y};
}

void GlyphCanvas::paint(const Plane& coverage, const Ink& ink) {
  for (std::size_t c = 0; c < planes_.size(); ++c)
    for (std::size_t i = 0; i < coverage.size(); ++i)
      planes_[c][i] += std::min(coverage[i], 1.0F) * (ink[c] - planes_[c][i]);
}

void GlyphCanvas::stroke(const Polyline& line, float pixels_wide, const Ink& ink) {
  const float radius = pixels_wide / 2;
  Plane nearest;  // squared distance to the line
  nearest.fill(1e6F);
  for (std::size_t i = 0; i + 1 < line.size(); ++i) {
    const Point a = to_pixels(line[i]), b = to_pixels(line[i + 1]);
    const float dx = b.x - a.x, dy = b.y - a.y;
    const float scale = 1 / std::max(dx * dx + dy * dy, 1e-6F);
    const int top = std::clamp(static_cast<int>(std::min(a.y, b.y) - radius - 1), 0, kGlyphSide);
    const int bottom = std::clamp(static_cast<int>(std::max(a.y, b.y) + radius + 2), 0, kGlyphSide);
    for (int y = top; y < bottom; ++y) {
      float* row = nearest.data() + std::ptrdiff_t{y} * kGlyphSide;
      const float py = static_cast<float>(y) + 0.5F - a.y;
      for (int x = 0; x < kGlyphSide; ++x) {
        const float px = static_cast<float>(x) + 0.5F - a.x;
        const float along = std::min(std::max((px * dx + py * dy) * scale, 0.0F), 1.0F);
        const float ex = px - along * dx, ey = py - along * dy;
        row[x] = std::min(row[x], ex * ex + ey * ey);
      }
    }
  }
  for (float& value : nearest) value = std::clamp(radius + 0.5F - std::sqrt(value), 0.0F, 1.0F);
  paint(nearest, ink);
}

void GlyphCanvas::fill(const Polyline& shape, const Ink& ink) {
  constexpr int kSamples = 4;  // rows per pixel; along a row the cover is exact
  Polyline corners;
  float highest = kGlyphSide, lowest = 0;
  for (const Point& point : shape) {
    corners.push_back(to_pixels(point));
    highest = std::min(highest, corners.back().y);
    lowest = std::max(lowest, corners.back().y);
  }
  // Most shapes are small: rows without any of it are left out.
  const int first = kSamples * std::max(static_cast<int>(highest), 0);
  const int end = kSamples * std::min(static_cast<int>(lowest) + 1, kGlyphSide);
  Plane coverage{};
  std::vector<float> crossings;
  for (int line = first; line < end; ++line) {
    const float y = (static_cast<float>(line) + 0.5F) / kSamples;
    crossings.clear();
    for (std::size_t i = 0; i < corners.size(); ++i) {
      const Point& a = corners[i];
      const Point& b = corners[(i + 1) % corners.size()];
      if ((a.y <= y) != (b.y <= y)) crossings.push_back(a.x + (b.x - a.x) * (y - a.y) / (b.y - a.y));
    }
    std::sort(crossings.begin(), crossings.end());
    float* row = coverage.data() + std::ptrdiff_t{line / kSamples} * kGlyphSide;
    for (std::size_t i = 0; i + 1 < crossings.size(); i += 2)
      for (int x = 0; x < kGlyphSide; ++x) {
        const float left = std::max(crossings[i], static_cast<float>(x));
        const float right = std::min(crossings[i + 1], static_cast<float>(x + 1));
        row[x] += std::max(right - left, 0.0F) / kSamples;
      }
  }
  paint(coverage, ink);
}

void GlyphCanvas::add_stripes(float period_pixels, float depth, bool upright) {
  for (Plane& plane : planes_)
    for (int y = 0; y < kGlyphSide; ++y)
      for (int x = 0; x < kGlyphSide; ++x) {
        const float turns = static_cast<float>(upright ? x : y) / period_pixels;
        const float wave = std::abs(2 * (turns - std::floor(turns)) - 1);
        plane[y * kGlyphSide + x] *= 1 - depth * wave;
      }
}

void GlyphCanvas::add_noise(RandomStream& random, float of_ink, float everywhere) {
  std::array<float, 2 * kPixels> noise;
  for (Plane& plane : planes_) {
    random.fill_normal(noise);
    for (std::size_t i = 0; i < plane.size(); ++i)
      plane[i] += of_ink * plane[i] * noise[i] + everywhere * noise[kPixels + i];
  }
}

std::string GlyphCanvas::bytes() const {
  std::string out;
  for (const Plane& plane : planes_)
    for (const float value : plane)
      out += static_cast<char>(static_cast<unsigned char>(std::clamp(value, 0.0F, 1.0F) * 255 + 0.5F));
  return out;
}

}  // namespace eureka
