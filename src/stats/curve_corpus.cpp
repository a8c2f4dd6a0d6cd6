#include "stats/curve_corpus.h"

#include <cmath>

#include "base/random.h"
#include "stats/curve_kinds.h"

namespace eureka {

Direction any_direction(RandomStream& random) { return random.chance(0.5) ? Direction::up : Direction::down; }

void add_validation_noise(RandomStream& random, CurveSketch& sketch, Direction direction) {
  sketch.binomial = direction == Direction::up;
  sketch.samples = std::round(log_between(random, 500, 2000));
  sketch.noise = log_between(random, 0.005, 0.04);
  sketch.quiet_when_solved = between(random, 0, 0.9);
  sketch.correlation = random.chance(0.3) ? between(random, 0, 0.6) : 0;
}

double add_first_progress(RandomStream& random, CurveSketch& sketch, double chance, double plateau) {
  const double over = between(random, 0.04, 0.12);
  const double start = random.chance(0.5) ? between(random, 0, 0.02) : 0;
  sketch.level(chance);
  sketch.exponential(start, plateau - chance, (over - start) / 3.5);
  return over;
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

std::size_t curve_kind_count() { return kinds_with_moments().size() + kinds_without_moments().size(); }

LabeledCurve make_labeled_curve(std::size_t index, std::uint64_t seed) {
  RandomStream random(seed, "curve-corpus", index);
  const std::size_t kind = index % curve_kind_count();
  const std::size_t with_moments = kinds_with_moments().size();
  const bool is_positive = kind < with_moments;
  const CurveKind& chosen = is_positive ? kinds_with_moments()[kind] : kinds_without_moments()[kind - with_moments];
  LabeledCurve curve = chosen.make(random);
  curve.kind = chosen.name;
  curve.is_positive = is_positive;
  return curve;
}

std::vector<LabeledCurve> make_curve_corpus(std::size_t count, std::uint64_t seed) {
  std::vector<LabeledCurve> corpus;
  corpus.reserve(count);
  for (std::size_t i = 0; i < count; ++i) corpus.push_back(make_labeled_curve(i, seed));
  return corpus;
}

}  // namespace eureka
