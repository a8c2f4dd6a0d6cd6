#include "stats/broken_line.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"

namespace eureka {

namespace {

constexpr std::size_t kNeighborhood = 12;  // evaluations on either side that tell the noise about one
constexpr double kTie = 1e-9;  // of what is compared: ties must not be decided by rounding, which depends on the units

// Sums over a prefix of the points, enough for the line of least squares through any stretch in O(1).
struct Sums {
  double n = 0, x = 0, v = 0, xx = 0, xv = 0, vv = 0;
};

struct Line {
  double mean_x = 0, mean_v = 0, slope = 0, cost = 0;
  double at(double x) const { return mean_v + slope * (x - mean_x); }
};

std::vector<Sums> prefix_sums(std::span<const double> x, std::span<const double> values,
                              std::span<const double> weights) {
  std::vector<Sums> sums(x.size() + 1);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const Sums& s = sums[i];
    const double w = weights[i];
    sums[i + 1] = {s.n + w,
                   s.x + w * x[i],
                   s.v + w * values[i],
                   s.xx + w * x[i] * x[i],
                   s.xv + w * x[i] * values[i],
                   s.vv + w * values[i] * values[i]};
  }
  return sums;
}

Line least_squares(const Sums& from, const Sums& to) {
  const double n = to.n - from.n;
  const double mean_x = (to.x - from.x) / n;
  const double mean_v = (to.v - from.v) / n;
  const double xx = to.xx - from.xx - n * mean_x * mean_x;
  const double xv = to.xv - from.xv - n * mean_x * mean_v;
  const double vv = to.vv - from.vv - n * mean_v * mean_v;
  // evaluations that are next to simultaneous on the scale of the curve have no slope that rounding would leave intact
  const double slope = xx > 1e-14 * n ? xv / xx : 0;
  return {mean_x, mean_v, slope, std::max(0.0, vv - slope * xv)};
}

// How far each value but the first and last is off the line through its neighbors; of white noise its standard
// deviation.
std::vector<double> off_the_line(std::span<const double> x, std::span<const double> values) {
  std::vector<double> off;
  for (std::size_t i = 1; i + 1 < values.size(); ++i) {
    const double right = (x[i] - x[i - 1]) / (x[i + 1] - x[i - 1]);
    const double left = 1 - right;
    const double between = left * values[i - 1] + right * values[i + 1];
    off.push_back(std::abs(values[i] - between) / std::sqrt(1 + left * left + right * right));
  }
  return off;
}

}  // namespace

double noise_level(std::span<const double> x, std::span<const double> values, bool short_log) {
  std::vector<double> off = off_the_line(x, values);
  if (off.empty()) return 0;
  // an accuracy that has arrived at 1 is free of noise and says nothing of the plateau, if enough is left without it
  const std::size_t silent = static_cast<std::size_t>(std::count(off.begin(), off.end(), 0.0));
  if (short_log && 4 * (off.size() - silent) >= values.size()) std::erase(off, 0.0);
  // 0.7 rather than the median: half of a curve may be free of noise (accuracy 1) and say nothing of the other half
  const auto rank =
      off.begin() + static_cast<std::ptrdiff_t>((short_log ? 0.5 : 0.7) * static_cast<double>(off.size() - 1));
  std::nth_element(off.begin(), rank, off.end());
  return *rank / (short_log ? 0.6745 : 1.036);  // these quantiles of |N(0, 1)|
}

std::vector<double> local_noise(std::span<const double> x, std::span<const double> values, bool short_log) {
  std::vector<double> noise(values.size(), noise_level(x, values, short_log));
  const std::vector<double> off = off_the_line(x, values);
  if (short_log || off.size() <= 2 * kNeighborhood) return noise;
  std::vector<double> around;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::size_t first = std::min(i - std::min(i, kNeighborhood), off.size() - 2 * kNeighborhood - 1);
    around.assign(off.begin() + static_cast<std::ptrdiff_t>(first),
                  off.begin() + static_cast<std::ptrdiff_t>(first + 2 * kNeighborhood + 1));
    std::nth_element(around.begin(), around.begin() + kNeighborhood, around.end());
    noise[i] = std::max(noise[i], around[kNeighborhood] / 0.6745);  // the median of |N(0, 1)|: few are in a rise
  }
  return noise;
}

std::vector<double> without_spikes(std::span<const double> values, std::span<const double> tolerances) {
  const std::size_t n = values.size();
  std::vector<double> clean(values.begin(), values.end());
  std::vector<double> around;
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t radius = std::min({std::size_t{3}, i, n - 1 - i});
    around.assign(values.begin() + static_cast<std::ptrdiff_t>(i - radius),
                  values.begin() + static_cast<std::ptrdiff_t>(i + radius + 1));
    std::nth_element(around.begin(), around.begin() + static_cast<std::ptrdiff_t>(radius), around.end());
    if (std::abs(values[i] - around[radius]) > tolerances[i] * (1 + kTie)) clean[i] = around[radius];
  }
  return clean;
}

BrokenLine fit_broken_line(std::span<const double> x, std::span<const double> values, std::span<const double> weights,
                           double penalty) {
  EUREKA_CHECK(x.size() == values.size() && x.size() == weights.size(),
               "a broken line needs one value and weight per x");
  const std::size_t n = x.size();
  const std::vector<Sums> sums = prefix_sums(x, values, weights);
  std::vector<double> best(n + 1, std::numeric_limits<double>::infinity());
  std::vector<std::size_t> begin_of_last(n + 1, 0);
  std::vector<std::size_t> begins;  // where the last piece may still begin in a best solution (pruned as in PELT)
  std::vector<double> costs;
  best[0] = 0;
  for (std::size_t end = 1; end <= n; ++end) {
    begins.push_back(end - 1);
    costs.resize(begins.size());
    for (std::size_t k = 0; k < begins.size(); ++k) {
      costs[k] = best[begins[k]] + least_squares(sums[begins[k]], sums[end]).cost;
      if (costs[k] + penalty < best[end] - kTie * penalty) {
        best[end] = costs[k] + penalty;
        begin_of_last[end] = begins[k];
      }
    }
    std::size_t kept = 0;
    for (std::size_t k = 0; k < begins.size(); ++k) {
      if (costs[k] <= best[end] + kTie * penalty) begins[kept++] = begins[k];
    }
    begins.resize(kept);
  }

  BrokenLine line;
  line.fit.resize(n);
  for (std::size_t end = n; end > 0; end = begin_of_last[end]) {
    const std::size_t begin = begin_of_last[end];
    const Line piece = least_squares(sums[begin], sums[end]);
    for (std::size_t i = begin; i < end; ++i) line.fit[i] = piece.at(x[i]);
    line.pieces.push_back({begin, end - 1});
  }
  std::reverse(line.pieces.begin(), line.pieces.end());
  return line;
}

}  // namespace eureka
