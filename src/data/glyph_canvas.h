// Anti-aliased strokes and shapes on a small square of floats, in a drawing's own coordinates.
//
//   GlyphCanvas canvas(1);
//   canvas.set_pose(random_pose(random, {...}));
//   canvas.stroke(smooth({{0.2F, 0.1F}, {0.5F, 0}, {0.8F, 0.3F}}), 2.5F, {0.9F});      2.5 pixels wide, ink 0.9
//   canvas.fill({{0, 0}, {1, 0}, {1, 1}}, {0.5F});
//   std::string bytes = canvas.bytes();
#pragma once

#include <array>
#include <string>
#include <vector>

#include "base/random.h"

namespace eureka {

inline constexpr int kGlyphSide = 28;

struct Point {
  float x = 0;
  float y = 0;  // downwards
};
using Polyline = std::vector<Point>;
using Ink = std::array<float, 3>;  // 0..1; of a gray canvas only the first counts

// Unit square to pixels: the unit square's middle goes to the middle of the canvas, plus a shift.
struct Pose {
  float xx = 1, xy = 0, yx = 0, yy = 1;
  float shift_x = 0, shift_y = 0;
};

struct PoseRange {
  float height = 20;        // pixels of the unit square
  float height_spread = 2;  // plus or minus
  float width = 1;          // of the height
  float width_spread = 0.1F;
  float tilt = 0.1F;   // half the tangent of the rotation, at most
  float slant = 0.1F;  // shear
  float shift = 1.5F;  // pixels
};

float between(RandomStream& random, float low, float high);
Pose random_pose(RandomStream& random, const PoseRange& range);
// Every point moved by a little, so that no two drawings have the same shape.
Polyline jittered(Polyline points, RandomStream& random, float deviation);
// A curve through the points (Catmull-Rom).
Polyline smooth(const Polyline& points);
Polyline circle(Point center, float radius_x, float radius_y);

class GlyphCanvas {
 public:
  explicit GlyphCanvas(int channels);

  void set_pose(const Pose& pose) { pose_ = pose; }
  void stroke(const Polyline& line, float pixels_wide, const Ink& ink);
  void fill(const Polyline& shape, const Ink& ink);
  // Bands of lesser ink across what is drawn so far.
  void add_stripes(float period_pixels, float depth, bool upright);
  // Multiplicative on the ink, additive everywhere.
  void add_noise(RandomStream& random, float of_ink, float everywhere);
  std::string bytes() const;  // channels x 28 x 28

 private:
  static constexpr std::size_t kPixels = std::size_t{kGlyphSide} * kGlyphSide;
  using Plane = std::array<float, kPixels>;

  Point to_pixels(Point point) const;
  void paint(const Plane& coverage, const Ink& ink);

  Pose pose_;
  std::vector<Plane> planes_;
};

}  // namespace eureka
