#include "data/glyph_drawings.h"
#include "data/glyph_scenery.h"

namespace eureka {
namespace {

constexpr Ink kBlack = {.04F, .04F, .04F}, kWhite = {.97F, .97F, .95F};

struct Legs {
  float hip;   // height where they begin
  float hind;  // where the hind pair stands
  float fore;
  float pixels_wide;
};

// Two pairs, the farther ones darker, each with a step of its own.
void legs(ObjectSketch& sketch, const Legs& at, const Ink& coat, const Ink& hoof) {
  const float foot = .97F;
  for (const bool near : {false, true})
    for (const float x : {at.hind, at.fore}) {
      const float top = x + (near ? 0 : .09F);
      const float step = top + between(sketch.random(), -.05F, .05F);
      const Ink ink = near ? coat : shaded(coat, .7F);
      sketch.line({{top, at.hip}, {(top + step) / 2 + .01F, (at.hip + foot) / 2}, {step, foot}}, at.pixels_wide, ink);
      sketch.line({{step, foot - .02F}, {step + .02F, foot}}, at.pixels_wide, hoof, 0.004F);
    }
}

Ink fur(RandomStream& random) {
  switch (random.below(4)) {
    case 0:
      return random_shade(random, {.10F, .09F, .09F}, {.40F, .38F, .38F});
    case 1:
      return random_shade(random, {.78F, .74F, .68F}, {.97F, .96F, .94F});
    case 2:
      return random_shade(random, {.62F, .36F, .14F}, {.92F, .62F, .32F});
    default:
      return random_shade(random, {.30F, .20F, .12F}, {.58F, .44F, .32F});
  }
}

}  // namespace

std::string draw_bird(RandomStream& random) {
  ObjectSketch sketch(random, {Backdrop::perch});
  const Ink feathers = random_ink(random, {.10F, .05F, .05F}, {.95F, .7F, .7F});
  const Ink wing = shaded(feathers, 0.55F);
  sketch.shape({{.30F, .50F}, {.02F, .38F}, {.06F, .54F}, {.28F, .62F}}, wing, 0.02F);
  sketch.shape(circle({.48F, .54F}, .25F, .16F), feathers, 0.006F);
  sketch.shape(circle({.74F, .37F}, .13F, .12F), feathers, 0.006F);
  sketch.shape({{.85F, .33F}, {1.0F, .39F}, {.85F, .42F}}, {.95F, .65F, .10F}, 0.01F);
  sketch.shape({{.38F, .50F}, {.62F, .48F}, {.30F, .76F}}, wing, 0.03F);
  sketch.disc({.77F, .35F}, .025F, .025F, {0, 0, 0});
  for (const float x : {.46F, .54F}) sketch.line({{x, .69F}, {x + .03F, .88F}}, 1.2F, {.3F, .2F, .1F}, 0.01F);
  return sketch.finish();
}

// Sitting and looking at the viewer: pointed ears, whiskers, a tail around the side.
std::string draw_cat(RandomStream& random) {
  ObjectSketch sketch(random, {Backdrop::room, Backdrop::room, Backdrop::perch, Backdrop::woods, Backdrop::road});
  const Ink coat = fur(random), marking = shaded(coat, .6F);
  const float tail_top = between(random, .42F, .66F);
  sketch.curve({{.66F, .92F}, {.90F, .90F}, {.97F, .74F}, {.90F, tail_top}}, 2.4F, marking, 0.02F);
  sketch.shape(smooth({{.50F, .40F},
                       {.68F, .56F},
                       {.76F, .82F},
                       {.70F, .98F},
                       {.30F, .98F},
                       {.24F, .82F},
                       {.32F, .56F},
                       {.50F, .40F}}),
               coat, 0.006F);
  const bool tabby = random.chance(0.5);
  if (tabby)
    for (const float y : {.66F, .76F, .86F})
      for (const float x : {.29F, .62F}) sketch.line({{x, y}, {x + .09F, y + .02F}}, 1, marking);
  sketch.line({{.43F, .76F}, {.43F, .97F}}, 1, marking);
  sketch.line({{.57F, .76F}, {.57F, .97F}}, 1, marking);
  for (const float side : {-1.0F, 1.0F}) {
    sketch.shape({{.5F + side * .26F, .26F}, {.5F + side * .25F, -.04F}, {.5F + side * .05F, .14F}}, coat);
    sketch.shape({{.5F + side * .22F, .20F}, {.5F + side * .215F, .06F}, {.5F + side * .12F, .15F}}, {.85F, .55F, .55F},
                 0.006F);
  }
  sketch.shape(circle({.5F, .30F}, .28F, .21F), coat, 0.006F);
  if (tabby)
    for (const float x : {.43F, .5F, .57F}) sketch.line({{x, .11F}, {x, .18F}}, 1, marking, 0.004F);
  const Ink iris = random_shade(random, {.45F, .70F, .15F}, {.95F, .80F, .20F});
  for (const float x : {.38F, .62F}) {
    sketch.disc({x, .28F}, .065F, .055F, iris);
    sketch.disc({x, .28F}, .022F, .05F, kBlack);
  }
  sketch.disc({.5F, .40F}, .06F, .045F, kWhite);
  sketch.disc({.5F, .37F}, .03F, .025F, {.85F, .40F, .42F});
  const Ink whisker = coat[0] > .5F ? Ink{.15F, .12F, .10F} : kWhite;
  for (const float side : {-1.0F, 1.0F})
    for (const float drop : {-.03F, .05F})
      sketch.line({{.5F + side * .12F, .40F}, {.5F + side * .40F, .41F + drop}}, .6F, whisker);
  return sketch.finish();
}

// Slender, with antlers and a white tail.
std::string draw_deer(RandomStream& random) {
  ObjectSketch sketch(random, {Backdrop::woods, Backdrop::perch, Backdrop::meadow, Backdrop::snow, Backdrop::shore});
  const Ink coat = random_shade(random, {.45F, .28F, .14F}, {.76F, .54F, .34F});
  const Ink antler = random_shade(random, {.55F, .45F, .32F}, {.92F, .86F, .74F});
  legs(sketch, {.60F, .26F, .52F, 1.3F}, coat, shaded(coat, .4F));
  sketch.shape(circle({.40F, .56F}, .25F, .115F), coat, 0.006F);
  sketch.shape({{.48F, .52F}, {.63F, .26F}, {.75F, .30F}, {.66F, .60F}, {.56F, .64F}}, coat);
  sketch.shape({{.62F, .26F}, {.70F, .22F}, {.80F, .26F}, {.93F, .36F}, {.90F, .41F}, {.70F, .38F}}, coat);
  sketch.shape({{.66F, .28F}, {.54F, .22F}, {.62F, .32F}}, shaded(coat, .7F));
  sketch.shape({{.19F, .48F}, {.09F, .44F}, {.12F, .58F}, {.19F, .58F}}, kWhite);
  const float lean = between(random, -.04F, .04F);
  sketch.curve({{.68F, .24F}, {.56F + lean, .12F}, {.58F + lean, -.04F}}, 1.2F, antler);
  sketch.line({{.58F + lean, .12F}, {.47F + lean, .04F}}, 1.1F, antler);
  sketch.curve({{.70F, .24F}, {.80F + lean, .12F}, {.76F + lean, -.04F}}, 1.2F, antler);
  sketch.line({{.79F + lean, .12F}, {.91F + lean, .04F}}, 1.1F, antler);
  sketch.disc({.77F, .29F}, .025F, .025F, kBlack);
  sketch.disc({.92F, .375F}, .025F, .022F, kBlack);
  if (random.chance(0.5))
    for (const float x : {.26F, .36F, .46F})
      sketch.disc({x, between(random, .48F, .56F)}, .022F, .022F, {.95F, .90F, .80F});
  return sketch.finish();
}

// Sturdy, with a square muzzle, a hanging ear, a collar and a raised tail.
std::string draw_dog(RandomStream& random) {
  ObjectSketch sketch(
      random, {Backdrop::meadow, Backdrop::meadow, Backdrop::room, Backdrop::sand, Backdrop::snow, Backdrop::road});
  const Ink coat = fur(random), ear = shaded(coat, .5F);
  const float wag = between(random, -.04F, .08F);
  sketch.curve({{.18F, .54F}, {.06F, .46F}, {wag, .26F}}, 2.4F, coat, 0.015F);
  legs(sketch, {.66F, .20F, .50F, 2.3F}, coat, coat);
  sketch.shape(smooth({{.12F, .58F},
                       {.20F, .49F},
                       {.46F, .52F},
                       {.64F, .46F},
                       {.70F, .60F},
                       {.60F, .76F},
                       {.40F, .72F},
                       {.20F, .74F},
                       {.12F, .58F}}),
               coat, 0.008F);
  sketch.shape({{.54F, .52F}, {.60F, .32F}, {.82F, .40F}, {.68F, .64F}}, coat);
  sketch.shape(circle({.72F, .32F}, .16F, .15F), coat, 0.006F);
  sketch.shape({{.80F, .27F}, {1, .33F}, {1.01F, .44F}, {.78F, .47F}}, coat, 0.01F);
  sketch.line({{.97F, .34F}, {1, .36F}}, 2, kBlack, 0.006F);
  sketch.line({{.86F, .42F}, {.99F, .42F}}, .8F, ear);
  sketch.shape(smooth({{.64F, .18F}, {.70F, .28F}, {.68F, .48F}, {.58F, .50F}, {.55F, .34F}, {.64F, .18F}}), ear,
               0.01F);
  sketch.disc({.80F, .27F}, .028F, .028F, kBlack);
  sketch.line({{.56F, .50F}, {.74F, .56F}}, 1.3F, random_ink(random, {.5F, .05F, .05F}, {1, .4F, .9F}));
  if (random.chance(0.4)) {
    const float x = between(random, .25F, .45F);
    sketch.shape(circle({x, .60F}, .09F, .07F), ear, 0.01F);
  }
  return sketch.finish();
}

// Squatting and looking at the viewer: eyes on top of the head, a wide mouth, folded hind legs.
std::string draw_frog(RandomStream& random) {
  ObjectSketch sketch(
      random, {Backdrop::shore, Backdrop::shore, Backdrop::woods, Backdrop::perch, Backdrop::sand, Backdrop::sea});
  const Ink skin = random.chance(0.75) ? random_shade(random, {.15F, .38F, .08F}, {.50F, .80F, .25F})
                                       : random_shade(random, {.40F, .30F, .12F}, {.75F, .55F, .25F});
  const Ink dark = shaded(skin, .6F), belly = shaded(skin, 1.6F);
  for (const float side : {-1.0F, 1.0F}) {
    sketch.shape(circle({.5F + side * .33F, .72F}, .15F, .19F), dark, 0.01F);
    sketch.line({{.5F + side * .32F, .90F}, {.5F + side * .52F, .93F}}, 2.2F, dark);
    sketch.disc({.5F + side * .20F, .26F}, .115F, .115F, skin);
  }
  sketch.shape(circle({.5F, .66F}, .29F, .26F), skin, 0.006F);
  sketch.shape(circle({.5F, .46F}, .35F, .20F), skin, 0.006F);
  sketch.shape(circle({.5F, .74F}, .18F, .16F), belly, 0.006F);
  for (const float side : {-1.0F, 1.0F}) {
    sketch.line({{.5F + side * .19F, .68F}, {.5F + side * .17F, .92F}, {.5F + side * .26F, .95F}}, 1.9F, dark);
    sketch.disc({.5F + side * .20F, .25F}, .075F, .075F, {.95F, .88F, .45F});
    sketch.disc({.5F + side * .20F, .25F}, .04F, .04F, kBlack);
  }
  const float smile = between(random, .54F, .60F);
  sketch.curve({{.20F, .48F}, {.36F, smile}, {.5F, smile + .01F}, {.64F, smile}, {.80F, .48F}}, 1.1F,
               shaded(skin, .3F));
  if (random.chance(0.5))
    for (int i = 0; i < 4; ++i) {
      const float x = between(random, .28F, .72F), y = between(random, .36F, .44F);
      sketch.disc({x, y}, .03F, .025F, dark);
    }
  return sketch.finish();
}

// Tall, with a mane, a long head and a long tail.
std::string draw_horse(RandomStream& random) {
  ObjectSketch sketch(random, {Backdrop::meadow, Backdrop::meadow, Backdrop::sand, Backdrop::woods, Backdrop::snow});
  const Ink coat = fur(random);
  const Ink mane = random.chance(0.7) ? shaded(coat, .4F) : Ink{.92F, .86F, .72F};
  legs(sketch, {.58F, .20F, .54F, 1.9F}, coat, kBlack);
  sketch.shape(smooth({{.12F, .48F},
                       {.22F, .38F},
                       {.40F, .42F},
                       {.60F, .38F},
                       {.70F, .50F},
                       {.62F, .64F},
                       {.40F, .64F},
                       {.18F, .62F},
                       {.12F, .48F}}),
               coat, 0.008F);
  const float drop = between(random, -.03F, .10F);
  sketch.shape({{.50F, .42F}, {.68F, .10F + drop}, {.82F, .18F + drop}, {.72F, .54F}, {.60F, .58F}}, coat);
  sketch.shape({{.67F, .08F + drop},
                {.78F, .06F + drop},
                {1, .32F + drop},
                {.95F, .40F + drop},
                {.86F, .36F + drop},
                {.74F, .28F + drop}},
               coat);
  sketch.shape({{.70F, .10F + drop}, {.71F, -.03F + drop}, {.78F, .08F + drop}}, coat, 0.006F);
  sketch.curve({{.71F, .06F + drop}, {.60F, .20F + drop}, {.50F, .40F}}, 2.6F, mane);
  sketch.curve({{.14F, .44F}, {.03F, .50F}, {.02F, .68F}, {.05F, .84F}}, 2.6F, mane, 0.02F);
  sketch.disc({.82F, .19F + drop}, .025F, .025F, kBlack);
  if (random.chance(0.3)) sketch.line({{.85F, .14F + drop}, {.94F, .27F + drop}}, 1, kWhite);
  return sketch.finish();
}

}  // namespace eureka
