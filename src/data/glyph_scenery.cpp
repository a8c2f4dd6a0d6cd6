#include "data/glyph_scenery.h"

#include <algorithm>

namespace eureka {
namespace {

struct InkRange {
  Ink low;
  Ink high;
};

struct BackdropInks {
  InkRange above;
  InkRange below;
  float horizon_low;
  float horizon_high;
};

const BackdropInks& inks_of(Backdrop backdrop) {
  // In the order of Backdrop. The first two are those of the cars and birds that results are recorded on.
  static constexpr BackdropInks kInks[] = {
      {{{.55F, .60F, .60F}, {.85F, .85F, .90F}}, {{.30F, .30F, .30F}, {.50F, .48F, .46F}}, .55F, .75F},
      {{{.35F, .55F, .45F}, {.75F, .85F, .95F}}, {{.20F, .40F, .15F}, {.45F, .60F, .35F}}, .80F, 1.1F},
      {{{.50F, .60F, .65F}, {.80F, .85F, .95F}}, {{.25F, .42F, .15F}, {.50F, .65F, .35F}}, .45F, .75F},
      {{{.14F, .24F, .14F}, {.34F, .42F, .28F}}, {{.25F, .32F, .12F}, {.45F, .50F, .28F}}, .55F, .85F},
      {{{.60F, .65F, .70F}, {.82F, .85F, .90F}}, {{.85F, .87F, .90F}, {.97F, .98F, 1.0F}}, .50F, .75F},
      {{{.50F, .62F, .70F}, {.85F, .88F, .95F}}, {{.68F, .58F, .40F}, {.88F, .78F, .58F}}, .50F, .75F},
      {{{.55F, .65F, .70F}, {.88F, .88F, .95F}}, {{.10F, .28F, .40F}, {.30F, .50F, .65F}}, .50F, .70F},
      {{{.18F, .30F, .16F}, {.42F, .52F, .36F}}, {{.18F, .32F, .36F}, {.36F, .50F, .54F}}, .50F, .75F},
      {{{.55F, .48F, .40F}, {.90F, .85F, .78F}}, {{.35F, .24F, .16F}, {.62F, .48F, .38F}}, .60F, .85F},
      {{{.35F, .55F, .75F}, {.72F, .82F, .98F}}, {{.50F, .62F, .75F}, {.85F, .88F, .95F}}, .60F, 1.1F},
  };
  return kInks[static_cast<std::size_t>(backdrop)];
}

// What makes a place more than two colors.
void furnish(GlyphCanvas& canvas, RandomStream& random, Backdrop backdrop, const Ink& above, const Ink& below,
             float horizon) {
  const auto scattered = [&](int count, const auto& draw) {
    for (int i = 0; i < count; ++i) draw(between(random, 0, 1));
  };
  if (backdrop == Backdrop::woods)
    scattered(3, [&](float x) {
      canvas.stroke({{x, -.1F}, {x, horizon}}, between(random, 1, 2.5F), shaded(above, .6F));
    });
  if (backdrop == Backdrop::sea || backdrop == Backdrop::shore)
    scattered(4, [&](float x) {
      const float y = between(random, horizon + .03F, 1);
      canvas.stroke({{x - .12F, y}, {x + .12F, y}}, 1, shaded(below, 1.25F));
    });
  if (backdrop == Backdrop::sky || backdrop == Backdrop::sand)
    scattered(2, [&](float x) {
      const float y = between(random, 0, horizon / 2);
      canvas.fill(circle({x, y}, between(random, .10F, .25F), .06F), shaded(above, 1.15F));
    });
  if (backdrop == Backdrop::meadow && random.chance(0.5))
    scattered(2, [&](float x) {
      canvas.fill(circle({x, horizon}, .18F, between(random, .06F, .16F)), shaded(below, .7F));
    });
}

}  // namespace

Ink random_ink(RandomStream& random, const Ink& low, const Ink& high) {
  Ink ink;
  for (std::size_t c = 0; c < 3; ++c) ink[c] = between(random, low[c], high[c]);
  return ink;
}

Ink random_shade(RandomStream& random, const Ink& dark, const Ink& light) {
  const float way = random.uniform_float();
  Ink ink;
  for (std::size_t c = 0; c < 3; ++c) ink[c] = dark[c] + way * (light[c] - dark[c]) + between(random, -.03F, .03F);
  return ink;
}

Ink shaded(const Ink& ink, float factor) {
  Ink result;
  for (std::size_t c = 0; c < 3; ++c) result[c] = std::min(ink[c] * factor, 1.0F);
  return result;
}

ObjectSketch::ObjectSketch(RandomStream& random, std::initializer_list<Backdrop> backdrops) : random_(random) {
  // A class with one backdrop spends no draw on the choice.
  const auto count = static_cast<std::uint32_t>(backdrops.size());
  const Backdrop backdrop = backdrops.begin()[count > 1 ? random.below(count) : 0];
  const BackdropInks& inks = inks_of(backdrop);
  const Ink above = random_ink(random, inks.above.low, inks.above.high);
  const Ink below = random_ink(random, inks.below.low, inks.below.high);
  const float horizon = between(random, inks.horizon_low, inks.horizon_high);
  canvas_.set_pose({kGlyphSide, 0, 0, kGlyphSide, 0, 0});
  canvas_.fill({{-1, -1}, {2, -1}, {2, 2}, {-1, 2}}, above);
  canvas_.fill({{-1, horizon}, {2, horizon}, {2, 2}, {-1, 2}}, below);
  furnish(canvas_, random, backdrop, above, below, horizon);
  Pose pose = random_pose(random, {.height = 22, .height_spread = 3, .width = 1.05F, .tilt = 0.06F, .shift = 2});
  if (random.chance(0.5)) {
    pose.xx = -pose.xx;
    pose.yx = -pose.yx;
  }
  canvas_.set_pose(pose);
}

void ObjectSketch::shape(const Polyline& outline, const Ink& ink, float jitter) {
  canvas_.fill(jittered(outline, random_, jitter), ink);
}

void ObjectSketch::curve(const Polyline& points, float pixels_wide, const Ink& ink, float jitter) {
  canvas_.stroke(smooth(jittered(points, random_, jitter)), pixels_wide, ink);
}

void ObjectSketch::line(const Polyline& points, float pixels_wide, const Ink& ink, float jitter) {
  canvas_.stroke(jittered(points, random_, jitter), pixels_wide, ink);
}

void ObjectSketch::disc(Point center, float radius_x, float radius_y, const Ink& ink) {
  canvas_.fill(circle(center, radius_x, radius_y), ink);
}

std::string ObjectSketch::finish() {
  canvas_.add_noise(random_, 0.05F, 0.02F);
  return canvas_.bytes();
}

}  // namespace eureka
