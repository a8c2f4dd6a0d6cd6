#include "stats/kaplan_meier.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "stats/distributions.h"

namespace eureka {
namespace {

constexpr double kRounding = 1e-9;  // a survival this close to one half is one half

// Where a falling curve, known at points of time, first gets to one half: interpolated between points.
class HalfCrossing {
 public:
  void add(double time, double value) {
    if (!crossing_ && value <= 0.5)
      crossing_ = last_value_ ? last_time_ + (time - last_time_) * (*last_value_ - 0.5) / (*last_value_ - value) : time;
    last_time_ = time;
    last_value_ = value;
  }
  std::optional<double> found() const { return crossing_; }

 private:
  std::optional<double> crossing_, last_value_;
  double last_time_ = 0;
};

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
    step.effective_runs = effective;
    step.interval = wilson_interval(survival * effective, effective, level);
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

std::optional<double> SurvivalCurve::median() const {
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    const double here = steps_[i].survival;
    if (here > 0.5 + kRounding) continue;
    if (here < 0.5 - kRounding) return steps_[i].time;
    const double level_until = i + 1 < steps_.size() ? steps_[i + 1].time : times_.back().time;
    return 0.5 * (steps_[i].time + level_until);
  }
  return {};
}

OpenInterval SurvivalCurve::median_interval() const {
  HalfCrossing low, high;
  double before = 1;
  for (const SurvivalStep& step : steps_) {
    // half-way down the step, where the curve stands at the very time of the event
    const Interval middle =
        wilson_interval(0.5 * (before + step.survival) * step.effective_runs, step.effective_runs, level_);
    low.add(step.time, middle.low);
    high.add(step.time, middle.high);
    before = step.survival;
  }
  if (!steps_.empty()) {
    low.add(steps_.back().time, steps_.back().interval.low);
    high.add(steps_.back().time, steps_.back().interval.high);
  }
  return {low.found(), high.found()};
}

std::optional<double> SurvivalCurve::restricted_mean() const {
  if (times_.empty()) return {};
  return eureka::restricted_mean(times_, std::vector<double>(n(), 1.0), horizon_).mean;
}

std::size_t SurvivalCurve::known_times() const {
  return static_cast<std::size_t>(std::count_if(
      times_.begin(), times_.end(), [this](const SurvivalTime& t) { return t.event || t.time == horizon_; }));
}

std::optional<double> SurvivalCurve::restricted_mean_variance() const {
  const auto known = static_cast<double>(known_times());
  if (known < 2) return {};
  return eureka::restricted_mean(times_, std::vector<double>(n(), 1.0), horizon_).variance * known / (known - 1);
}

std::optional<Interval> SurvivalCurve::restricted_mean_interval() const {
  const std::optional<double> variance = restricted_mean_variance();
  if (!variance) return {};
  if (events_ == 0) {
    const auto runs = static_cast<double>(n());
    return Interval{horizon_ * wilson_interval(runs, runs, level_).low, horizon_};
  }
  const double share = *restricted_mean() / horizon_;
  const double error = std::sqrt(*variance) / horizon_;
  if (error < kRounding || share <= 0 || share >= 1) return {};
  const double t = student_t_quantile(0.5 + level_ / 2, static_cast<double>(known_times() - 1));
  const double half = t * error / (share * (1 - share)), center = std::log(share / (1 - share));
  const auto back = [this](double logit) { return horizon_ / (1 + std::exp(-logit)); };
  return Interval{back(center - half), back(center + half)};
}

}  // namespace eureka
