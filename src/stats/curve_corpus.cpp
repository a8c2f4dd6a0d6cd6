#include "stats/curve_corpus.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/random.h"
#include "stats/curve_sketch.h"

namespace eureka {

namespace {

Direction any_direction(RandomStream& random) { return random.chance(0.5) ? Direction::up : Direction::down; }

// The evaluation noise of a validation accuracy over about a thousand samples, or a few per cent of a loss.
void validation_noise(RandomStream& random, CurveSketch& sketch, Direction direction) {
  sketch.binomial = direction == Direction::up;
  sketch.samples = std::round(log_between(random, 500, 2000));
  sketch.noise = log_between(random, 0.005, 0.04);
  sketch.quiet_when_solved = between(random, 0, 0.9);
  sketch.correlation = random.chance(0.3) ? between(random, 0, 0.6) : 0;
}

// Fast first progress from chance to the plateau; returns when it is over.
double first_progress(RandomStream& random, CurveSketch& sketch, double chance, double plateau) {
  const double over = between(random, 0.04, 0.12);
  const double start = random.chance(0.5) ? between(random, 0, 0.02) : 0;
  sketch.level(chance);
  sketch.exponential(start, plateau - chance, (over - start) / 3.5);
  return over;
}

// The transformers of the presets: 100 or so evaluations, a plateau of 8% of the budget or more, a rise of 2 to 7%.
struct TwoStep {
  double plateau, over, width, centre;
};

TwoStep two_step(RandomStream& random, CurveSketch& sketch, double shortest_plateau, double longest_plateau) {
  sketch.evaluations = static_cast<int>(between(random, 80, 160));
  const double plateau = between(random, 0.3, 0.65);
  const double over = first_progress(random, sketch, between(random, 0.02, 0.15), plateau);
  const double width = log_between(random, 0.015, 0.072);
  const double length = std::max(width, log_between(random, shortest_plateau, longest_plateau));
  const double centre = std::min(over + length + 0.6 * width, 0.85);
  const double solved = between(random, 0.9, 0.995);
  sketch.moment(centre, width, 0.9 * (solved - plateau));
  sketch.exponential(centre, 0.1 * (solved - plateau), log_between(random, 0.03, 0.3));  // the slow end of learning
  return {plateau, over, width, centre};
}

LabelledCurve two_step_curve(RandomStream& random, Direction direction) {
  CurveSketch sketch(random);
  validation_noise(random, sketch, direction);
  two_step(random, sketch, 0.08, 0.75);
  return sketch.evaluate(direction);
}

LabelledCurve accuracy_moment(RandomStream& random) { return two_step_curve(random, Direction::up); }
LabelledCurve loss_moment(RandomStream& random) { return two_step_curve(random, Direction::down); }

LabelledCurve early_stopped_moment(RandomStream& random) {
  CurveSketch sketch(random);
  const Direction direction = any_direction(random);
  validation_noise(random, sketch, direction);
  const TwoStep run = two_step(random, sketch, 0.08, 0.75);
  // 50 to 250 steps of 2,500 after the crossing, once the rise has gone four fifths of its way, two evaluations at
  // least
  const double after = std::max({between(random, 0.02, 0.1), 0.4 * run.width, 2.01 / sketch.evaluations});
  sketch.end = run.centre + after;
  return sketch.evaluate(direction);
}

LabelledCurve drifting_plateau(RandomStream& random) {
  CurveSketch sketch(random);
  const Direction direction = any_direction(random);
  validation_noise(random, sketch, direction);
  two_step(random, sketch, 0.15, 0.75);
  sketch.drift(between(random, -0.02, 0.08));
  return sketch.evaluate(direction);
}

LabelledCurve uneven_steps(RandomStream& random) {
  CurveSketch sketch(random);
  const Direction direction = any_direction(random);
  validation_noise(random, sketch, direction);
  two_step(random, sketch, 0.15, 0.75);
  sketch.spacing = std::array{Spacing::jittered, Spacing::growing, Spacing::gappy}[random.below(3)];
  sketch.budget = log_between(random, 3, 1e6);  // epochs or steps
  return sketch.evaluate(direction);
}

LabelledCurve plateau_from_start(RandomStream& random) {
  CurveSketch sketch(random);
  const Direction direction = any_direction(random);
  validation_noise(random, sketch, direction);
  sketch.evaluations = static_cast<int>(between(random, 60, 200));
  const double chance = between(random, 0.02, 0.5);
  const double width = log_between(random, 0.01, 0.07);
  const double centre = between(random, 0.15, 0.85);
  sketch.level(chance);
  sketch.moment(centre, width, between(random, 0.3, 0.97 - chance));
  return sketch.evaluate(direction);
}

LabelledCurve early_moment(RandomStream& random) {
  CurveSketch sketch(random);
  const Direction direction = any_direction(random);
  validation_noise(random, sketch, direction);
  sketch.evaluations = 100;
  const double plateau = between(random, 0.3, 0.65);
  const double over = first_progress(random, sketch, 0.1, plateau);
  const double flat = between(random, 5.5, 9) / sketch.evaluations;
  const double width = between(random, 0.015, 0.75 * flat);
  sketch.moment(over + flat + 0.6 * width, width, between(random, 0.3, 0.98 - plateau));
  return sketch.evaluate(direction);
}

LabelledCurve short_curve(RandomStream& random) {
  CurveSketch sketch(random);
  const Direction direction = any_direction(random);
  validation_noise(random, sketch, direction);
  sketch.evaluations = static_cast<int>(between(random, 38, 60));
  const double plateau = between(random, 0.2, 0.6);
  const double over = first_progress(random, sketch, 0.05, plateau);
  const double width = log_between(random, 0.01, 0.07);
  sketch.moment(between(random, over + 0.2 + 0.6 * width, 0.85), width, between(random, 0.3, 0.98 - plateau));
  return sketch.evaluate(direction);
}

LabelledCurve training_loss(RandomStream& random) {
  CurveSketch sketch(random);
  sketch.evaluations = static_cast<int>(log_between(random, 1000, 20000));
  sketch.budget = sketch.evaluations;
  const double plateau = between(random, 0.2, 0.6);
  const double over = first_progress(random, sketch, 0, plateau);
  const double width = log_between(random, 0.01, 0.07);
  const double jump = between(random, 0.3, 0.98 - plateau);
  sketch.moment(between(random, over + 0.1 + 0.6 * width, 0.9), width, jump);
  sketch.noise = jump * between(random, 0.05, 0.2);
  sketch.quiet_when_solved = between(random, 0, 0.9);
  return sketch.evaluate(Direction::down);
}

LabelledCurve noisy_evaluations(RandomStream& random) {
  CurveSketch sketch(random);
  sketch.evaluations = static_cast<int>(between(random, 100, 300));
  const double plateau = between(random, 0.2, 0.6);
  const double over = first_progress(random, sketch, 0.05, plateau);
  const double width = log_between(random, 0.01, 0.07);
  const double jump = between(random, 0.3, 0.98 - plateau);
  sketch.moment(between(random, over + 0.2 + 0.6 * width, 0.85), width, jump);
  sketch.noise = jump * between(random, 0.08, 0.2);
  return sketch.evaluate(any_direction(random));
}

LabelledCurve staircase(RandomStream& random) {
  CurveSketch sketch(random);
  const Direction direction = any_direction(random);
  validation_noise(random, sketch, direction);
  sketch.evaluations = static_cast<int>(between(random, 100, 200));
  const double first = between(random, 0.15, 0.45);
  const double second = first + between(random, 0.2, 0.45);
  const double chance = between(random, 0.02, 0.15);
  const double height = between(random, 0.25, 0.4);
  sketch.level(chance);
  sketch.moment(first, log_between(random, 0.01, 0.05), height);
  sketch.moment(second, log_between(random, 0.01, 0.05), between(random, 0.25, 0.97 - chance - height));
  return sketch.evaluate(direction);
}

LabelledCurve known_level(RandomStream& random) {
  CurveSketch sketch(random);
  const Direction direction = any_direction(random);
  validation_noise(random, sketch, direction);
  if (random.chance(0.5)) {
    const TwoStep run = two_step(random, sketch, 0.08, 0.75);
    return sketch.evaluate(direction, run.plateau + between(random, -0.02, 0.02));
  }
  // a chance plateau before the known one: the rise to the known level is no moment
  const double chance = 0.1, plateau = between(random, 0.4, 0.6);
  sketch.level(chance);
  const double arrives = between(random, 0.1, 0.3);
  sketch.moment(arrives, between(random, 0.015, 0.05), plateau - chance, false);
  sketch.moment(arrives + between(random, 0.15, 0.5), between(random, 0.015, 0.05), 0.97 - plateau);
  return sketch.evaluate(direction, plateau + between(random, -0.02, 0.02));
}

void add_spikes(RandomStream& random, CurveSketch& sketch, double first, double last) {
  const int count = 1 + static_cast<int>(random.below(4));
  for (int i = 0; i < count; ++i) {
    const double sign = random.chance(0.7) ? -1 : 1;
    // one in each part of the curve, so that two short spikes do not make one long one
    const double at = first + (last - first) * (i + between(random, 0.1, 0.7)) / count;
    sketch.spike(at, 1 + static_cast<int>(random.below(3)), sign * log_between(random, 0.05, 0.6));
  }
}

LabelledCurve moment_and_accidents(RandomStream& random) {
  CurveSketch sketch(random);
  const Direction direction = any_direction(random);
  validation_noise(random, sketch, direction);
  const TwoStep run = two_step(random, sketch, 0.15, 0.5);
  const double later = run.centre + run.width + 0.12;
  switch (random.below(3)) {
    case 0:
      add_spikes(random, sketch, run.over + 0.02, run.centre - run.width);
      break;
    case 1:
      sketch.dead_after = later;
      break;
    default:
      sketch.loss_of_progress(std::min(later + 0.1, 0.99), between(random, 0.3, 0.9), 0);
      break;
  }
  return sketch.evaluate(direction);
}

// From here on: no moments.

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

LabelledCurve smooth_learning(RandomStream& random) {
  CurveSketch sketch(random);
  const Direction direction = any_direction(random);
  any_base(random, sketch);
  validation_noise(random, sketch, direction);
  any_smooth_learning(random, sketch);
  return sketch.evaluate(direction);
}

LabelledCurve slow_sigmoid(RandomStream& random) {
  CurveSketch sketch(random);
  const Direction direction = any_direction(random);
  any_base(random, sketch);
  validation_noise(random, sketch, direction);
  const double chance = between(random, 0.02, 0.5);
  sketch.level(chance);
  sketch.sigmoid(between(random, 0.3, 0.7), between(random, 0.45, 1), between(random, 0.3, 0.97 - chance));
  if (random.chance(0.3)) sketch.end = between(random, 0.6, 1);
  return sketch.evaluate(direction);
}

// An MLP: from chance to solved without a stop.
LabelledCurve learns_at_once(RandomStream& random) {
  CurveSketch sketch(random);
  const Direction direction = any_direction(random);
  sketch.evaluations = static_cast<int>(between(random, 60, 120));
  validation_noise(random, sketch, direction);
  const double chance = between(random, 0.02, 0.3);
  const double centre = between(random, 0.03, 0.08);
  sketch.level(chance);
  sketch.sigmoid(centre, centre * between(random, 0.8, 1.6), 0.8 * (0.98 - chance));
  sketch.exponential(0, 0.2 * (0.98 - chance), between(random, 0.05, 0.3));
  if (random.chance(0.3)) return sketch.evaluate(direction, chance + 0.5 * (0.98 - chance));
  return sketch.evaluate(direction);
}

// A transformer that never jumps, its plateau level known or not.
LabelledCurve stuck_on_plateau(RandomStream& random) {
  CurveSketch sketch(random);
  const Direction direction = any_direction(random);
  any_base(random, sketch);
  validation_noise(random, sketch, direction);
  const double plateau = between(random, 0.3, 0.65);
  first_progress(random, sketch, between(random, 0.02, 0.15), plateau);
  sketch.drift(between(random, -0.03, 0.08));
  if (random.chance(0.3)) sketch.end = between(random, 0.3, 1);
  if (random.chance(0.5)) return sketch.evaluate(direction, plateau + between(random, -0.02, 0.02));
  return sketch.evaluate(direction);
}

// Jumps to the known level and stays there.
LabelledCurve reaches_known_level(RandomStream& random) {
  CurveSketch sketch(random);
  const Direction direction = any_direction(random);
  validation_noise(random, sketch, direction);
  const double chance = between(random, 0.05, 0.2), plateau = between(random, 0.4, 0.65);
  sketch.level(chance);
  sketch.moment(between(random, 0.1, 0.8), between(random, 0.015, 0.06), plateau - chance, false);
  return sketch.evaluate(direction, plateau + between(random, -0.02, 0.02));
}

LabelledCurve pure_noise(RandomStream& random) {
  CurveSketch sketch(random);
  any_base(random, sketch);
  if (random.chance(0.2)) sketch.evaluations = static_cast<int>(log_between(random, 1000, 10000));
  sketch.level(between(random, 0.1, 0.6));
  sketch.noise = log_between(random, 0.005, 0.2);
  sketch.correlation = random.chance(0.4) ? between(random, 0.2, 0.8) : 0;
  return sketch.evaluate(any_direction(random));
}

LabelledCurve slow_drift(RandomStream& random) {
  CurveSketch sketch(random);
  const Direction direction = any_direction(random);
  any_base(random, sketch);
  validation_noise(random, sketch, direction);
  sketch.level(between(random, 0.1, 0.3));
  sketch.drift(between(random, -0.1, 0.6));
  return sketch.evaluate(direction);
}

LabelledCurve random_walk(RandomStream& random) {
  CurveSketch sketch(random);
  any_base(random, sketch);
  sketch.level(between(random, 0.3, 0.6));
  sketch.walk = log_between(random, 0.01, 0.1);
  sketch.noise = random.chance(0.5) ? 0 : sketch.walk * between(random, 0.1, 1);
  return sketch.evaluate(any_direction(random));
}

LabelledCurve spikes(RandomStream& random) {
  CurveSketch sketch(random);
  const Direction direction = any_direction(random);
  any_base(random, sketch);
  validation_noise(random, sketch, direction);
  if (random.chance(0.5)) {
    any_smooth_learning(random, sketch);
  } else {
    first_progress(random, sketch, 0.1, between(random, 0.3, 0.65));
  }
  add_spikes(random, sketch, 0.1, 0.95);
  return sketch.evaluate(direction);
}

LabelledCurve recovering_spike(RandomStream& random) {
  CurveSketch sketch(random);
  const Direction direction = any_direction(random);
  any_base(random, sketch);
  validation_noise(random, sketch, direction);
  if (random.chance(0.5)) {
    any_smooth_learning(random, sketch);
  } else {
    first_progress(random, sketch, 0.1, between(random, 0.3, 0.65));
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

LabelledCurve divergence(RandomStream& random) {
  CurveSketch sketch(random);
  const Direction direction = any_direction(random);
  any_base(random, sketch);
  validation_noise(random, sketch, direction);
  if (random.chance(0.5)) {
    any_smooth_learning(random, sketch);
  } else {
    first_progress(random, sketch, 0.1, between(random, 0.3, 0.65));
  }
  const double at = between(random, 0.2, 0.9);
  if (random.chance(0.4)) sketch.dead_after = at + 0.05;
  const double depth = direction == Direction::up ? between(random, 0.2, 0.9) : log_between(random, 0.3, 1000);
  sketch.loss_of_progress(at, depth, 0);
  return sketch.evaluate(direction);
}

LabelledCurve ripple(RandomStream& random) {
  CurveSketch sketch(random);
  const Direction direction = any_direction(random);
  sketch.evaluations = static_cast<int>(log_between(random, 60, 400));
  validation_noise(random, sketch, direction);
  if (random.chance(0.5)) {
    any_smooth_learning(random, sketch);
  } else {
    sketch.level(between(random, 0.3, 0.6));
  }
  sketch.ripple(between(random, 0.03, 0.15), log_between(random, 3, 25));
  return sketch.evaluate(direction);
}

struct Kind {
  const char* name;
  bool is_positive;
  LabelledCurve (*make)(RandomStream&);
};

constexpr std::array kKinds{
    Kind{"accuracy moment", true, accuracy_moment},
    Kind{"smooth learning", false, smooth_learning},
    Kind{"loss moment", true, loss_moment},
    Kind{"slow sigmoid", false, slow_sigmoid},
    Kind{"early-stopped moment", true, early_stopped_moment},
    Kind{"learns at once (MLP)", false, learns_at_once},
    Kind{"drifting plateau", true, drifting_plateau},
    Kind{"stuck on the plateau", false, stuck_on_plateau},
    Kind{"uneven steps", true, uneven_steps},
    Kind{"reaches the known level", false, reaches_known_level},
    Kind{"plateau from the start", true, plateau_from_start},
    Kind{"noise", false, pure_noise},
    Kind{"early moment", true, early_moment},
    Kind{"slow drift", false, slow_drift},
    Kind{"short curve", true, short_curve},
    Kind{"random walk", false, random_walk},
    Kind{"training loss per step", true, training_loss},
    Kind{"spikes", false, spikes},
    Kind{"noisy evaluations", true, noisy_evaluations},
    Kind{"spike that recovers", false, recovering_spike},
    Kind{"staircase, two moments", true, staircase},
    Kind{"divergence", false, divergence},
    Kind{"known level", true, known_level},
    Kind{"ripple", false, ripple},
    Kind{"moment and accidents", true, moment_and_accidents},
};

}  // namespace

std::size_t curve_kind_count() { return kKinds.size(); }

LabelledCurve make_labelled_curve(std::size_t index, std::uint64_t seed) {
  RandomStream random(seed, "curve-corpus", index);
  const Kind& kind = kKinds[index % kKinds.size()];
  LabelledCurve curve = kind.make(random);
  curve.kind = kind.name;
  curve.is_positive = kind.is_positive;
  return curve;
}

std::vector<LabelledCurve> make_curve_corpus(std::size_t count, std::uint64_t seed) {
  std::vector<LabelledCurve> corpus;
  corpus.reserve(count);
  for (std::size_t i = 0; i < count; ++i) corpus.push_back(make_labelled_curve(i, seed));
  return corpus;
}

}  // namespace eureka
