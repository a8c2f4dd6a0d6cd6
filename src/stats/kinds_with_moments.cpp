#include <algorithm>
#include <array>
#include <cmath>

#include "stats/curve_kinds.h"

namespace eureka {

namespace {

// The transformers of the presets: 100 or so evaluations, a plateau of 8% of the budget or more, a rise of 2 to 7%.
struct TwoStep {
  double plateau, over, width, center;
};

TwoStep two_step(RandomStream& random, CurveSketch& sketch, double shortest_plateau, double longest_plateau) {
  sketch.evaluations = static_cast<int>(between(random, 80, 160));
  const double plateau = between(random, 0.3, 0.65);
  const double over = add_first_progress(random, sketch, between(random, 0.02, 0.15), plateau);
  const double width = log_between(random, 0.015, 0.072);
  const double length = std::max(width, log_between(random, shortest_plateau, longest_plateau));
  const double center = std::min(over + length + 0.6 * width, 0.85);
  const double solved = between(random, 0.9, 0.995);
  sketch.moment(center, width, 0.9 * (solved - plateau));
  sketch.exponential(center, 0.1 * (solved - plateau), log_between(random, 0.03, 0.3));  // the slow end of learning
  return {plateau, over, width, center};
}

LabeledCurve two_step_curve(RandomStream& random, Direction direction) {
  CurveSketch sketch(random);
  add_validation_noise(random, sketch, direction);
  two_step(random, sketch, 0.08, 0.75);
  return sketch.evaluate(direction);
}

LabeledCurve accuracy_moment(RandomStream& random) { return two_step_curve(random, Direction::up); }
LabeledCurve loss_moment(RandomStream& random) { return two_step_curve(random, Direction::down); }

LabeledCurve early_stopped_moment(RandomStream& random) {
  CurveSketch sketch(random);
  const Direction direction = any_direction(random);
  add_validation_noise(random, sketch, direction);
  const TwoStep run = two_step(random, sketch, 0.08, 0.75);
  // 50 to 250 steps of 2,500 after the crossing, once the rise has gone four fifths of its way, two evaluations at
  // least
  const double after = std::max({between(random, 0.02, 0.1), 0.4 * run.width, 2.01 / sketch.evaluations});
  sketch.end = run.center + after;
  return sketch.evaluate(direction);
}

LabeledCurve drifting_plateau(RandomStream& random) {
  CurveSketch sketch(random);
  const Direction direction = any_direction(random);
  add_validation_noise(random, sketch, direction);
  two_step(random, sketch, 0.15, 0.75);
  sketch.drift(between(random, -0.02, 0.08));
  return sketch.evaluate(direction);
}

LabeledCurve uneven_steps(RandomStream& random) {
  CurveSketch sketch(random);
  const Direction direction = any_direction(random);
  add_validation_noise(random, sketch, direction);
  two_step(random, sketch, 0.15, 0.75);
  sketch.spacing = std::array{Spacing::jittered, Spacing::growing, Spacing::gappy}[random.below(3)];
  sketch.budget = log_between(random, 3, 1e6);  // epochs or steps
  return sketch.evaluate(direction);
}

LabeledCurve plateau_from_start(RandomStream& random) {
  CurveSketch sketch(random);
  const Direction direction = any_direction(random);
  add_validation_noise(random, sketch, direction);
  sketch.evaluations = static_cast<int>(between(random, 60, 200));
  const double chance = between(random, 0.02, 0.5);
  const double width = log_between(random, 0.01, 0.07);
  const double center = between(random, 0.15, 0.85);
  sketch.level(chance);
  sketch.moment(center, width, between(random, 0.3, 0.97 - chance));
  return sketch.evaluate(direction);
}

LabeledCurve early_moment(RandomStream& random) {
  CurveSketch sketch(random);
  const Direction direction = any_direction(random);
  add_validation_noise(random, sketch, direction);
  sketch.evaluations = 100;
  const double plateau = between(random, 0.3, 0.65);
  const double over = add_first_progress(random, sketch, 0.1, plateau);
  const double flat = between(random, 5.5, 9) / sketch.evaluations;
  const double width = between(random, 0.015, 0.75 * flat);
  sketch.moment(over + flat + 0.6 * width, width, between(random, 0.3, 0.98 - plateau));
  return sketch.evaluate(direction);
}

LabeledCurve short_curve(RandomStream& random) {
  CurveSketch sketch(random);
  const Direction direction = any_direction(random);
  add_validation_noise(random, sketch, direction);
  sketch.evaluations = static_cast<int>(between(random, 38, 60));
  const double plateau = between(random, 0.2, 0.6);
  const double over = add_first_progress(random, sketch, 0.05, plateau);
  const double width = log_between(random, 0.01, 0.07);
  sketch.moment(between(random, over + 0.2 + 0.6 * width, 0.85), width, between(random, 0.3, 0.98 - plateau));
  return sketch.evaluate(direction);
}

// A log of a dozen evaluations or two, stopped two to four after the moment, when nine tenths of the way are done.
LabeledCurve short_log_stopped_soon(RandomStream& random) {
  CurveSketch sketch(random);
  const Direction direction = any_direction(random);
  add_validation_noise(random, sketch, direction);
  sketch.evaluations = static_cast<int>(between(random, 14, 26));
  const double spacing = 1.0 / sketch.evaluations;
  const double plateau = between(random, 0.2, 0.6);
  const double over = add_first_progress(random, sketch, 0.05, plateau);
  const double flat = spacing * between(random, 6, 12), width = std::min(0.6 * flat, spacing * between(random, 0.3, 3));
  const double center = std::min(over + flat + 0.6 * width, 1 - std::max(0.6 * width, 2.1 * spacing));
  sketch.moment(center, width, between(random, 0.3, 0.98 - plateau));
  sketch.end = center + std::max(0.6 * width, spacing * between(random, 2.05, 4));
  return sketch.evaluate(direction);
}

LabeledCurve training_loss(RandomStream& random) {
  CurveSketch sketch(random);
  sketch.evaluations = static_cast<int>(log_between(random, 1000, 20000));
  sketch.budget = sketch.evaluations;
  const double plateau = between(random, 0.2, 0.6);
  const double over = add_first_progress(random, sketch, 0, plateau);
  const double width = log_between(random, 0.01, 0.07);
  const double jump = between(random, 0.3, 0.98 - plateau);
  sketch.moment(between(random, over + 0.1 + 0.6 * width, 0.9), width, jump);
  sketch.noise = jump * between(random, 0.05, 0.2);
  sketch.quiet_when_solved = between(random, 0, 0.9);
  return sketch.evaluate(Direction::down);
}

LabeledCurve noisy_evaluations(RandomStream& random) {
  CurveSketch sketch(random);
  sketch.evaluations = static_cast<int>(between(random, 100, 300));
  const double plateau = between(random, 0.2, 0.6);
  const double over = add_first_progress(random, sketch, 0.05, plateau);
  const double width = log_between(random, 0.01, 0.07);
  const double jump = between(random, 0.3, 0.98 - plateau);
  sketch.moment(between(random, over + 0.2 + 0.6 * width, 0.85), width, jump);
  sketch.noise = jump * between(random, 0.08, 0.2);
  return sketch.evaluate(any_direction(random));
}

LabeledCurve staircase(RandomStream& random) {
  CurveSketch sketch(random);
  const Direction direction = any_direction(random);
  add_validation_noise(random, sketch, direction);
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

LabeledCurve known_level(RandomStream& random) {
  CurveSketch sketch(random);
  const Direction direction = any_direction(random);
  add_validation_noise(random, sketch, direction);
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

LabeledCurve moment_and_accidents(RandomStream& random) {
  CurveSketch sketch(random);
  const Direction direction = any_direction(random);
  add_validation_noise(random, sketch, direction);
  const TwoStep run = two_step(random, sketch, 0.15, 0.5);
  const double later = run.center + run.width + 0.12;
  switch (random.below(3)) {
    case 0:
      add_spikes(random, sketch, run.over + 0.02, run.center - run.width);
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

constexpr std::array kKinds{
    CurveKind{"accuracy moment", accuracy_moment},
    CurveKind{"loss moment", loss_moment},
    CurveKind{"early-stopped moment", early_stopped_moment},
    CurveKind{"drifting plateau", drifting_plateau},
    CurveKind{"uneven steps", uneven_steps},
    CurveKind{"plateau from the start", plateau_from_start},
    CurveKind{"early moment", early_moment},
    CurveKind{"short curve", short_curve},
    CurveKind{"short log stopped soon", short_log_stopped_soon},
    CurveKind{"training loss per step", training_loss},
    CurveKind{"noisy evaluations", noisy_evaluations},
    CurveKind{"staircase, two moments", staircase},
    CurveKind{"known level", known_level},
    CurveKind{"moment and accidents", moment_and_accidents},
};

}  // namespace

std::span<const CurveKind> kinds_with_moments() { return kKinds; }

}  // namespace eureka
