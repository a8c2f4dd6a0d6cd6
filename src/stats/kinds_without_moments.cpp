#include <algorithm>
#include <array>
#include <cmath>

#include "stats/curve_kinds.h"

namespace eureka {

namespace {

void any_base(RandomStream& random, CurveSketch& sketch) {
  sketch.evaluations = static_cast<int>(log_between(random, 40, 400));
  if (random.chance(0.2)) sketch.spacing = static_cast<Spacing>(random.below(4));
}

void any_smooth_learning(RandomStream& random, CurveSketch& sketch) {
  const double chance = between(random, 0.02, 0.3);
  const double height = between(random, 0.3, 0.97 - chance);
  sketch.level(chance);
  if (random.chance(0.5)) {
    sketch.exponential(0, height, log_between(random, 0.04, 0.6));
  } else {
    sketch.power_law(height, log_between(random, 0.005, 0.3), between(random, 0.3, 2));
  }
}

LabeledCurve smooth_learning(RandomStream& random) {
  CurveSketch sketch(random);
  const Direction direction = any_direction(random);
  any_base(random, sketch);
  add_validation_noise(random, sketch, direction);
  any_smooth_learning(random, sketch);
  return sketch.evaluate(direction);
}

LabeledCurve slow_sigmoid(RandomStream& random) {
  CurveSketch sketch(random);
  const Direction direction = any_direction(random);
  any_base(random, sketch);
  add_validation_noise(random, sketch, direction);
  const double chance = between(random, 0.02, 0.5);
  sketch.level(chance);
  sketch.sigmoid(between(random, 0.3, 0.7), between(random, 0.45, 1), between(random, 0.3, 0.97 - chance));
  if (random.chance(0.3)) sketch.end = between(random, 0.6, 1);
  return sketch.evaluate(direction);
}

// An MLP: from chance to solved without a stop.
LabeledCurve learns_at_once(RandomStream& random) {
  CurveSketch sketch(random);
  const Direction direction = any_direction(random);
  sketch.evaluations = static_cast<int>(between(random, 60, 120));
  add_validation_noise(random, sketch, direction);
  const double chance = between(random, 0.02, 0.3);
  const double center = between(random, 0.03, 0.08);
  sketch.level(chance);
  sketch.sigmoid(center, center * between(random, 0.8, 1.6), 0.8 * (0.98 - chance));
  sketch.exponential(0, 0.2 * (0.98 - chance), between(random, 0.05, 0.3));
  if (random.chance(0.3)) return sketch.evaluate(direction, chance + 0.5 * (0.98 - chance));
  return sketch.evaluate(direction);
}

// An MLP as measured on two-step: two to four evaluations near the known level on its way up. A breath, not a plateau.
LabeledCurve pauses_on_the_level(RandomStream& random) {
  CurveSketch sketch(random);
  const Direction direction = any_direction(random);
  sketch.evaluations = static_cast<int>(between(random, 95, 105));
  add_validation_noise(random, sketch, direction);
  const double chance = between(random, 0.05, 0.15), level = between(random, 0.5, 0.6);
  sketch.level(chance);
  sketch.exponential(0, level - chance, between(random, 0.003, 0.006));
  sketch.moment(between(random, 0.038, 0.05), between(random, 0.015, 0.025), 0.99 - level, /*labeled=*/false);
  if (random.chance(0.7)) return sketch.evaluate(direction, level + between(random, -0.01, 0.01));
  return sketch.evaluate(direction);
}

// A transformer that never jumps, its plateau level known or not.
LabeledCurve stuck_on_plateau(RandomStream& random) {
  CurveSketch sketch(random);
  const Direction direction = any_direction(random);
  any_base(random, sketch);
  add_validation_noise(random, sketch, direction);
  const double plateau = between(random, 0.3, 0.65);
  add_first_progress(random, sketch, between(random, 0.02, 0.15), plateau);
  sketch.drift(between(random, -0.03, 0.08));
  if (random.chance(0.3)) sketch.end = between(random, 0.3, 1);
  if (random.chance(0.5)) return sketch.evaluate(direction, plateau + between(random, -0.02, 0.02));
  return sketch.evaluate(direction);
}

// Jumps to the known level and stays there.
LabeledCurve reaches_known_level(RandomStream& random) {
  CurveSketch sketch(random);
  const Direction direction = any_direction(random);
  add_validation_noise(random, sketch, direction);
  const double chance = between(random, 0.05, 0.2), plateau = between(random, 0.4, 0.65);
  sketch.level(chance);
  sketch.moment(between(random, 0.1, 0.8), between(random, 0.015, 0.06), plateau - chance, false);
  return sketch.evaluate(direction, plateau + between(random, -0.02, 0.02));
}

LabeledCurve pure_noise(RandomStream& random) {
  CurveSketch sketch(random);
  any_base(random, sketch);
  if (random.chance(0.2)) sketch.evaluations = static_cast<int>(log_between(random, 1000, 10000));
  sketch.level(between(random, 0.1, 0.6));
  sketch.noise = log_between(random, 0.005, 0.2);
  sketch.correlation = random.chance(0.4) ? between(random, 0.2, 0.8) : 0;
  return sketch.evaluate(any_direction(random));
}

LabeledCurve slow_drift(RandomStream& random) {
  CurveSketch sketch(random);
  const Direction direction = any_direction(random);
  any_base(random, sketch);
  add_validation_noise(random, sketch, direction);
  sketch.level(between(random, 0.1, 0.3));
  sketch.drift(between(random, -0.1, 0.6));
  return sketch.evaluate(direction);
}

LabeledCurve random_walk(RandomStream& random) {
  CurveSketch sketch(random);
  any_base(random, sketch);
  sketch.level(between(random, 0.3, 0.6));
  sketch.walk = log_between(random, 0.01, 0.1);
  sketch.noise = random.chance(0.5) ? 0 : sketch.walk * between(random, 0.1, 1);
  return sketch.evaluate(any_direction(random));
}

LabeledCurve spikes(RandomStream& random) {
  CurveSketch sketch(random);
  const Direction direction = any_direction(random);
  any_base(random, sketch);
  add_validation_noise(random, sketch, direction);
  if (random.chance(0.5)) {
    any_smooth_learning(random, sketch);
  } else {
    add_first_progress(random, sketch, 0.1, between(random, 0.3, 0.65));
  }
  add_spikes(random, sketch, 0.1, 0.95);
  return sketch.evaluate(direction);
}

LabeledCurve recovering_spike(RandomStream& random) {
  CurveSketch sketch(random);
  const Direction direction = any_direction(random);
  any_base(random, sketch);
  add_validation_noise(random, sketch, direction);
  if (random.chance(0.5)) {
    any_smooth_learning(random, sketch);
  } else {
    add_first_progress(random, sketch, 0.1, between(random, 0.3, 0.65));
  }
  const double at = between(random, 0.2, 0.7), height = between(random, 0.1, 0.4);
  if (random.chance(0.5)) {
    sketch.loss_of_progress(at, height, log_between(random, 0.01, 0.1));
  } else {  // down, a stay there, and back up at once
    sketch.loss_of_progress(at, height, 0);
    sketch.moment(at + between(random, 0.08, 0.25), between(random, 0.01, 0.04), height, false);
  }
  return sketch.evaluate(direction);
}

LabeledCurve divergence(RandomStream& random) {
  CurveSketch sketch(random);
  const Direction direction = any_direction(random);
  any_base(random, sketch);
  add_validation_noise(random, sketch, direction);
  if (random.chance(0.5)) {
    any_smooth_learning(random, sketch);
  } else {
    add_first_progress(random, sketch, 0.1, between(random, 0.3, 0.65));
  }
  const double at = between(random, 0.2, 0.9);
  if (random.chance(0.4)) sketch.dead_after = at + 0.05;
  const double depth = direction == Direction::up ? between(random, 0.2, 0.9) : log_between(random, 0.3, 1000);
  sketch.loss_of_progress(at, depth, 0);
  return sketch.evaluate(direction);
}

LabeledCurve ripple(RandomStream& random) {
  CurveSketch sketch(random);
  const Direction direction = any_direction(random);
  sketch.evaluations = static_cast<int>(log_between(random, 60, 400));
  add_validation_noise(random, sketch, direction);
  if (random.chance(0.5)) {
    any_smooth_learning(random, sketch);
  } else {
    sketch.level(between(random, 0.3, 0.6));
  }
  sketch.ripple(between(random, 0.03, 0.15), log_between(random, 3, 25));
  return sketch.evaluate(direction);
}

// A dozen evaluations or two of learning without a plateau, or of a plateau without a rise.
LabeledCurve short_log(RandomStream& random) {
  CurveSketch sketch(random);
  const Direction direction = any_direction(random);
  add_validation_noise(random, sketch, direction);
  sketch.evaluations = static_cast<int>(between(random, 12, 21));
  if (random.chance(0.6)) {
    any_smooth_learning(random, sketch);
  } else {
    add_first_progress(random, sketch, 0.1, between(random, 0.3, 0.65));
  }
  return sketch.evaluate(direction);
}

// The log ends when a fifth to two fifths of a sudden rise are done.
LabeledCurve under_way(RandomStream& random) {
  CurveSketch sketch(random);
  const Direction direction = any_direction(random);
  sketch.noise = log_between(random, 0.002, 0.01);  // much less than what is seen of the rise
  sketch.evaluations = static_cast<int>(log_between(random, 20, 120));
  const double plateau = between(random, 0.3, 0.6);
  const double over = add_first_progress(random, sketch, between(random, 0.02, 0.15), plateau);
  const double last = std::floor(between(random, over + 0.4, 0.95) * sketch.evaluations) / sketch.evaluations;
  const double width = between(random, 0.02, 0.15);
  sketch.moment(last + between(random, 0.1, 0.3) * width, width, between(random, 0.35, 0.98 - plateau),
                /*labeled=*/false);
  sketch.end = last + 1e-6;
  LabeledCurve curve = sketch.evaluate(direction);
  curve.ending = Ending::before_half_way;
  return curve;
}

constexpr std::array kKinds{
    CurveKind{"smooth learning", smooth_learning},
    CurveKind{"slow sigmoid", slow_sigmoid},
    CurveKind{"learns at once (MLP)", learns_at_once},
    CurveKind{"pauses on the level (MLP)", pauses_on_the_level},
    CurveKind{"stuck on the plateau", stuck_on_plateau},
    CurveKind{"reaches the known level", reaches_known_level},
    CurveKind{"noise", pure_noise},
    CurveKind{"slow drift", slow_drift},
    CurveKind{"random walk", random_walk},
    CurveKind{"spikes", spikes},
    CurveKind{"spike that recovers", recovering_spike},
    CurveKind{"divergence", divergence},
    CurveKind{"ripple", ripple},
    CurveKind{"short log", short_log},
    CurveKind{"rise under way", under_way},
};

}  // namespace

std::span<const CurveKind> kinds_without_moments() { return kKinds; }

}  // namespace eureka
