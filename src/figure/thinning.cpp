#include "figure/thinning.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace eureka::figure {
namespace {

constexpr std::size_t kPointsPerBin = 4;

}  // namespace

void ThinnedCurve::Bin::add(const Numbered& one) {
  ++count;
  if (!std::isfinite(one.point.y)) {
    has_gap = true;
    if (count == 1) first = low = high = last = one;
    return;
  }
  const bool is_first = !std::isfinite(first.point.y) || count == 1;
  if (is_first) {
    first = low = high = last = one;
    return;
  }
  if (one.point.y < low.point.y) low = one;
  if (one.point.y > high.point.y) high = one;
  last = one;
}

void ThinnedCurve::Bin::add(const Bin& later) {
  const bool was_empty = !std::isfinite(first.point.y), adds = std::isfinite(later.first.point.y);
  const std::size_t together = count + later.count;
  const bool gap = has_gap || later.has_gap;
  if (was_empty && adds) *this = later;
  if (!was_empty && adds) {
    if (later.low.point.y < low.point.y) low = later.low;
    if (later.high.point.y > high.point.y) high = later.high;
    last = later.last;
  }
  count = together;
  has_gap = gap;
}

ThinnedCurve::ThinnedCurve(std::size_t most, std::vector<Stretch> exact)
    : most_bins_(std::max<std::size_t>(2, most / kPointsPerBin * 2)),
      exact_stretches_(std::move(exact)),
      exact_counts_(exact_stretches_.size()) {}

void ThinnedCurve::add(double x, double y) {
  const Numbered one{seen_++, {x, y}};
  for (std::size_t i = 0; i < exact_stretches_.size(); ++i) {
    if (x < exact_stretches_[i].from || x > exact_stretches_[i].to) continue;
    if (exact_counts_[i]++ < most_bins_ * 2) exact_.push_back(one);
    break;
  }
  if (bins_.empty() || bins_.back().count == per_bin_) {
    if (bins_.size() == most_bins_) halve();
    if (bins_.empty() || bins_.back().count == per_bin_) bins_.emplace_back();
  }
  bins_.back().add(one);
}

void ThinnedCurve::halve() {
  std::vector<Bin> merged;
  for (std::size_t i = 0; i < bins_.size(); i += 2) {
    merged.push_back(bins_[i]);
    if (i + 1 < bins_.size()) merged.back().add(bins_[i + 1]);
  }
  bins_ = std::move(merged);
  per_bin_ *= 2;
}

std::vector<Point> ThinnedCurve::points() const {
  std::vector<Numbered> kept = exact_;
  for (const Bin& bin : bins_) {
    if (std::isfinite(bin.first.point.y)) kept.insert(kept.end(), {bin.first, bin.low, bin.high, bin.last});
    if (bin.has_gap) kept.push_back({bin.last.number, {bin.last.point.x, std::numeric_limits<double>::quiet_NaN()}});
  }
  std::stable_sort(kept.begin(), kept.end(), [](const Numbered& a, const Numbered& b) { return a.number < b.number; });
  std::vector<Point> points;
  for (std::size_t i = 0; i < kept.size(); ++i) {
    const bool is_same = i > 0 && kept[i].number == kept[i - 1].number &&
                         std::isfinite(kept[i].point.y) == std::isfinite(kept[i - 1].point.y);
    if (!is_same) points.push_back(kept[i].point);
  }
  return points;
}

std::vector<Point> thinned(const std::vector<Point>& points, std::size_t most) {
  ThinnedCurve curve(most);
  for (const Point& point : points) curve.add(point.x, point.y);
  return curve.points();
}

}  // namespace eureka::figure
