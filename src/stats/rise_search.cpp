#include "stats/rise_search.h"

#include <algorithm>
#include <cmath>

#include "stats/distributions.h"

namespace eureka {

namespace {

// A level: what the fit stays within, as a share of the rise, and wider by some noise, which the fit follows a little.
constexpr double kBand = 0.2;
constexpr double kNoiseBand = 0.75;
// Closer than this to a level belongs to it. No fraction 1/n, here and below: no tie on an even grid is left to
// rounding.
constexpr double kCorner = 0.11;

constexpr double kKnownLevel = 0.25;      // of the rise: so close to the known level is on it
constexpr double kTrust = 0.5;            // calm and certainty asked of a rise from a known level, against any other
constexpr double kLeastStart = 0.045;     // of the curve: a shorter plateau at the very start is a delayed start
constexpr std::size_t kLostToNoise = 1;   // evaluations of a short plateau that noise may have put beside it
constexpr double kWidthOfBudget = 0.15;   // a rise that takes more of the planned run is gradual learning ...
constexpr double kWidthOfSpacing = 4;     // ... unless it is over after so many evaluations
constexpr double kLeastOverNoise = 3.5;   // standard deviations
constexpr double kLeastOverSampling = 2;  // the same of what a share of so many samples may differ by
constexpr double kLeastOverRounding = 3;  // units in the last place: a slow fall makes steps of one
constexpr double kLeastSure = 24;         // standard errors of the level with fewer evaluations ...
constexpr double kLeastSureOfFew = 14;    // ... in a short log, where it cannot have many
constexpr double kRestless = 1;           // rises lost before: a random walk goes back as much as forth
constexpr double kNewGround = 0.65;       // of the rise, ...
constexpr double kLuck = 1;               // ... less so much noise, if evaluations are many: the best of them was lucky
constexpr double kLeastOfAll = 0.08;      // of all that was covered, a bad start included: less is the last polish
constexpr double kLeastFromKnownLevel = 0.2;  // of the range: elsewhere less will do
constexpr double kLeastOfWay = 0.08;          // of the way from a known level to the best there is
constexpr double kHoldOfWidth = 0.75;         // the new level against the width: if shorter, the rise may go on
constexpr double kCalmOfWidth = 4.5;          // plateau and new level together: a ripple rests for less
constexpr double kCalmAtKnownLevel = 2;       // the same after a known level
constexpr std::size_t kLastingHold = 10;      // evaluations a level must have held if the curve left it again ...
constexpr double kLastingOfCurve = 0.15;      // ... and share of the curve, unless it outlasted what came before twice
constexpr double kStopBand = 0.12;            // of the rise: a stop half-way stays within it ...
constexpr double kLongestStop = 0.51;         // ... for less than this share of the time the rise takes
constexpr double kTypicalNoise = 3;           // rise over noise that counts half in the score

// A rise that the end of the curve cuts off.
constexpr double kCutRise = 0.1;        // of the range, at least: most of it may be still to come
constexpr double kCutSharpness = 1.25;  // plateau in widths
constexpr double kCutOverNoise = 5.5;   // standard deviations about the plateau, outliers included
constexpr double kCutSure = 6;          // standard errors
// Of one that is only under way: what the chance may be, at most, that another evaluation of the plateau is so high.
constexpr double kChanceOfPlateau = 0.02;
constexpr double kLeastDeviation = 0.005;  // of the range: no plateau is known better

// It has slowed down, and so arrived, if it spent this share of its time on the last 30% of its way: a straight line
// spends a third there. A climb of fewer than four evaluations tells little of its shape and gets the benefit of doubt.
constexpr double kTopOfClimb = 0.7;
constexpr double kTimeAtTop = 0.25;
constexpr double kTimeAtTopOfFew = 0.2;
constexpr std::size_t kFewInClimb = 4;

// Higher and sharper; of the same rise seen from two corners, the one that has held longer. Rounded, because rounding
// errors depend on the units.
bool is_better(const Rise& a, const Rise& b) {
  const double merit_a = std::round(1e9 * a.height() * a.sharpness());
  const double merit_b = std::round(1e9 * b.height() * b.sharpness());
  return merit_a > merit_b || (merit_a == merit_b && a.held > b.held);
}

}  // namespace

RiseSearch::RiseSearch(const UnitCurve& curve, const DetectorOptions& options, bool finished)
    : curve_(curve),
      options_(options),
      finished_(finished),
      best_before_(curve.fit),
      lost_before_(curve.size(), 0),
      worst_before_(curve.v) {
  for (std::size_t i = 1; i < curve.size(); ++i) {
    best_before_[i] = std::max(best_before_[i - 1], curve.fit[i]);
    worst_before_[i] = std::min(worst_before_[i - 1], curve.v[i]);
    lost_before_[i] = lost_before_[i - 1] + std::max(0.0, curve.fit[i - 1] - curve.fit[i]);
  }
  if (options.plateau_level) {
    known_level_ = curve.level(*options.plateau_level);
    known_floor_ = curve.level(options.plateau_floor.value_or(*options.plateau_level));
    trust_ = kTrust;
    if (options.best_level) known_way_ = curve.level(*options.best_level) - *known_level_;
  }
  if (options.budget) budget_ = std::max(1.0, *options.budget / curve.span);
}

std::vector<Rise> RiseSearch::all() const {
  std::vector<Rise> candidates;
  for (std::size_t i = 0; i < curve_.knots.size(); ++i) {
    for (std::size_t j = i + 1; j < curve_.knots.size(); ++j) {
      const Rise rise = measure(curve_.knots[i], curve_.knots[j]);
      if (is_sudden(rise) && has_held(rise)) candidates.push_back(rise);
    }
  }
  std::stable_sort(candidates.begin(), candidates.end(), is_better);
  std::vector<Rise> chosen;
  for (const Rise& rise : candidates) {
    const auto overlaps = [&](const Rise& other) { return rise.leaves < other.arrives && other.leaves < rise.arrives; };
    if (std::none_of(chosen.begin(), chosen.end(), overlaps)) chosen.push_back(rise);
  }
  std::sort(chosen.begin(), chosen.end(), [](const Rise& a, const Rise& b) { return a.leaves < b.leaves; });
  return chosen;
}

std::optional<Rise> RiseSearch::under_way(const std::vector<Rise>& moments) const {
  std::optional<Rise> best;
  const std::size_t last = curve_.size() - 1;
  for (const std::size_t leaves : curve_.knots) {
    if (leaves == last) continue;
    const Rise rise = measure(leaves, last);
    if (!is_sudden(rise, Claim::under_way) || has_held(rise) || !is_cut_off(rise, Claim::under_way)) continue;
    const bool after_moments = moments.empty() || moments.back().arrives <= rise.leaves;
    if (after_moments && (!best || is_better(rise, *best))) best = rise;
  }
  return best;
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
  if (curve_.is_short_log) {  // elsewhere there are evaluations enough
    rise.spacing = (curve_.x[arrives] - curve_.x[leaves]) / static_cast<double>(arrives - leaves);
  }
  const auto band = [&](std::size_t at) { return kBand * height + kNoiseBand * curve_.noise_at[at]; };
  rise.plateau_first = walk_level(fit, leaves, -1, band(leaves));
  const std::size_t level_last = walk_level(fit, arrives, +1, band(arrives));
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

bool RiseSearch::is_sudden(const Rise& rise, Claim claim) const {
  const double covered = rise.to - std::min(0.0, worst_before_[rise.leaves]);
  return rise.height() >= std::max({kCutRise, kLeastOfAll * covered, kLeastOfWay * known_way_}) &&
         leaves_plateau(rise) && is_sharp(rise) && stands_out(rise, claim) && breaks_new_ground(rise) &&
         is_one_rise(rise);
}

bool RiseSearch::leaves_plateau(const Rise& rise) const {
  if (rise.plateau_first == 0 && rise.plateau_length < kLeastStart * budget_) return false;
  const std::size_t evaluations =
      std::min(rise.leaves - rise.plateau_first + 1, curve_.count_before(rise.x10, rise.plateau_first));
  const double reach = kKnownLevel * rise.height();
  const std::size_t lost = curve_.is_short_log && rise.height() >= kLeastFromKnownLevel ? kLostToNoise : 0;
  return evaluations + lost >= options_.min_plateau &&
         (!known_level_ || (rise.from <= *known_level_ + reach && rise.from >= known_floor_ - reach));
}

bool RiseSearch::is_sharp(const Rise& rise) const {
  return trust_ * rise.seen_width() <= options_.max_width_of_plateau * rise.plateau_length &&
         (!options_.budget || rise.width() <= std::max(kWidthOfBudget * budget_, kWidthOfSpacing * rise.spacing));
}

bool RiseSearch::stands_out(const Rise& rise, Claim claim) const {
  // A plateau of no answer right shows no noise, and one right answer more is no rise.
  const double by_samples = std::max(curve_.sampling_deviation(rise.from), curve_.sampling_deviation(rise.to));
  const double by_rounding = std::max(curve_.rounding_unit(rise.from), curve_.rounding_unit(rise.to));
  if (rise.height() < std::max(kLeastOverSampling * by_samples, kLeastOverRounding * by_rounding) ||
      lost_before_[rise.leaves] > kRestless * rise.height())
    return false;
  if (claim == Claim::under_way) return is_off_the_plateau(rise);
  const std::size_t fewer = std::min(rise.leaves - rise.plateau_first + 1, rise.past_half);
  const double sure = rise.over_noise * std::sqrt(static_cast<double>(fewer));
  const double least_sure = trust_ * (curve_.is_short_log ? kLeastSureOfFew : kLeastSure);
  return rise.over_noise >= kLeastOverNoise && sure >= (is_cut_off(rise, claim) ? kCutSure : least_sure);
}

bool RiseSearch::is_off_the_plateau(const Rise& rise) const {
  if (rise.leaves == rise.plateau_first) return false;  // one evaluation shows no scatter
  const auto seen = static_cast<double>(rise.leaves - rise.plateau_first + 1);
  const double scatter = deviation(curve_.v, rise.plateau_first, rise.leaves) * std::sqrt(seen / (seen - 1));
  const double t = rise.height() / (std::max(scatter, kLeastDeviation) * std::sqrt(1 + 1 / seen));
  return student_t_cdf(-t, seen - 1) <= kChanceOfPlateau;
}

bool RiseSearch::breaks_new_ground(const Rise& rise) const {
  const double luck = curve_.is_short_log ? 0 : kLuck * curve_.noise_at[rise.leaves];
  return rise.to - best_before_[rise.leaves] + luck >= kNewGround * rise.height();
}

bool RiseSearch::has_held(const Rise& rise) const {
  if (rise.height() < std::max(options_.min_rise, known_level_ ? kLeastFromKnownLevel : 0)) return false;
  const std::size_t back = curve_.count_before(rise.x50) + rise.past_half;
  const double width = rise.seen_width();
  const bool held = rise.held >= options_.hold && rise.held_length >= kHoldOfWidth * width &&
                    rise.held_length + rise.plateau_length >= (known_level_ ? kCalmAtKnownLevel : kCalmOfWidth) * width;
  if (back < curve_.size()) {  // a ripple, a long spike or a collapse
    const double lasting = std::min(2 * (rise.plateau_length + rise.width()), kLastingOfCurve);
    return held && back >= rise.arrives + kLastingHold && curve_.x[back] - rise.x50 >= lasting;
  }
  return held || (is_cut_off(rise) && has_slowed_down(rise));
}

bool RiseSearch::is_cut_off(const Rise& rise, Claim claim) const {
  const double least =
      claim == Claim::moment ? kCutOverNoise * deviation(curve_.v, rise.plateau_first, rise.leaves) : 0;
  return finished_ && rise.arrives + rise.held >= curve_.size() && rise.height() >= least &&
         trust_ * kCutSharpness * rise.seen_width() <= rise.plateau_length;
}

bool RiseSearch::has_slowed_down(const Rise& rise) const {
  const double end = curve_.x.back();
  if (is_steepest_at_end(rise)) return false;
  const double top = rise.from + kTopOfClimb * rise.height();
  const double at_top = end - crossing(curve_, rise.plateau_first, curve_.size() - 1, top, rise.height());
  const bool few = curve_.size() - curve_.count_before(rise.x10) < kFewInClimb;
  return rise.past_half >= 2 && at_top >= (few ? kTimeAtTopOfFew : kTimeAtTop) * (end - rise.x10);
}

bool RiseSearch::is_steepest_at_end(const Rise& rise) const {
  const auto steepness = [&](std::size_t i) {
    return (curve_.v[i] - curve_.v[i - 1]) / (curve_.x[i] - curve_.x[i - 1]);
  };
  const std::size_t last = curve_.size() - 1;
  double before = 0;
  for (std::size_t i = rise.leaves + 1; i < last; ++i) before = std::max(before, steepness(i));
  return steepness(last) > before + curve_.noise / (curve_.x[last] - curve_.x[last - 1]);
}

bool RiseSearch::is_one_rise(const Rise& rise) const {
  double longest = 0;
  for (std::size_t i = rise.leaves; i < rise.arrives; ++i) {
    const double way = (curve_.fit[i] - rise.from) / rise.height();
    if (way < kBand || way > 1 - kBand) continue;
    const std::size_t end = std::min(rise.arrives, walk_level(curve_.fit, i, +1, kStopBand * rise.height()));
    longest = std::max(longest, curve_.x[end] - curve_.x[i]);
  }
  return longest <= kLongestStop * (curve_.x[rise.arrives] - curve_.x[rise.leaves]);
}

}  // namespace eureka
