#include "stats/calm_stretches.h"

#include <algorithm>
#include <cmath>

namespace eureka {

namespace {

constexpr double kBand = 0.1;          // of the range
constexpr double kNoiseBand = 0.75;    // wider by this much noise, which the fit follows a little
constexpr double kSlope = 0.4;         // of range over steps: steeper is drift
constexpr double kLeastLength = 0.08;  // of the steps seen

Stretch longest_free(const UnitCurve& curve, const std::vector<bool>& taken) {
  Stretch longest;
  const double band = kBand + kNoiseBand * curve.noise;
  const auto length = [&](const Stretch& stretch) { return curve.x[stretch.last] - curve.x[stretch.first]; };
  for (std::size_t first = 0; first < curve.size(); ++first) {
    if (taken[first]) continue;
    Stretch stretch{first, first};
    double low = curve.fit[first], high = low;
    for (std::size_t i = first + 1; i < curve.size() && !taken[i]; ++i) {
      low = std::min(low, curve.fit[i]);
      high = std::max(high, curve.fit[i]);
      if (high - low > band) break;
      stretch.last = i;
    }
    if (length(stretch) > length(longest)) longest = stretch;
  }
  return longest;
}

}  // namespace

std::vector<Stretch> calm_stretches(const UnitCurve& curve, std::vector<bool> taken, std::size_t least_evaluations) {
  std::vector<Stretch> calm;
  while (true) {
    const Stretch stretch = longest_free(curve, taken);
    const auto [first, last] = stretch;
    const double length = curve.x[last] - curve.x[first];
    if (length < kLeastLength || last - first + 1 < least_evaluations) return calm;
    for (std::size_t i = first; i <= last; ++i) taken[i] = true;
    const bool drifts = std::abs(curve.fit[last] - curve.fit[first]) > kSlope * length;
    const bool diverged = median(curve.v, first, last) <= kDivergedLevel;
    if (!drifts && !diverged) calm.push_back(stretch);
  }
}

}  // namespace eureka
