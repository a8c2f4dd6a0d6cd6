#include "report/run_group.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace eureka {
namespace {

constexpr std::size_t kMostPlaces = 240;

std::vector<figure::Point> finite_part(const std::vector<figure::Point>& points) {
  std::vector<figure::Point> kept;
  std::copy_if(points.begin(), points.end(), std::back_inserter(kept),
               [](const figure::Point& p) { return std::isfinite(p.y); });
  return kept;
}

std::optional<double> value_at(const std::vector<figure::Point>& curve, double x) {
  if (curve.empty() || x < curve.front().x) return std::nullopt;
  const auto next =
      std::lower_bound(curve.begin(), curve.end(), x, [](const figure::Point& p, double at) { return p.x < at; });
  if (next == curve.end()) return curve.back().y;
  if (next->x == x || next == curve.begin()) return next->y;
  const figure::Point& before = *(next - 1);
  return before.y + (x - before.x) / (next->x - before.x) * (next->y - before.y);
}

std::vector<double> places_of(const std::vector<std::vector<figure::Point>>& curves) {
  std::set<double> all;
  for (const auto& curve : curves)
    for (const figure::Point& point : curve) all.insert(point.x);
  std::vector<double> places(all.begin(), all.end());
  if (places.size() <= kMostPlaces) return places;
  std::vector<double> even;
  for (std::size_t i = 0; i < kMostPlaces; ++i)
    even.push_back(places.front() + (places.back() - places.front()) * static_cast<double>(i) / (kMostPlaces - 1));
  return even;
}

// Of sorted values, between the two nearest.
double quantile(const std::vector<double>& sorted, double share) {
  const double place = share * static_cast<double>(sorted.size() - 1);
  const auto first = static_cast<std::size_t>(place);
  const double rest = place - static_cast<double>(first);
  return first + 1 < sorted.size() ? sorted[first] + rest * (sorted[first + 1] - sorted[first]) : sorted[first];
}

}  // namespace

std::vector<figure::Point> curve_of(const RunData& run, GroupBy by) {
  std::vector<figure::Point> points = finite_part(run.metric_curve());
  if (by == GroupBy::step) return points;
  if (!run.moment()) return {};
  for (figure::Point& point : points) point.x -= *run.moment();
  return points;
}

GroupCurve group_curve(const RunGroup& group, GroupBy by) {
  std::vector<std::vector<figure::Point>> curves;
  for (const RunData* run : group.runs)
    if (std::vector<figure::Point> curve = curve_of(*run, by); !curve.empty()) curves.push_back(std::move(curve));
  GroupCurve result;
  result.runs = curves.size();
  for (const double x : places_of(curves)) {
    std::vector<double> values;
    for (const auto& curve : curves)
      if (const auto value = value_at(curve, x)) values.push_back(*value);
    // Where fewer than half have begun, a median would be of another set of runs.
    if (values.size() * 2 < curves.size() || values.empty()) continue;
    std::sort(values.begin(), values.end());
    result.median.push_back({x, quantile(values, 0.5)});
    if (curves.size() >= 3) result.quartiles.push_back({x, quantile(values, 0.25), quantile(values, 0.75)});
  }
  return result;
}

}  // namespace eureka
