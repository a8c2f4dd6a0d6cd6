// Intervals of a survival curve at one time, which the program itself reads off at its steps only.
#pragma once

#include <algorithm>
#include <cmath>
#include <optional>

#include "stats/distributions.h"
#include "stats/kaplan_meier.h"

namespace eureka {

inline const SurvivalStep* last_step_by(const SurvivalCurve& curve, double time) {
  const SurvivalStep* last = nullptr;
  for (const SurvivalStep& step : curve.steps())
    if (step.time <= time) last = &step;
  return last;
}

// Before the first event: Wilson's, for those still watched.
inline Interval interval_at(const SurvivalCurve& curve, double time, double level = kDefaultLevel) {
  if (const SurvivalStep* step = last_step_by(curve, time)) return step->interval;
  const auto still_there = static_cast<double>(std::count_if(
      curve.times().begin(), curve.times().end(), [time](const SurvivalTime& run) { return run.time >= time; }));
  return wilson_interval(still_there, still_there, level);
}

// Kalbfleisch and Prentice, as R has it; nothing while the curve is at 1 or 0.
inline std::optional<Interval> log_log_at(const SurvivalCurve& curve, double time, double level = kDefaultLevel) {
  const SurvivalStep* step = last_step_by(curve, time);
  if (step == nullptr || step->survival <= 0) return {};
  const double log_survival = std::log(step->survival);
  const double error = std::sqrt(step->variance) / step->survival / -log_survival;
  const double factor = std::exp(normal_quantile(0.5 + level / 2) * error);
  return Interval{std::exp(log_survival * factor), std::exp(log_survival / factor)};
}

}  // namespace eureka
