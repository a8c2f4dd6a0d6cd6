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
  const std::size_t n = times.size();
  double at_risk = 0;
  for (const double weight : weights) at_risk += weight;
  EUREKA_CHECK(at_risk > 0, "a mean of nothing");

  struct Drop {
    double time, at_risk, events, area_before;  // area under the curve up to `time`
  };
  std::vector<Drop> drops;
  double survival = 1, area = 0, previous = 0;
  for (std::size_t i = 0; i < n;) {
    const double time = times[i].time;
    double leaving = 0, events = 0;
    for (; i < n && times[i].time == time; ++i) {
      leaving += weights[i];
      if (times[i].event) events += weights[i];
    }
    if (events > 0) {
      area += survival * (time - previous);
      previous = time;
      drops.push_back({time, at_risk, events, area});
      survival *= std::max(0.0, 1 - events / at_risk);
    }
    at_risk -= leaving;
  }
  area += survival * (horizon - previous);

  RestrictedMean result{area, std::vector<double>(n, 0.0)};
  double accumulated = 0;
  std::size_t next = 0;
  for (std::size_t i = 0; i < n; ++i) {
    for (; next < drops.size() && drops[next].time <= times[i].time; ++next) {
      const Drop& drop = drops[next];
      const double staying = drop.at_risk - drop.events;
      // once nobody stays the curve is at 0 and no area is left to move
      if (staying > 0) accumulated += (area - drop.area_before) * drop.events / (drop.at_risk * staying);
    }
    result.influence[i] = accumulated;
    if (!times[i].event || next == 0 || drops[next - 1].time != times[i].time) continue;
    const Drop& own = drops[next - 1];
    if (own.at_risk > own.events) result.influence[i] -= (area - own.area_before) / (own.at_risk - own.events);
  }
  return result;
}

}  // namespace eureka
