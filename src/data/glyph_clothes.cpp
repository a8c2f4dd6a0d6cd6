#include <algorithm>

#include "base/error.h"
#include "data/glyph_canvas.h"
#include "data/glyph_drawings.h"

namespace eureka {
namespace {

// A garment in the making: the canvas, the randomness and the inks that its parts share.
struct Tailor {
  GlyphCanvas canvas{1};
  RandomStream& random;
  Ink cloth;
  Ink dark;

  explicit Tailor(RandomStream& source) : random(source), cloth{between(source, 0.55F, 0.95F)}, dark{cloth[0] * 0.4F} {}

  void shape(const Polyline& outline) { canvas.fill(jittered(outline, random, 0.012F), cloth); }
  // The outline's right half, mirrored about the middle.
  void symmetric(const Polyline& right_half) {
    Polyline outline = jittered(right_half, random, 0.012F);
    for (std::size_t i = right_half.size(); i-- > 0;) outline.push_back({1 - outline[i].x, outline[i].y});
    canvas.fill(outline, cloth);
  }
  void line(const Polyline& points, float pixels_wide, const Ink& ink) {
    canvas.stroke(jittered(points, random, 0.012F), pixels_wide, ink);
  }
};

// What the five kinds of upper garment differ in.
struct Top {
  float hem;          // height of the lower edge
  float sleeve_end;   // height where the sleeves end
  float sleeve_out;   // how far they stand off
  float half_width;   // of the trunk
  float sleeve_wide;  // of the cuff
};

void sew_top(Tailor& tailor, const Top& top) {
  const float half = top.half_width + between(tailor.random, -0.02F, 0.02F);
  tailor.symmetric({{.60F, .06F}, {.5F + half, .13F}, {.5F + half - .02F, top.hem}});
  const float shoulder = .5F + half;
  for (const bool mirrored : {false, true}) {
    Polyline sleeve = {{shoulder - .05F, .10F},
                       {shoulder + top.sleeve_out, top.sleeve_end},
                       {shoulder + top.sleeve_out - top.sleeve_wide, top.sleeve_end + .03F},
                       {shoulder - .06F, .38F}};
    if (mirrored)
      for (Point& point : sleeve) point.x = 1 - point.x;
    tailor.shape(sleeve);
  }
}

void t_shirt(Tailor& tailor) {
  sew_top(tailor, {.92F, .36F, .20F, .24F, .14F});
  tailor.line({{.40F, .07F}, {.50F, .13F}, {.60F, .07F}}, 1.6F, tailor.dark);
}

void pullover(Tailor& tailor) {
  sew_top(tailor, {.88F, .86F, .16F, .26F, .13F});
  tailor.line({{.40F, .06F}, {.50F, .10F}, {.60F, .06F}}, 2.2F, tailor.dark);
  tailor.line({{.27F, .86F}, {.73F, .86F}}, 2.0F, tailor.dark);
}

void coat(Tailor& tailor) {
  sew_top(tailor, {1.0F, .80F, .13F, .25F, .12F});
  tailor.line({{.50F, .10F}, {.50F, .98F}}, 1.8F, {0.05F});
  tailor.line({{.40F, .05F}, {.50F, .26F}, {.60F, .05F}}, 1.5F, tailor.dark);
}

void shirt(Tailor& tailor) {
  sew_top(tailor, {.95F, .58F, .20F, .23F, .10F});
  for (float y = .22F; y < .92F; y += .15F) tailor.line({{.50F, y}, {.50F, y + .01F}}, 2.2F, {0.05F});
  tailor.line({{.38F, .04F}, {.50F, .16F}, {.62F, .04F}}, 2.0F, {std::min(1.0F, tailor.cloth[0] * 1.3F)});
}

void trouser(Tailor& tailor) {
  const float spread = between(tailor.random, .02F, .07F);
  tailor.shape({{.30F, 0},
                {.70F, 0},
                {.73F + spread, 1},
                {.56F + spread, 1},
                {.50F, .32F},
                {.44F - spread, 1},
                {.27F - spread, 1}});
}

void dress(Tailor& tailor) {
  const float flare = between(tailor.random, .16F, .30F);
  tailor.symmetric({{.58F, .10F}, {.62F, 0}, {.67F, .02F}, {.66F, .18F}, {.60F, .38F}, {.5F + flare, 1}});
}

void sandal(Tailor& tailor) {
  tailor.line({{.04F, .80F}, {.35F, .84F}, {.96F, .84F}}, between(tailor.random, 2.0F, 3.2F), tailor.cloth);
  const float heel = between(tailor.random, .30F, .50F);
  tailor.line({{.12F, .80F}, {.16F, heel}}, 1.8F, tailor.cloth);
  tailor.line({{.16F, heel}, {.42F, .80F}}, 1.6F, tailor.cloth);
  tailor.line({{.50F, .82F}, {.66F, .55F}, {.88F, .82F}}, 1.8F, tailor.cloth);
}

void sneaker(Tailor& tailor) {
  tailor.shape({{.02F, .45F}, {.30F, .44F}, {.45F, .56F}, {.75F, .68F}, {.97F, .74F}, {.98F, .88F}, {.03F, .88F}});
  tailor.line({{.03F, .86F}, {.97F, .86F}}, 1.8F, tailor.dark);
  tailor.line({{.38F, .54F}, {.46F, .70F}}, 1.2F, tailor.dark);
  tailor.line({{.50F, .58F}, {.56F, .73F}}, 1.2F, tailor.dark);
}

void bag(Tailor& tailor) {
  const float top = between(tailor.random, .36F, .46F);
  tailor.shape({{.06F, top}, {.94F, top}, {.98F, .92F}, {.02F, .92F}});
  tailor.line(smooth({{.26F, top}, {.32F, top - .25F}, {.50F, top - .33F}, {.68F, top - .25F}, {.74F, top}}), 1.8F,
              tailor.cloth);
  tailor.line({{.06F, top + .14F}, {.94F, top + .14F}}, 1.3F, tailor.dark);
}

void boot(Tailor& tailor) {
  const float height = between(tailor.random, .05F, .18F);
  tailor.shape({{.08F, height}, {.46F, height}, {.48F, .54F}, {.76F, .66F}, {.96F, .74F}, {.96F, .90F}, {.10F, .90F}});
  tailor.line({{.10F, .90F}, {.96F, .90F}}, 1.8F, tailor.dark);
  if (tailor.random.chance(0.5)) tailor.line({{.12F, .92F}, {.24F, .98F}}, 3.0F, tailor.cloth);
}

}  // namespace

std::string draw_garment(int kind, RandomStream& random) {
  using Cut = void (*)(Tailor&);
  static constexpr Cut kCuts[] = {t_shirt, trouser, pullover, dress, coat, sandal, shirt, sneaker, bag, boot};
  Tailor tailor(random);
  tailor.canvas.set_pose(random_pose(random, {.height = 24,
                                              .height_spread = 1.5F,
                                              .width = 1,
                                              .width_spread = 0.12F,
                                              .tilt = 0.03F,
                                              .slant = 0.04F,
                                              .shift = 1}));
  EUREKA_CHECK(kind >= 0 && kind < 10, "no such garment");
  kCuts[kind](tailor);
  if (random.chance(0.3)) {
    const bool upright = random.chance(0.4);
    const float depth = between(random, 0.2F, 0.5F);
    tailor.canvas.add_stripes(between(random, 2.5F, 6), depth, upright);
  }
  tailor.canvas.add_noise(random, 0.08F, 0.006F);
  return tailor.canvas.bytes();
}

}  // namespace eureka
