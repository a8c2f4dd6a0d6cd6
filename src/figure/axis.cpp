#include "figure/axis.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace eureka {
namespace {

// The smallest 1, 2 or 5 times a power of ten not below `raw`.
double round_step(double raw) {
  const double power = std::pow(10.0, std::floor(std::log10(raw)));
  for (const double factor : {1.0, 2.0, 5.0})
    if (factor * power >= raw * (1 - 1e-9)) return factor * power;
  return 10 * power;
}

}  // namespace

Ticks ticks_around(double low, double high, int most) {
  Ticks ticks;
  ticks.step = round_step((high - low) / std::max(1, most - 1));
  ticks.first = std::floor(low / ticks.step + 1e-9) * ticks.step;
  ticks.count = static_cast<int>(std::ceil((high - ticks.first) / ticks.step - 1e-9)) + 1;
  return ticks;
}

AxisRange widened(double low, double high) {
  if (high < low) std::swap(low, high);
  const double size = std::max(std::abs(low), std::abs(high));
  if (high - low > std::max(1e-290, size * 1e-12)) return {low, high};
  const double room = size > 1e-280 ? size * 0.1 : 1;
  return {low - room, high + room};
}

AxisRange snapped(AxisRange range, Ticks& ticks) {
  if (range.low - ticks.first <= ticks.step / 2) {
    range.low = ticks.first;
  } else {
    ticks.first += ticks.step;
    --ticks.count;
  }
  if (ticks.last() - range.high <= ticks.step / 2)
    range.high = ticks.last();
  else
    --ticks.count;
  return range;
}

std::optional<double> usable(const std::optional<double>& limit) {
  return limit && std::abs(*limit) <= kLargestPlotted ? limit : std::nullopt;
}

std::string number_text(double x, double step) {
  const double size = std::max(std::abs(x), step);
  if (size >= 1e6 || step < 1e-5) return fmt::format("{:.3g}", x);
  const int decimals = std::max(0, static_cast<int>(std::ceil(-std::log10(step) - 1e-9)));
  return fmt::format("{:.{}f}", std::abs(x) < step * 1e-6 ? 0.0 : x, decimals);
}

std::string step_text(double x) {
  // Moments are interpolated between evaluations: their decimals mean something only on axes of epochs.
  if (std::abs(x) >= 100 && std::abs(x) < 1e15) return fmt::format("{}", std::llround(x));
  if (x == std::floor(x) && std::abs(x) < 1e15) return fmt::format("{}", static_cast<std::int64_t>(x));
  return fmt::format("{:.6g}", x);
}

std::string short_step_text(double x, double step) {
  if (std::abs(x) >= 1e15 || step != std::floor(step)) return fmt::format("{:.4g}", x);
  if (std::abs(x) >= 1e6 && std::fmod(step, 1e3) == 0) return fmt::format("{:.6g}M", x / 1e6);
  if (std::abs(x) >= 1e4 && std::fmod(step, 1e3) == 0) return step_text(x / 1e3) + "k";
  return step_text(x);
}

}  // namespace eureka
