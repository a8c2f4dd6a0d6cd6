#include "stats/restricted_mean.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace eureka {

std::vector<SurvivalTime> cut_at_horizon(std::span<const SurvivalTime> times, double horizon) {
  EUREKA_CHECK(std::isfinite(horizon) && horizon > 0, "the horizon must be a positive number");
  std::vector<SurvivalTime> cut(times.begin(), times.end());
  for (SurvivalTime& one : cut) {
    EUREKA_CHECK(std::isfinite(one.time) && one.time >= 0, "a time must be a number >= 0");
    if (one.time > horizon) one = {horizon, false};
  }
  std::stable_sort(cut.begin(), cut.end(), [](const SurvivalTime& a, const SurvivalTime& b) {
    return a.time != b.time ? a.time < b.time : a.event && !b.event;
  });
  return cut;
}

RestrictedMean restricted_mean(std::span<const SurvivalTime> times, std::span<const double> weights, double horizon) {
  double at_risk = 0;
  for (const double weight : weights) at_risk += weight;
  EUREKA_CHECK(at_risk > 0, "a mean of nothing");

  // The variance is the sum over drops of (area still to come)^2 g with g = events / (at_risk * staying), and the area
  // to come is the whole less what is behind: three sums in one pass, multiplied out at the end.
  double survival = 1, area = 0, previous = 0, sum_g = 0, sum_behind_g = 0, sum_behind_squared_g = 0;
  for (std::size_t i = 0; i < times.size();) {
    const double time = times[i].time;
    double leaving = 0, events = 0;
    for (; i < times.size() && times[i].time == time; ++i) {
      leaving += weights[i];
      if (times[i].event) events += weights[i];
    }
    if (events > 0) {
      area += survival * (time - previous);
      previous = time;
      const double staying = at_risk - events;
      survival *= std::max(0.0, staying / at_risk);
      if (staying > 0) {  // else the curve is at 0 and no area is to come
        const double g = events / (at_risk * staying);
        sum_g += g;
        sum_behind_g += area * g;
        sum_behind_squared_g += area * area * g;
      }
    }
    at_risk -= leaving;
  }
  area += survival * (horizon - previous);
  return {area, std::max(0.0, area * area * sum_g - 2 * area * sum_behind_g + sum_behind_squared_g)};
}

}  // namespace eureka
