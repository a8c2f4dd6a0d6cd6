#include "stats/curve_sketch.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace eureka {

double between(RandomStream& random, double low, double high) { return low + (high - low) * random.uniform(); }

double log_between(RandomStream& random, double low, double high) {
  return low * std::pow(high / low, random.uniform());
}

double rise_shape(RiseShape shape, double u) {
  switch (shape) {
    case RiseShape::logistic:
      return 1 / (1 + std::exp(-2 * std::log(9.0) * u));
    case RiseShape::gaussian:
      return 0.5 * std::erfc(-2.5631 * u / std::numbers::sqrt2);
    case RiseShape::ramp:
      return std::clamp(0.5 + 0.8 * u, 0.0, 1.0);
    case RiseShape::gompertz:
      return std::exp(-std::numbers::ln2 * std::exp(-3.0844 * u));
  }
  return 0;
}

void CurveSketch::level(double height) {
  parts_.push_back([=](double) { return height; });
}

void CurveSketch::drift(double height) {
  parts_.push_back([=](double time) { return height * time; });
}

void CurveSketch::exponential(double start, double height, double time_constant) {
  parts_.push_back(
      [=](double time) { return time <= start ? 0 : height * (1 - std::exp(-(time - start) / time_constant)); });
}

void CurveSketch::power_law(double height, double onset, double exponent) {
  parts_.push_back([=](double time) { return height * (1 - std::pow(1 + time / onset, -exponent)); });
}

void CurveSketch::sigmoid(double center, double width, double height) {
  parts_.push_back([=](double time) { return height * rise_shape(RiseShape::logistic, (time - center) / width); });
}

void CurveSketch::moment(double center, double width, double height, bool labeled) {
  const auto shape = static_cast<RiseShape>(random_.below(4));
  parts_.push_back([=](double time) { return height * rise_shape(shape, (time - center) / width); });
  if (labeled) truths_.push_back({center, width});
}

void CurveSketch::ripple(double amplitude, double periods) {
  const double phase = between(random_, 0, 2 * std::numbers::pi);
  parts_.push_back([=](double time) { return amplitude * std::sin(2 * std::numbers::pi * periods * time + phase); });
}

void CurveSketch::loss_of_progress(double at, double height, double recovery_time) {
  parts_.push_back([=](double time) {
    if (time < at) return 0.0;
    return recovery_time > 0 ? -height * std::exp(-(time - at) / recovery_time) : -height;
  });
}

void CurveSketch::spike(double at, int length, double height) { spikes_.push_back({at, length, height}); }

double CurveSketch::progress(double time) const {
  double sum = 0;
  for (const auto& part : parts_) sum += part(time);
  return sum;
}

std::vector<double> CurveSketch::times() {
  std::vector<double> times;
  const double power = spacing == Spacing::growing ? between(random_, 1.2, 2.2) : 1;
  for (int i = 0; i <= evaluations; ++i) {
    if (spacing == Spacing::gappy && i > 0 && random_.chance(0.25)) continue;
    const double moved = spacing == Spacing::jittered && i > 0 ? between(random_, -0.4, 0.4) : 0;
    const double time = std::pow((i + moved) / evaluations, power);
    if (time <= end) times.push_back(time);
  }
  return times;
}

LabeledCurve CurveSketch::evaluate(Direction direction, std::optional<double> known_plateau) {
  const double loss_scale = log_between(random_, 0.5, 10);
  const double loss_floor = between(random_, 0, 0.5);
  const auto shown = [&](double value) {
    return direction == Direction::up ? value : loss_floor + loss_scale * (1 - value);
  };
  LabeledCurve curve;
  curve.direction = direction;
  if (known_plateau) curve.plateau_level = shown(*known_plateau);
  for (const Truth& truth : truths_) {
    if (truth.center < end) curve.moments.push_back({truth.center * budget, truth.width * budget});
  }
  double correlated = random_.normal();
  double walked = 0;
  double before = 0;
  for (const double time : times()) {
    const double clean = progress(time);
    const double fresh = random_.normal();
    correlated = correlation * correlated + std::sqrt(1 - correlation * correlation) * fresh;
    walked += walk * std::sqrt(time - before) * random_.normal();
    before = time;
    const double share = std::clamp(clean, 1e-3, 1 - 1e-3);
    const double deviation = binomial ? std::sqrt(share * (1 - share) / samples)
                                      : noise * (1 - quiet_when_solved * std::clamp(clean, 0.0, 1.0));
    double value = clean + walked + deviation * correlated;
    if (binomial) value = std::clamp(std::round(value * samples) / samples, 0.0, 1.0);
    if (time > dead_after) value = std::numeric_limits<double>::quiet_NaN();
    curve.points.push_back({time * budget, shown(value)});
  }
  for (const Spike& spike : spikes_) {
    const auto first = static_cast<std::size_t>(spike.at * static_cast<double>(curve.points.size()));
    const double height = spike.height * (direction == Direction::up ? 1 : -loss_scale);
    for (std::size_t i = first; i < std::min(curve.points.size(), first + static_cast<std::size_t>(spike.length));
         ++i) {
      curve.points[i].value += height;
    }
  }
  return curve;
}

}  // namespace eureka
