#include "stats/intervals.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "stats/distributions.h"

namespace eureka {

Interval wilson_interval(double hits, double n, double level) {
  EUREKA_CHECK(hits >= 0 && hits <= n, "more hits than tries");
  if (n <= 0) return {0, 1};
  const double z2 = chi_square_quantile(level);
  const double center = (hits + z2 / 2) / (n + z2);
  const double half = std::sqrt(z2 * (hits * (n - hits) / n + z2 / 4)) / (n + z2);
  // at the ends the formula gives 0 and 1 but for rounding
  return {hits == 0 ? 0.0 : std::max(0.0, center - half), hits == n ? 1.0 : std::min(1.0, center + half)};
}

std::optional<Interval> mean_interval(std::span<const double> values, double level) {
  if (values.size() < 2) return {};
  const auto n = static_cast<double>(values.size());
  double mean = 0, squares = 0;
  for (const double value : values) mean += value / n;
  for (const double value : values) squares += (value - mean) * (value - mean);
  const double half = student_t_quantile(0.5 + level / 2, n - 1) * std::sqrt(squares / (n - 1) / n);
  return Interval{mean - half, mean + half};
}

}  // namespace eureka
