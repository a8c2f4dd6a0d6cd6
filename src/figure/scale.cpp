#include "figure/scale.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace eureka::figure {
namespace {

// One number on an axis does not say how far it goes.
constexpr std::size_t kFewestTicks = 2;
constexpr int kMoreTicks = 4;

// "200", "0.05", "5e-6": few letters whatever the power is.
std::string decade_text(double factor, double power) {
  return power < -3 || power > 4 ? fmt::format("{:g}e{:g}", factor, power)
                                 : fmt::format("{:g}", factor * std::pow(10, power));
}

}  // namespace

void Extent::add(double value) {
  if (!(std::abs(value) <= kLargestPlotted)) return;
  low = std::min(low, value);
  high = std::max(high, value);
}

void Extent::add(const Extent& other) {
  if (other.is_empty()) return;
  add(other.low), add(other.high);
}

Scale::Scale(Extent extent, const Axis& axis, double from, double to, int most) : from_(from), to_(to) {
  if (extent.is_empty()) extent = {0, 1};
  const double low = usable(axis.low).value_or(extent.low), high = usable(axis.high).value_or(extent.high);
  is_logarithmic_ = axis.is_logarithmic && std::min(low, high) > 0;
  if (is_logarithmic_) {
    const AxisRange range = widened(std::log10(low), std::log10(high));
    low_ = std::pow(10, range.low), high_ = std::pow(10, range.high);
    set_decades(most);
    if (ticks_.size() < kFewestTicks) set_decades(most, true);
    // Within a part of a decade.
    for (int more = most; ticks_.size() < kFewestTicks && more < most + kMoreTicks; ++more)
      set_plain_ticks({.low = low_, .high = high_}, more);
    return;
  }
  const AxisRange range = widened(low, high);
  // Where both ends are given the round numbers may all lie outside.
  for (int more = most; ticks_.size() < kFewestTicks && more < most + kMoreTicks; ++more) {
    low_ = range.low, high_ = range.high;
    set_plain_ticks(axis, more);
  }
}

void Scale::set_plain_ticks(const Axis& axis, int most) {
  ticks_.clear();
  Ticks ticks = ticks_around(low_, high_, most);
  const AxisRange round = snapped({low_, high_}, ticks);
  if (!usable(axis.low)) low_ = round.low;
  if (!usable(axis.high)) high_ = round.high;
  const double slack = 1e-9 * (high_ - low_);
  for (int i = 0; i < ticks.count; ++i) {
    const double at = ticks.at(i);
    if (at < low_ - slack || at > high_ + slack) continue;
    ticks_.push_back({at, axis.is_percent       ? fmt::format("{:.0f}%", 100 * at)
                          : std::abs(at) >= 1e4 ? short_step_text(at, ticks.step)
                                                : number_text(at, ticks.step)});
  }
}

void Scale::set_decades(int most, bool always_parts) {
  ticks_.clear();
  const double first = std::floor(std::log10(low_) + 1e-9), last = std::ceil(std::log10(high_) - 1e-9);
  const bool with_parts = always_parts || last - first <= 2;
  const int every = std::max(1, static_cast<int>(std::ceil((last - first) / std::max(1, most))));
  for (double power = first; power <= last; power += every)
    for (const double factor : {1.0, 2.0, 5.0}) {
      const double at = factor * std::pow(10, power);
      if ((factor > 1 && !with_parts) || at < low_ * (1 - 1e-9) || at > high_ * (1 + 1e-9)) continue;
      ticks_.push_back({at, decade_text(factor, power)});
    }
}

double Scale::place(double value) const {
  const double share = is_logarithmic_ ? (std::log10(std::max(value, 1e-300)) - std::log10(low_)) /
                                             (std::log10(high_) - std::log10(low_))
                                       : (value - low_) / (high_ - low_);
  return from_ + std::clamp(share, -1e4, 1e4) * (to_ - from_);
}

int Scale::dot(double value) const {
  constexpr int kNowhere = -1'000'000;
  const double at = place(value);
  return std::isnan(at) ? kNowhere : static_cast<int>(std::lround(at));
}

bool Scale::holds(double value) const {
  const double slack = 1e-9 * (high_ - low_);
  return value >= low_ - slack && value <= high_ + slack;
}

Scale Scale::moved(double from, double to) const {
  Scale other = *this;
  other.from_ = from, other.to_ = to;
  return other;
}

}  // namespace eureka::figure
