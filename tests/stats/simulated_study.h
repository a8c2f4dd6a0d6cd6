// Runs drawn from known distributions, to measure how often an interval contains the truth.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "base/random.h"
#include "stats/bootstrap.h"
#include "stats/distributions.h"

namespace eureka {

// Moments come after a plateau of `delay`, then Weibull; a share never has one. The horizon is 1. Times of an arm that
// is `speed` times as fast are those of the baseline divided by it.
struct SimulatedArm {
  double delay = 0;
  double shape = 1;
  double scale = 1;
  double never = 0;
  double stopped_early = 0;  // share of runs stopped at a random time before the horizon

  double survival(double time) const {
    if (time <= delay) return 1;
    return never + (1 - never) * std::exp(-std::pow((time - delay) / scale, shape));
  }
  // The time at which `share` is still waiting.
  double quantile(double share) const {
    return delay + scale * std::pow(-std::log((share - never) / (1 - never)), 1 / shape);
  }
  double restricted_mean() const {
    constexpr int cells = 20000;
    double area = 0;
    for (int i = 0; i < cells; ++i) area += survival((i + 0.5) / cells) / cells;
    return area;
  }
  SimulatedArm faster(double speed) const {
    SimulatedArm arm = *this;
    arm.delay /= speed;
    arm.scale /= speed;
    return arm;
  }
  // The run that an (equally spread) `luck` in 0..1 decides.
  SurvivalTime run(double luck, RandomStream& random) const {
    const double end = random.chance(stopped_early) ? random.uniform() : 1;
    if (luck <= never) return {end, false};
    const double time = quantile(luck);
    return time <= end ? SurvivalTime{time, true} : SurvivalTime{end, false};
  }
};

// An arm as above of which `censored` have no moment by the horizon.
inline SimulatedArm arm_with_censoring(double delay, double shape, double censored) {
  return {.delay = delay, .shape = shape, .scale = (1 - delay) / std::pow(-std::log(censored), 1 / shape)};
}

struct SimulatedPair {
  std::vector<SeededTime> first, second;
  std::vector<SurvivalTime> first_times, second_times;
};

// The same seed in both arms shares its luck to the extent of `correlation` (Gaussian copula).
inline SimulatedPair simulate_pair(const SimulatedArm& first, const SimulatedArm& second, std::size_t n,
                                   double correlation, std::uint64_t replication) {
  RandomStream random(20240611, "simulated study", replication);
  SimulatedPair pair;
  for (std::size_t i = 0; i < n; ++i) {
    const double shared = random.normal(), own = random.normal();
    const double other = correlation * shared + std::sqrt(1 - correlation * correlation) * own;
    pair.first_times.push_back(first.run(normal_cdf(shared), random));
    pair.second_times.push_back(second.run(normal_cdf(other), random));
    const auto seed = static_cast<std::int64_t>(i);
    pair.first.push_back({seed, pair.first_times.back()});
    pair.second.push_back({seed, pair.second_times.back()});
  }
  return pair;
}

}  // namespace eureka
