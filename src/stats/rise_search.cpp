#include "stats/rise_search.h"

#include <algorithm>
#include <cmath>

namespace eureka {

namespace {

// A level: what the fit stays within, as a share of the rise, and wider by some noise, which the fit follows a little.
constexpr double kBand = 0.2;
constexpr double kNoiseBand = 0.75;
// Closer than this to a level belongs to it. No fraction 1/n, here and below: no tie on an even grid is left to
// rounding.
constexpr double kCorner = 0.11;

constexpr double kKnownLevel = 0.25;      // of the rise: so close to the known level is on it
constexpr double kTrust = 0.5;            // calm asked for around a rise from a known level, against any other
constexpr double kLeastStart = 0.04;      // of the curve: a shorter plateau at the very start is a delayed start
constexpr double kWidthOfBudget = 0.15;   // a rise that takes more of the planned run is gradual learning
constexpr double kLeastOverNoise = 3.5;   // standard deviations
constexpr double kLeastSure = 12;         // standard errors of the level with fewer evaluations
constexpr double kRestless = 1;           // rises lost before: a random walk goes back as much as forth
constexpr double kNewGround = 0.65;       // of the rise
constexpr double kHoldOfWidth = 0.75;     // the new level against the width: if shorter, the rise may go on
constexpr double kCalmOfWidth = 4;        // plateau and new level together: a ripple rests for less
constexpr std::size_t kLastingHold = 10;  // evaluations a level must have held if the curve left it again ...
constexpr double kLastingOfCurve = 0.15;  // ... and share of the curve, unless it outlasted what came before twice
constexpr double kLongestStop = 0.51;     // of the rise
constexpr double kCutSharpness = 1.5;     // plateau in widths, when the end of the curve cuts the rise short
constexpr double kCutOverNoise = 5;
constexpr double kTypicalNoise = 3;  // rise over noise that counts half in the score

}  // namespace

RiseSearch::RiseSearch(const UnitCurve& curve, const DetectorOptions& options, bool finished)
    : curve_(curve), options_(options), finished_(finished), best_before_(curve.fit), lost_before_(curve.size(), 0) {
  for (std::size_t i = 1; i < curve.size(); ++i) {
    best_before_[i] = std::max(best_before_[i - 1], curve.fit[i]);
    lost_before_[i] = lost_before_[i - 1] + std::max(0.0, curve.fit[i - 1] - curve.fit[i]);
  }
  if (options.plateau_level) {
    known_level_ = curve.level(*options.plateau_level);
    known_floor_ = curve.level(options.plateau_floor.value_or(*options.plateau_level));
    trust_ = kTrust;
  }
  if (options.budget) budget_ = std::max(1.0, *options.budget / curve.span);
}

std::vector<Rise> RiseSearch::all() const {
  std::vector<Rise> candidates;
  for (std::size_t i = 0; i < curve_.knots.size(); ++i) {
    for (std::size_t j = i + 1; j < curve_.knots.size(); ++j) {
      const Rise rise = measure(curve_.knots[i], curve_.knots[j]);
      if (accepted(rise)) candidates.push_back(rise);
    }
  }
  const auto merit = [](const Rise& rise) { return rise.height() * rise.sharpness(); };
  std::stable_sort(candidates.begin(), candidates.end(),
                   [&](const Rise& a, const Rise& b) { return merit(a) > merit(b); });
  std::vector<Rise> chosen;
  for (const Rise& rise : candidates) {
    const auto overlaps = [&](const Rise& other) { return rise.leaves < other.arrives && other.leaves < rise.arrives; };
    if (std::none_of(chosen.begin(), chosen.end(), overlaps)) chosen.push_back(rise);
  }
  std::sort(chosen.begin(), chosen.end(), [](const Rise& a, const Rise& b) { return a.leaves < b.leaves; });
  return chosen;
}

double RiseSearch::score(const Rise& rise) const {
  const double signal = rise.over_noise * rise.over_noise;
  const double clear = signal / (signal + kTypicalNoise * kTypicalNoise);
  const double held = std::min(1.0, static_cast<double>(rise.held) / static_cast<double>(options_.hold));
  return std::sqrt(clear * rise.sharpness()) * (0.5 + 0.5 * held);
}

Rise RiseSearch::measure(std::size_t leaves, std::size_t arrives) const {
  const std::vector<double>& fit = curve_.fit;
  const double height = fit[arrives] - fit[leaves];
  if (height < 0.5 * options_.min_rise) return {};
  // a corner may be the far end of a level piece: the near end is meant
  const double low = fit[leaves] + kCorner * height, high = fit[arrives] - kCorner * height;
  while (leaves + 1 < arrives && fit[leaves + 1] <= low) ++leaves;
  while (arrives - 1 > leaves && fit[arrives - 1] >= high) --arrives;

  Rise rise{.leaves = leaves, .arrives = arrives};
  const double band = kBand * height + kNoiseBand * curve_.noise;
  rise.plateau_first = walk_level(fit, leaves, -1, band);
  const std::size_t level_last = walk_level(fit, arrives, +1, band);
  rise.held = level_last - arrives + 1;
  rise.held_length = curve_.x[level_last] - curve_.x[arrives];

  // slow improvement may follow: the level after is what comes soon after
  std::size_t last = arrives;
  const double soon = curve_.x[arrives] + 1.99 * (curve_.x[arrives] - curve_.x[leaves]);  // not 2: on no grid point
  while (last < level_last && (curve_.x[last] < soon || last < arrives + 2 * options_.hold)) ++last;
  rise.from = median(curve_.v, rise.plateau_first, leaves);
  rise.to = rise.held >= 3 ? median(curve_.v, arrives, last) : fit[arrives];

  const double jump = rise.height();
  const auto crosses = [&](double way) {
    return crossing(curve_, rise.plateau_first, last, rise.from + way * jump, std::abs(jump));
  };
  rise.x10 = crosses(0.1);
  rise.x50 = crosses(0.5);
  rise.x90 = crosses(0.9);
  rise.plateau_length = std::min(rise.x10, curve_.x[leaves]) - curve_.x[rise.plateau_first];

  std::size_t back = arrives;
  while (back < curve_.size() && fit[back] >= rise.from + 0.5 * jump) ++back;
  rise.past_half = back - std::min(back, curve_.count_before(rise.x50));
  const double noise = std::max(spread(curve_.v, rise.plateau_first, leaves), spread(curve_.v, arrives, level_last));
  rise.over_noise = jump / std::max(noise, 1e-9);
  return rise;
}

bool RiseSearch::accepted(const Rise& rise) const {
  return rise.height() >= options_.min_rise && leaves_plateau(rise) && is_sharp(rise) && stands_out(rise) &&
         breaks_new_ground(rise) && has_held(rise) && is_one_rise(rise);
}

bool RiseSearch::leaves_plateau(const Rise& rise) const {
  if (rise.plateau_first == 0 && rise.plateau_length < kLeastStart * budget_) return false;
  const std::size_t evaluations =
      std::min(rise.leaves - rise.plateau_first + 1, curve_.count_before(rise.x10, rise.plateau_first));
  const double reach = kKnownLevel * rise.height();
  return evaluations >= options_.min_plateau &&
         (!known_level_ || (rise.from <= *known_level_ + reach && rise.from >= known_floor_ - reach));
}

bool RiseSearch::is_sharp(const Rise& rise) const {
  return trust_ * rise.width() <= options_.max_width_of_plateau * rise.plateau_length &&
         rise.width() <= options_.max_width_of_curve && (!options_.budget || rise.width() <= kWidthOfBudget * budget_);
}

bool RiseSearch::stands_out(const Rise& rise) const {
  const std::size_t fewer = std::min(rise.leaves - rise.plateau_first + 1, rise.past_half);
  return rise.over_noise >= kLeastOverNoise && rise.over_noise * std::sqrt(static_cast<double>(fewer)) >= kLeastSure &&
         lost_before_[rise.leaves] <= kRestless * rise.height();
}

bool RiseSearch::breaks_new_ground(const Rise& rise) const {
  return rise.to - best_before_[rise.leaves] >= kNewGround * rise.height();
}

bool RiseSearch::has_held(const Rise& rise) const {
  const std::size_t n = curve_.size();
  const std::size_t back = curve_.count_before(rise.x50) + rise.past_half;
  const bool held = rise.held >= options_.hold && rise.held_length >= kHoldOfWidth * rise.width() &&
                    rise.held_length + rise.plateau_length >= trust_ * kCalmOfWidth * rise.width();
  if (back < n) {  // a ripple, a long spike or a collapse
    const double lasting = std::min(2 * (rise.plateau_length + rise.width()), kLastingOfCurve);
    return held && back >= rise.arrives + kLastingHold && curve_.x[back] - rise.x50 >= lasting;
  }
  if (held) return true;
  if (!finished_ || rise.arrives + rise.held < n) return false;
  const double x25 = rise.x10 + 0.375 * (rise.x50 - rise.x10);
  return rise.past_half >= 2 && n - curve_.count_before(x25) >= 3 && rise.over_noise >= kCutOverNoise &&
         trust_ * kCutSharpness * rise.width() <= rise.plateau_length;
}

bool RiseSearch::is_one_rise(const Rise& rise) const {
  double longest = 0;
  for (std::size_t i = rise.leaves; i < rise.arrives; ++i) {
    const double way = (curve_.fit[i] - rise.from) / rise.height();
    if (way < kBand || way > 1 - kBand) continue;
    const std::size_t end = std::min(rise.arrives, walk_level(curve_.fit, i, +1, kBand * rise.height()));
    longest = std::max(longest, curve_.x[end] - curve_.x[i]);
  }
  return longest <= kLongestStop * (curve_.x[rise.arrives] - curve_.x[rise.leaves]);
}

}  // namespace eureka
