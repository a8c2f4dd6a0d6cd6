#include "stats/first_rise.h"

#include <algorithm>
#include <cmath>

namespace eureka {

namespace {

constexpr double kOnLevel = 0.25;       // of the way from the level to the best: so close to it is on it
constexpr double kLeastOverNoise = 4;   // standard deviations: less is an unlucky first evaluation
constexpr double kLeastOfWay = 0.08;    // of the way from the level on: less is no step of its own
constexpr double kWidthOfPlateau = 2;   // wider is creeping
constexpr double kLeastOverSample = 2;  // deviations of shares of so many samples

// In levels of the curve: where it stalls, and how far it is from there to the best.
struct KnownLevel {
  double level = 0, floor = 0;
  double way = 0;

  bool holds(double value) const { return value <= level + kOnLevel * way && value >= floor - kOnLevel * way; }
};

KnownLevel known_level(const UnitCurve& curve, const DetectorOptions& options) {
  KnownLevel known{.level = curve.level(*options.plateau_level)};
  known.floor = curve.level(options.plateau_floor.value_or(*options.plateau_level));
  // The best seen may be the plateau itself: then what was covered so far is all there is to go by.
  const double best = options.best_level ? curve.level(*options.best_level) : 1;
  known.way = best - known.level;
  if (!options.best_level) known.way = std::max(known.way, known.level - curve.v.front());
  return known;
}

}  // namespace

std::optional<FirstRise> find_first_rise(const UnitCurve& curve, const DetectorOptions& options,
                                         const Findings& found) {
  if (!options.plateau_level) return std::nullopt;
  const KnownLevel known = known_level(curve, options);
  const auto is_known = [&](const Plateau& plateau) { return known.holds(curve.level(plateau.level)); };
  const auto plateau = std::find_if(found.plateaus.begin(), found.plateaus.end(), is_known);
  if (plateau == found.plateaus.end()) return std::nullopt;

  const double from = curve.v.front(), to = curve.level(plateau->level), height = to - from;
  const double noise = std::max(kLeastOverNoise * curve.noise, kLeastOverSample * curve.sampling_deviation(to));
  if (height < std::max(noise, kLeastOfWay * known.way)) return std::nullopt;

  const double end = (plateau->end - curve.origin) / curve.span;
  const std::size_t last = std::min(curve.size() - 1, std::max<std::size_t>(1, curve.count_before(end)));
  const auto crosses = [&](double way) { return crossing(curve, 0, last, from + way * height, height); };
  const double x10 = crosses(0.1), x90 = crosses(0.9);
  if (x90 - x10 > kWidthOfPlateau * (end - x90)) return std::nullopt;
  return FirstRise{.step = curve.step(crosses(0.5)),
                   .rise_start = curve.step(x10),
                   .rise_end = curve.step(x90),
                   .from = curve.value(from),
                   .to = plateau->level};
}

}  // namespace eureka
