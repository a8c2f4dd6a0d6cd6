// Times to an event with censoring, and the area under their Kaplan-Meier curve: the core the curve and the bootstrap
// share.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace eureka {

struct SurvivalTime {
  double time = 0;
  bool event = false;  // false: censored, the event did not come by `time`
};

// Sorted by time, events before those censored at the same time, all cut at the horizon: an event after it becomes
// censored at it.
std::vector<SurvivalTime> cut_at_horizon(std::span<const SurvivalTime> times, double horizon);

struct RestrictedMean {
  double mean = 0;      // of min(time, horizon): the area under the curve up to the horizon
  double variance = 0;  // of the mean, Greenwood's
};

// Requires times from cut_at_horizon and as many weights >= 0, not all 0: how often each time counts. A curve that ends
// with a censored time before the horizon is continued level.
RestrictedMean restricted_mean(std::span<const SurvivalTime> times, std::span<const double> weights, double horizon);

}  // namespace eureka
