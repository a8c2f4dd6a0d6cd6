#include "stats/unit_curve.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/exact_math.h"
#include "base/median.h"
#include "stats/broken_line.h"
#include "stats/value_grain.h"

namespace eureka {

namespace {

constexpr std::size_t kFewEvaluations = 40;  // a log this short: its rise is a good part of it
constexpr double kSpike = 4;                 // standard deviations off the running median
constexpr double kPenalty = 4;               // per piece of the broken line, times noise variance and log length
constexpr double kShortPenalty = 2.5;        // the same in a short log, where there is less to overfit
constexpr double kPatience = 1.5;            // times the noise seen
constexpr double kLeastNoise = 0.005;        // of the range: a noiseless curve is not to be fitted to its last digit
constexpr double kTie = 1e-9;  // accuracies are multiples of 1/samples: equal sums must not be told apart by rounding
constexpr double kTrimmed = 0.05;  // share of the worst values that do not set the range: a bad start is short

double quantile(std::vector<double> values, double share) {
  const auto rank = values.begin() + std::lround(share * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), rank, values.end());
  return *rank;
}

}  // namespace

double UnitCurve::sampling_deviation(double level) const {
  const double share = std::clamp(value(level), 0.0, 1.0);
  return std::sqrt(share * (1 - share) * one_sample) / std::abs(scale);
}

double UnitCurve::rounding_unit(double level) const { return rounding.unit_at(value(level)) / std::abs(scale); }

std::size_t UnitCurve::count_before(double at, std::size_t first) const {
  const auto begin = x.begin() + static_cast<std::ptrdiff_t>(first);
  return static_cast<std::size_t>(std::lower_bound(begin, x.end(), at) - begin);
}

UnitCurve make_unit_curve(std::span<const CurvePoint> points, Direction direction, bool finished, Smoothing smoothing) {
  const double sign = direction == Direction::up ? 1 : -1;
  UnitCurve curve;
  curve.is_short_log = finished && points.size() <= kFewEvaluations;
  curve.origin = points.front().step;
  curve.span = points.back().step - points.front().step;
  std::vector<double> raw;
  for (const CurvePoint& point : points) {
    curve.x.push_back((point.step - curve.origin) / curve.span);
    raw.push_back(sign * point.value);
  }
  std::vector<double> shares;
  for (const CurvePoint& point : points) shares.push_back(point.value);
  curve.rounding = Rounding(shares);
  curve.one_sample = one_sample_of(std::move(shares));
  const auto noise_in = [&](const std::vector<double>& values) {
    return smoothing == Smoothing::patient
               ? local_noise(curve.x, values, curve.is_short_log)
               : std::vector<double>(values.size(), noise_level(curve.x, values, curve.is_short_log));
  };
  std::vector<double> tolerances = noise_in(raw);
  for (double& tolerance : tolerances) tolerance *= kSpike;
  curve.v = without_spikes(raw, tolerances);

  // the range learning has covered: what got worse after the best point is divergence and must not dwarf the rest
  const auto best = std::max_element(curve.v.begin(), curve.v.end());
  double worst = quantile(std::vector<double>(curve.v.begin(), best + 1), kTrimmed);
  if (worst >= *best) worst = *std::min_element(curve.v.begin(), curve.v.end());
  const double range = *best > worst ? *best - worst : 1;
  curve.worst = sign * worst;
  curve.scale = sign * range;
  for (double& v : curve.v) v = std::max(kDivergedLevel, (v - worst) / range);

  const double patience = smoothing == Smoothing::patient ? kPatience : 1;
  curve.noise = patience * std::max(kLeastNoise, noise_level(curve.x, curve.v, curve.is_short_log));
  const double penalty = (curve.is_short_log ? kShortPenalty : kPenalty) * curve.noise * curve.noise *
                         exact::log(static_cast<double>(points.size()));
  curve.noise_at = noise_in(curve.v);
  std::vector<double> weights;
  for (double& noise : curve.noise_at) {
    noise = std::max(patience * noise, curve.noise);
    weights.push_back(curve.noise * curve.noise / (noise * noise));
  }
  BrokenLine line = fit_broken_line(curve.x, curve.v, weights, penalty);
  curve.fit = std::move(line.fit);
  if (smoothing == Smoothing::none) curve.fit = curve.v;
  if (curve.is_short_log) {
    curve.knots.resize(points.size());
    std::iota(curve.knots.begin(), curve.knots.end(), std::size_t{0});
    return curve;
  }
  for (const auto& [first, last] : line.pieces) {
    curve.knots.push_back(first);
    if (last != first) curve.knots.push_back(last);
  }
  return curve;
}

double median(const std::vector<double>& values, std::size_t first, std::size_t last) {
  const auto at = [&](std::size_t i) { return values.begin() + static_cast<std::ptrdiff_t>(i); };
  return upper_median(std::vector<double>(at(first), at(last + 1)));
}

double spread(const std::vector<double>& values, std::size_t first, std::size_t last) {
  const double middle = median(values, first, last);
  std::vector<double> off;
  for (std::size_t i = first; i <= last; ++i) off.push_back(std::abs(values[i] - middle));
  return 1.4826 * upper_median(std::move(off));  // the median of |N(0, 1)| is 1 / 1.4826
}

double deviation(const std::vector<double>& values, std::size_t first, std::size_t last) {
  const auto n = static_cast<double>(last - first + 1);
  double sum = 0, squares = 0;
  for (std::size_t i = first; i <= last; ++i) sum += values[i];
  for (std::size_t i = first; i <= last; ++i) squares += (values[i] - sum / n) * (values[i] - sum / n);
  return std::sqrt(squares / n);
}

double crossing(const UnitCurve& curve, std::size_t first, std::size_t last, double level, double reach) {
  double sum = 0, least = 0;
  std::size_t above = first;
  for (std::size_t i = first; i <= last; ++i) {
    sum += std::clamp(curve.v[i] - level, -reach, reach);
    if (sum < least - kTie) {
      least = sum;
      above = i + 1;
    }
  }
  if (above == first) return curve.x[first];
  if (above > last) return curve.x[last];
  const double before = curve.v[above - 1], after = curve.v[above];
  const double part = after > before ? std::clamp((level - before) / (after - before), 0.0, 1.0) : 0.5;
  return curve.x[above - 1] + part * (curve.x[above] - curve.x[above - 1]);
}

std::size_t walk_level(const std::vector<double>& fit, std::size_t at, int direction, double band) {
  double low = fit[at], high = fit[at];
  while (direction > 0 ? at + 1 < fit.size() : at > 0) {
    const std::size_t next = direction > 0 ? at + 1 : at - 1;
    low = std::min(low, fit[next]);
    high = std::max(high, fit[next]);
    if (high - low > band) break;
    at = next;
  }
  return at;
}

}  // namespace eureka
