// The numbers along the axes of a plot, in the terminal and on paper: round ticks, ranges that can be divided by, short
// labels.
#pragma once

#include <optional>
#include <string>

namespace eureka {

inline constexpr double kLargestPlotted = 1e300;  // keeps differences of finite numbers finite

// Round numbers along an axis: first + i * step, i < count.
struct Ticks {
  double first = 0, step = 1;
  int count = 0;
  double at(int i) const { return first + i * step; }
  double last() const { return at(count - 1); }
};

// Ticks from at or below `low` to at or above `high`, at most about `most` of them.
Ticks ticks_around(double low, double high, int most);

struct AxisRange {
  double low = 0, high = 1;
};

// A range that can be divided by, whatever it was made from.
AxisRange widened(double low, double high);

// Goes to the outer ticks where they are near; else a curve that dips to -0.01 would get a whole empty stretch below 0.
AxisRange snapped(AxisRange range, Ticks& ticks);

// The limit, if it is a number that can be drawn to.
std::optional<double> usable(const std::optional<double>& limit);

std::string number_text(double x, double step);
std::string step_text(double x);

// 250000 -> "250k": long labels would leave room for few.
std::string short_step_text(double x, double step);

}  // namespace eureka
