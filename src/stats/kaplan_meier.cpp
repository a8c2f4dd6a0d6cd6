#include "stats/kaplan_meier.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "stats/distributions.h"

namespace eureka {
namespace {

constexpr double kRounding = 1e-9;  // a survival this close to one half is one half

// First time at which a falling curve is at or below one half; half-way along its level stretch if it is exactly there.
template <class Value>
std::optional<double> crosses_half(const std::vector<SurvivalStep>& steps, const Value& value) {
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const double here = value(steps[i]);
    if (here > 0.5 + kRounding) continue;
    if (here < 0.5 - kRounding) return steps[i].time;
    for (std::size_t j = i + 1; j < steps.size(); ++j)
      if (value(steps[j]) < here) return 0.5 * (steps[i].time + steps[j].time);
    return steps[i].time;
  }
  return {};
}

}  // namespace

SurvivalCurve::SurvivalCurve(std::span<const SurvivalTime> times, double horizon, double level)
    : times_(cut_at_horizon(times, horizon)), horizon_(horizon), level_(level) {
  double greenwood = 0, survival = 1, effective = static_cast<double>(times_.size());
  for (std::size_t i = 0; i < times_.size();) {
    SurvivalStep step{.time = times_[i].time, .at_risk = times_.size() - i};
    for (; i < times_.size() && times_[i].time == step.time; ++i) step.events += times_[i].event;
    if (step.events == 0) continue;
    events_ += step.events;
    const auto at_risk = static_cast<double>(step.at_risk), events = static_cast<double>(step.events);
    survival *= 1 - events / at_risk;
    if (step.at_risk > step.events) {
      greenwood += events / (at_risk * (at_risk - events));
      effective = (1 - survival) / (survival * greenwood);
    } else {
      survival = 0;  // Greenwood's variance is 0 there: the interval goes on with the runs it had effectively before
    }
    step.survival = survival;
    step.variance = survival * survival * greenwood;
    step.interval = wilson_interval(std::min(1.0, survival) * effective, effective, level);
    steps_.push_back(step);
  }
}

const SurvivalStep* SurvivalCurve::last_step_by(double time) const {
  const auto after =
      std::upper_bound(steps_.begin(), steps_.end(), time, [](double t, const SurvivalStep& s) { return t < s.time; });
  return after == steps_.begin() ? nullptr : &*std::prev(after);
}

double SurvivalCurve::at(double time) const {
  const SurvivalStep* step = last_step_by(time);
  return step ? step->survival : 1;
}

Interval SurvivalCurve::interval_at(double time) const {
  if (const SurvivalStep* step = last_step_by(time)) return step->interval;
  const auto still_there = static_cast<double>(
      std::count_if(times_.begin(), times_.end(), [time](const auto& t) { return t.time >= time; }));
  return wilson_interval(still_there, still_there, level_);
}

std::optional<Interval> SurvivalCurve::log_log_at(double time) const {
  const SurvivalStep* step = last_step_by(time);
  if (!step || step->survival <= 0) return {};
  const double log_survival = std::log(step->survival);
  const double error = std::sqrt(step->variance) / step->survival / -log_survival;
  const double factor = std::exp(normal_quantile(0.5 + level_ / 2) * error);
  return Interval{std::exp(log_survival * factor), std::exp(log_survival / factor)};
}

std::optional<double> SurvivalCurve::median() const {
  return crosses_half(steps_, [](const SurvivalStep& step) { return step.survival; });
}

OpenInterval SurvivalCurve::median_interval() const {
  return {crosses_half(steps_, [](const SurvivalStep& step) { return step.interval.low; }),
          crosses_half(steps_, [](const SurvivalStep& step) { return step.interval.high; })};
}

std::optional<double> SurvivalCurve::restricted_mean() const {
  if (times_.empty()) return {};
  return eureka::restricted_mean(times_, std::vector<double>(n(), 1.0), horizon_).mean;
}

std::optional<double> SurvivalCurve::restricted_mean_variance() const {
  const auto known = static_cast<double>(std::count_if(
      times_.begin(), times_.end(), [this](const SurvivalTime& t) { return t.event || t.time == horizon_; }));
  if (known < 2) return {};
  double squares = 0;
  for (const double influence : eureka::restricted_mean(times_, std::vector<double>(n(), 1.0), horizon_).influence)
    squares += influence * influence;
  return squares * known / (known - 1);
}

std::optional<Interval> SurvivalCurve::restricted_mean_interval() const {
  const std::optional<double> variance = restricted_mean_variance();
  if (!variance) return {};
  const double mean = *restricted_mean();
  const auto known = static_cast<double>(std::count_if(
      times_.begin(), times_.end(), [this](const SurvivalTime& t) { return t.event || t.time == horizon_; }));
  const double half = student_t_quantile(0.5 + level_ / 2, known - 1) * std::sqrt(*variance);
  return Interval{std::max(0.0, mean - half), std::min(horizon_, mean + half)};
}

}  // namespace eureka
