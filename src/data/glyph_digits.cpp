#include "data/glyph_canvas.h"
#include "data/glyph_drawings.h"

namespace eureka {
namespace {

struct Stroke {
  Polyline points;
  double chance = 1;  // how often it is drawn at all
};

// In the unit square, in the order a hand would draw them; three points or more are a curve.
const std::vector<Stroke>& strokes_of(int digit) {
  static const std::vector<std::vector<Stroke>> kStrokes = {
      {{{{.50F, 0},
         {.22F, .18F},
         {.15F, .55F},
         {.28F, .90F},
         {.50F, 1},
         {.74F, .88F},
         {.85F, .50F},
         {.76F, .14F},
         {.50F, 0}}}},
      {{{{.52F, 0}, {.50F, 1}}}, {{{.30F, .20F}, {.52F, 0}}, .5}},
      {{{{.18F, .22F}, {.36F, .03F}, {.62F, .03F}, {.78F, .24F}, {.65F, .50F}, {.40F, .75F}, {.17F, .98F}}},
       {{{.17F, .98F}, {.83F, .98F}}}},
      {{{{.20F, .10F}, {.50F, 0}, {.75F, .20F}, {.62F, .42F}, {.42F, .48F}}},
       {{{.42F, .48F}, {.70F, .55F}, {.80F, .78F}, {.50F, 1}, {.18F, .88F}}}},
      {{{{.58F, 0}, {.14F, .65F}}}, {{{.14F, .65F}, {.88F, .65F}}}, {{{.66F, .32F}, {.63F, 1}}}},
      {{{{.78F, .02F}, {.28F, .02F}}},
       {{{.28F, .02F}, {.22F, .45F}}},
       {{{.22F, .45F}, {.50F, .36F}, {.78F, .60F}, {.66F, .92F}, {.40F, 1}, {.17F, .90F}}}},
      {{{{.70F, .02F},
         {.40F, .20F},
         {.20F, .55F},
         {.26F, .90F},
         {.50F, 1},
         {.75F, .84F},
         {.70F, .60F},
         {.46F, .54F},
         {.24F, .70F}}}},
      {{{{.15F, .03F}, {.82F, .03F}}}, {{{.82F, .03F}, {.56F, .50F}, {.42F, 1}}}, {{{.36F, .50F}, {.70F, .50F}}, .25}},
      {{{{.50F, .47F},
         {.27F, .29F},
         {.30F, .06F},
         {.50F, 0},
         {.70F, .06F},
         {.73F, .29F},
         {.50F, .47F},
         {.22F, .68F},
         {.25F, .92F},
         {.50F, 1},
         {.76F, .92F},
         {.79F, .68F},
         {.50F, .47F}}}},
      {{{{.76F, .30F}, {.60F, .04F}, {.35F, .05F}, {.22F, .28F}, {.40F, .48F}, {.68F, .42F}, {.76F, .28F}}},
       {{{.76F, .28F}, {.74F, .65F}, {.60F, 1}}}},
  };
  return kStrokes[static_cast<std::size_t>(digit)];
}

}  // namespace

std::string draw_digit(int digit, RandomStream& random) {
  GlyphCanvas canvas(1);
  canvas.set_pose(
      random_pose(random, {.height = 18.5F, .width = 0.9F, .width_spread = 0.15F, .tilt = 0.09F, .slant = 0.2F}));
  const float thickness = between(random, 1.8F, 3.6F);
  const Ink ink = {between(random, 0.8F, 1)};
  for (const Stroke& stroke : strokes_of(digit)) {
    if (!random.chance(stroke.chance)) continue;
    const Polyline points = jittered(stroke.points, random, 0.022F);
    canvas.stroke(points.size() > 2 ? smooth(points) : points, thickness, ink);
  }
  canvas.add_noise(random, 0.06F, 0.01F);
  return canvas.bytes();
}

}  // namespace eureka
