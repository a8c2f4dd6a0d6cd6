#include "data/glyph_drawings.h"
#include "data/glyph_scenery.h"

namespace eureka {
namespace {

constexpr Ink kGlass = {.20F, .25F, .30F}, kTyre = {.06F, .06F, .06F}, kHub = {.6F, .6F, .6F};

void wheel(ObjectSketch& sketch, Point axle, float radius, float hub_radius) {
  sketch.disc(axle, radius, radius, kTyre);
  sketch.disc(axle, hub_radius, hub_radius, kHub);
}

// From the side: a tube with a fin, a wing towards the viewer and a row of windows.
void airliner(ObjectSketch& sketch, const Ink& hull, const Ink& trim) {
  sketch.shape({{.06F, .50F}, {.02F, .20F}, {.13F, .20F}, {.27F, .46F}}, trim);
  sketch.shape(smooth({{.02F, .46F},
                       {.30F, .44F},
                       {.80F, .44F},
                       {.95F, .49F},
                       {1, .56F},
                       {.90F, .62F},
                       {.35F, .62F},
                       {.02F, .48F}}),
               hull, 0.006F);
  sketch.shape({{.06F, .47F}, {-.04F, .42F}, {.05F, .41F}, {.18F, .48F}}, shaded(hull, .7F));
  const float wing_tip = between(sketch.random(), .74F, .90F);
  sketch.shape({{.42F, .56F}, {.22F, wing_tip}, {.32F, wing_tip}, {.64F, .57F}}, shaded(hull, .65F));
  sketch.line({{.26F, .51F}, {.80F, .51F}}, 1, kGlass);
  sketch.shape({{.88F, .48F}, {.95F, .50F}, {.96F, .54F}, {.88F, .53F}}, kGlass);
}

// From below: swept wings and a tail on both sides.
void overflight(ObjectSketch& sketch, const Ink& hull, const Ink& trim) {
  const float sweep = between(sketch.random(), .08F, .26F), span = between(sketch.random(), .40F, .50F);
  for (const float side : {-1.0F, 1.0F}) {
    sketch.shape({{.66F, .5F}, {.52F - sweep, .5F + side * span}, {.40F - sweep, .5F + side * span}, {.42F, .5F}},
                 trim);
    sketch.shape({{.16F, .5F}, {.03F, .5F + side * .19F}, {-.03F, .5F + side * .19F}, {.02F, .5F}}, trim);
    sketch.line({{.50F, .5F + side * .20F}, {.58F, .5F + side * .20F}}, 1.8F, shaded(hull, .5F));
  }
  sketch.shape(circle({.50F, .5F}, .50F, .075F), hull, 0.006F);
}

void freighter(ObjectSketch& sketch, const Ink& hull, const Ink& house) {
  sketch.shape({{.14F, .50F}, {.14F, .36F}, {.44F, .36F}, {.44F, .50F}, {.62F, .50F}, {.62F, .60F}, {.10F, .60F}},
               house);
  sketch.line({{.18F, .43F}, {.41F, .43F}}, 1, kGlass);
  sketch.shape({{.23F, .37F}, {.22F, .18F}, {.34F, .18F}, {.35F, .37F}},
               random_ink(sketch.random(), {.55F, .1F, .05F}, {.9F, .4F, .3F}));
  sketch.line({{.75F, .56F}, {.75F, .20F}}, 1, shaded(hull, .6F));
  sketch.line({{.75F, .24F}, {.60F, .50F}}, 1, shaded(hull, .6F));
  const float bow = between(sketch.random(), .48F, .54F);
  sketch.shape({{.02F, .57F}, {.70F, .58F}, {1.02F, bow}, {.88F, .80F}, {.08F, .80F}}, hull);
  sketch.line({{.08F, .79F}, {.88F, .79F}}, 1.4F, {.50F, .12F, .10F});
}

void sailing_boat(ObjectSketch& sketch, const Ink& hull, const Ink& sail) {
  const float top = between(sketch.random(), -.02F, .08F);
  sketch.line({{.48F, top}, {.48F, .68F}}, 1.2F, {.30F, .20F, .12F});
  sketch.shape({{.45F, top + .04F}, {.45F, .62F}, {.06F, .62F}}, sail);
  sketch.shape({{.52F, top + .08F}, {.94F, .62F}, {.52F, .62F}}, shaded(sail, .85F));
  sketch.shape({{.06F, .67F}, {.98F, .65F}, {.80F, .84F}, {.18F, .84F}}, hull);
}

}  // namespace

std::string draw_airplane(RandomStream& random) {
  ObjectSketch sketch(random, {Backdrop::sky, Backdrop::sky, Backdrop::perch, Backdrop::sea, Backdrop::road,
                               Backdrop::meadow, Backdrop::snow});
  const Ink hull = random_shade(random, {.45F, .46F, .50F}, {.98F, .98F, .98F});
  const Ink livery = random_ink(random, {.10F, .10F, .15F}, {.85F, .50F, .80F});
  if (random.chance(0.6))
    airliner(sketch, hull, livery);
  else
    overflight(sketch, hull, shaded(hull, between(random, .6F, .8F)));
  return sketch.finish();
}

std::string draw_car(RandomStream& random) {
  ObjectSketch sketch(random, {Backdrop::road});
  const Ink paint = random_ink(random, {.05F, .05F, .05F}, {1, .9F, .9F});
  sketch.shape(
      {{.02F, .52F}, {.20F, .48F}, {.34F, .28F}, {.68F, .28F}, {.82F, .48F}, {.98F, .54F}, {.98F, .74F}, {.02F, .74F}},
      paint, 0.015F);
  sketch.shape({{.27F, .47F}, {.37F, .33F}, {.49F, .33F}, {.49F, .47F}}, kGlass, 0.01F);
  sketch.shape({{.53F, .47F}, {.53F, .33F}, {.66F, .33F}, {.75F, .47F}}, kGlass, 0.01F);
  for (const float x : {.24F, .76F}) wheel(sketch, {x, .75F}, .11F, .045F);
  return sketch.finish();
}

std::string draw_ship(RandomStream& random) {
  ObjectSketch sketch(random, {Backdrop::sea, Backdrop::sea, Backdrop::sea, Backdrop::shore});
  const Ink hull = random_ink(random, {.05F, .05F, .08F}, {.70F, .45F, .60F});
  const Ink light = random_shade(random, {.70F, .68F, .62F}, {1, 1, 1});
  if (random.chance(0.65))
    freighter(sketch, hull, light);
  else
    sailing_boat(sketch, hull, light);
  // The bow wave, in front of the hull.
  sketch.curve({{.02F, .83F}, {.25F, .80F}, {.50F, .84F}, {.75F, .80F}, {.98F, .83F}}, 1.2F, {.75F, .85F, .90F});
  return sketch.finish();
}

std::string draw_truck(RandomStream& random) {
  ObjectSketch sketch(random, {Backdrop::road, Backdrop::road, Backdrop::meadow, Backdrop::sand, Backdrop::snow});
  const Ink cab = random_ink(random, {.10F, .05F, .05F}, {.95F, .80F, .85F});
  const float roof = between(random, .10F, .22F);
  const Ink frame = {.15F, .15F, .16F};
  sketch.shape({{.02F, .66F}, {.97F, .66F}, {.97F, .76F}, {.02F, .76F}}, frame, 0.006F);
  if (random.chance(0.7))
    sketch.shape({{0, roof}, {.63F, roof}, {.63F, .68F}, {0, .68F}},
                 random_shade(random, {.55F, .55F, .58F}, {1, 1, .98F}));
  else
    sketch.shape({{-.02F, roof + .14F}, {.63F, roof + .14F}, {.58F, .68F}, {.06F, .68F}},
                 random_ink(random, {.45F, .25F, .10F}, {.90F, .70F, .40F}));
  sketch.shape({{.67F, .32F}, {.85F, .32F}, {.95F, .50F}, {1, .54F}, {1, .74F}, {.67F, .74F}}, cab);
  sketch.shape({{.73F, .37F}, {.84F, .37F}, {.90F, .51F}, {.73F, .51F}}, kGlass, 0.006F);
  for (const float x : {.13F, .34F, .83F}) wheel(sketch, {x, .79F}, .10F, .041F);
  return sketch.finish();
}

}  // namespace eureka
