// Where the colored objects stand, and the hand that draws them there.
//
//   ObjectSketch sketch(random, {Backdrop::road, Backdrop::snow});      one of them, then a random pose
//   sketch.shape({{.1F, .2F}, {.9F, .2F}, {.9F, .8F}}, paint);
//   return sketch.finish();
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>

#include "data/glyph_canvas.h"

namespace eureka {

// Classes share backdrops, so that none is told by its backdrop alone.
enum class Backdrop : std::uint8_t { road, perch, meadow, woods, snow, sand, sea, shore, room, sky };

// Every channel between `low` and `high`, each on its own.
Ink random_ink(RandomStream& random, const Ink& low, const Ink& high);
// All channels about the same way from `dark` to `light`, so that the hue stays.
Ink random_shade(RandomStream& random, const Ink& dark, const Ink& light);
Ink shaded(const Ink& ink, float factor);

// A canvas of three channels with one of the backdrops (a repeated one is likelier), then posed and half of the time
// mirrored. What is drawn lies in the unit square and looks to the right.
class ObjectSketch {
 public:
  ObjectSketch(RandomStream& random, std::initializer_list<Backdrop> backdrops);

  RandomStream& random() { return random_; }
  void shape(const Polyline& outline, const Ink& ink, float jitter = 0.012F);
  void curve(const Polyline& points, float pixels_wide, const Ink& ink, float jitter = 0.012F);
  void line(const Polyline& points, float pixels_wide, const Ink& ink, float jitter = 0.01F);
  void disc(Point center, float radius_x, float radius_y, const Ink& ink);
  std::string finish();  // noise over everything

 private:
  RandomStream& random_;
  GlyphCanvas canvas_{3};
};

}  // namespace eureka
