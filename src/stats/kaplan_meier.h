// Time to an event when some runs never had it: the Kaplan-Meier curve, its median and its restricted mean.
//
//   SurvivalCurve curve({{55, true}, {80, true}, {100, false}}, 100);
//   curve.at(80);                 // 0.33 are still waiting after step 80
//   curve.median();               // 80
//   curve.restricted_mean();      // 78.3: mean of min(time, horizon)
//
// A run without the event is right-censored: all that is known is that the event did not come by `time`. Events after
// the horizon count as censored at the horizon, so nothing beyond it matters.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "stats/intervals.h"
#include "stats/restricted_mean.h"

namespace eureka {

// The curve right after one time at which events happened.
struct SurvivalStep {
  double time = 0;
  std::size_t at_risk = 0;  // just before
  std::size_t events = 0;
  double survival = 1;
  double variance = 0;        // of survival, Greenwood's
  double effective_runs = 0;  // as many runs without censoring would tell as much about it
  Interval interval;          // pointwise, for the survival; Rothman's: Wilson's with the effective number of runs
};

class SurvivalCurve {
 public:
  // Requires finite times >= 0 and a horizon > 0. No times at all is fine.
  SurvivalCurve(std::span<const SurvivalTime> times, double horizon, double level = kDefaultLevel);

  std::size_t n() const { return times_.size(); }
  std::size_t events() const { return events_; }
  double horizon() const { return horizon_; }
  const std::vector<SurvivalTime>& times() const { return times_; }  // sorted, cut at the horizon
  const std::vector<SurvivalStep>& steps() const { return steps_; }

  double at(double time) const;  // the estimated share without the event after `time`

  // First time at which the curve is below one half; where it is level at exactly one half, the middle of that stretch,
  // which ends with the next event or, without one, with the last time observed (as quantile() of R's survfit has it).
  // Nothing when more than half never had the event.
  std::optional<double> median() const;
  // After Brookmeyer and Crowley the times at which one half lies in the pointwise interval. The ends are interpolated
  // between events, which keeps the coverage near its level for few runs.
  OpenInterval median_interval() const;

  // Mean of min(time, horizon). Nothing without runs.
  std::optional<double> restricted_mean() const;
  // Greenwood's times m / (m - 1), with m the runs whose min(time, horizon) is known. Nothing for m < 2.
  std::optional<double> restricted_mean_variance() const;
  // Student's on the scale of log(mean / (horizon - mean)). Without events: how late a mean the rate's interval allows.
  // With m < 2, or all events at one time, there is no spread to tell it from: nothing.
  std::optional<Interval> restricted_mean_interval() const;

 private:
  std::vector<SurvivalTime> times_;
  double horizon_;
  double level_;
  std::size_t events_ = 0;
  std::vector<SurvivalStep> steps_;

  std::size_t known_times() const;
  const SurvivalStep* last_step_by(double time) const;
};

}  // namespace eureka
