#include "stats/grokking.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <vector>

#include "base/median.h"

namespace eureka {

namespace {

constexpr double kAhead = 0.5;            // of the rise: training is ahead by so much on the plateau ...
constexpr double kLastGain = 0.25;        // ... and gains at most so much more while validation rises
constexpr std::size_t kBefore = 5;        // evaluations that tell where training was on the plateau, at least, ...
constexpr std::size_t kFewestBefore = 3;  // ... or all there are, if not fewer than this
constexpr double kSoonAfter = 2;          // widths after the rise that tell where training was then, ...
constexpr std::size_t kAfter = 5;         // ... or so many evaluations, if that is more

// A rise of the validation curve.
struct Climb {
  double plateau_start = 0, rise_start = 0, rise_end = 0;
  double from = 0, to = 0;

  double height() const { return to - from; }  // negative where better is down, as all that is divided by it
};

// What training was at for a quarter of the time: it may collapse for a while and be none the worse for it.
std::optional<double> level_before(const Climb& climb, std::span<const CurvePoint> training) {
  const double half = 0.5 * (climb.plateau_start + climb.rise_start);
  std::vector<double> ways;  // from where validation rests, in heights of its rise
  for (const CurvePoint& point : training) {
    if (point.step > climb.rise_start) break;
    ways.push_back((point.value - climb.from) / climb.height());
  }
  const auto late = static_cast<std::size_t>(std::count_if(training.begin(), training.begin() + std::ssize(ways),
                                                           [&](const CurvePoint& p) { return p.step >= half; }));
  if (ways.size() < kFewestBefore) return std::nullopt;
  ways.erase(ways.begin(), ways.end() - static_cast<std::ptrdiff_t>(std::min(ways.size(), std::max(late, kBefore))));
  const auto better_quarter = ways.begin() + static_cast<std::ptrdiff_t>(3 * (ways.size() - 1) / 4);
  std::nth_element(ways.begin(), better_quarter, ways.end());
  return *better_quarter;
}

// Nothing where the curve ends in the rise.
std::optional<double> level_after(const Climb& climb, std::span<const CurvePoint> training) {
  const double soon = climb.rise_end + kSoonAfter * (climb.rise_end - climb.rise_start);
  std::vector<double> ways;
  for (const CurvePoint& point : training)
    if (point.step >= climb.rise_end && (point.step <= soon || ways.size() < kAfter))
      ways.push_back((point.value - climb.from) / climb.height());
  return ways.empty() ? std::nullopt : std::optional(upper_median(std::move(ways)));
}

bool follows(const Climb& climb, std::span<const CurvePoint> training) {
  const std::optional<double> before = level_before(climb, training);
  if (!before || *before < kAhead) return false;
  return level_after(climb, training).value_or(*before) - *before <= kLastGain;
}

}  // namespace

bool follows_training(const Moment& rise, std::span<const CurvePoint> training) {
  return follows({rise.plateau.start, rise.rise_start, rise.rise_end, rise.from, rise.to}, training);
}

bool follows_training(const UnderWay& rise, std::span<const CurvePoint> training) {
  const double end = training.empty() ? rise.rise_start : training.back().step;
  return follows({rise.plateau.start, rise.rise_start, end, rise.from, rise.reached}, training);
}

}  // namespace eureka
