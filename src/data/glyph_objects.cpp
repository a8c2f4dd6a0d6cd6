#include "data/glyph_canvas.h"
#include "data/glyph_drawings.h"

namespace eureka {
namespace {

Ink random_ink(RandomStream& random, const Ink& low, const Ink& high) {
  Ink ink;
  for (std::size_t c = 0; c < 3; ++c) ink[c] = between(random, low[c], high[c]);
  return ink;
}

// A canvas filled from edge to edge, with a lower part of another colour; then posed, and half of the time mirrored.
GlyphCanvas scenery(RandomStream& random, const Ink& above, const Ink& below, float horizon) {
  GlyphCanvas canvas(3);
  canvas.set_pose({kGlyphSide, 0, 0, kGlyphSide, 0, 0});
  canvas.fill({{-1, -1}, {2, -1}, {2, 2}, {-1, 2}}, above);
  canvas.fill({{-1, horizon}, {2, horizon}, {2, 2}, {-1, 2}}, below);
  Pose pose = random_pose(random, {.height = 22, .height_spread = 3, .width = 1.05F, .tilt = 0.06F, .shift = 2});
  if (random.chance(0.5)) {
    pose.xx = -pose.xx;
    pose.yx = -pose.yx;
  }
  canvas.set_pose(pose);
  return canvas;
}

}  // namespace

std::string draw_car(RandomStream& random) {
  const Ink sky = random_ink(random, {.55F, .60F, .60F}, {.85F, .85F, .90F});
  const Ink road = random_ink(random, {.30F, .30F, .30F}, {.50F, .48F, .46F});
  GlyphCanvas canvas = scenery(random, sky, road, between(random, .55F, .75F));
  const Ink paint = random_ink(random, {.05F, .05F, .05F}, {1, .9F, .9F});
  const Ink glass = {.20F, .25F, .30F}, tyre = {.06F, .06F, .06F}, hub = {.6F, .6F, .6F};
  canvas.fill(jittered({{.02F, .52F},
                        {.20F, .48F},
                        {.34F, .28F},
                        {.68F, .28F},
                        {.82F, .48F},
                        {.98F, .54F},
                        {.98F, .74F},
                        {.02F, .74F}},
                       random, 0.015F),
              paint);
  canvas.fill(jittered({{.27F, .47F}, {.37F, .33F}, {.49F, .33F}, {.49F, .47F}}, random, 0.01F), glass);
  canvas.fill(jittered({{.53F, .47F}, {.53F, .33F}, {.66F, .33F}, {.75F, .47F}}, random, 0.01F), glass);
  for (const float x : {.24F, .76F}) {
    canvas.fill(circle({x, .75F}, .11F, .11F), tyre);
    canvas.fill(circle({x, .75F}, .045F, .045F), hub);
  }
  canvas.add_noise(random, 0.05F, 0.02F);
  return canvas.bytes();
}

std::string draw_bird(RandomStream& random) {
  const Ink sky = random_ink(random, {.35F, .55F, .45F}, {.75F, .85F, .95F});
  const Ink ground = random_ink(random, {.20F, .40F, .15F}, {.45F, .60F, .35F});
  GlyphCanvas canvas = scenery(random, sky, ground, between(random, .80F, 1.1F));
  const Ink feathers = random_ink(random, {.10F, .05F, .05F}, {.95F, .7F, .7F});
  Ink wing = feathers;
  for (float& value : wing) value *= 0.55F;
  canvas.fill(jittered({{.30F, .50F}, {.02F, .38F}, {.06F, .54F}, {.28F, .62F}}, random, 0.02F), wing);
  canvas.fill(jittered(circle({.48F, .54F}, .25F, .16F), random, 0.006F), feathers);
  canvas.fill(jittered(circle({.74F, .37F}, .13F, .12F), random, 0.006F), feathers);
  canvas.fill(jittered({{.85F, .33F}, {1.0F, .39F}, {.85F, .42F}}, random, 0.01F), {.95F, .65F, .10F});
  canvas.fill(jittered({{.38F, .50F}, {.62F, .48F}, {.30F, .76F}}, random, 0.03F), wing);
  canvas.fill(circle({.77F, .35F}, .025F, .025F), {0, 0, 0});
  for (const float x : {.46F, .54F})
    canvas.stroke(jittered({{x, .69F}, {x + .03F, .88F}}, random, 0.01F), 1.2F, {.3F, .2F, .1F});
  canvas.add_noise(random, 0.05F, 0.02F);
  return canvas.bytes();
}

}  // namespace eureka
