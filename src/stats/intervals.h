// Confidence intervals for a rate and for a mean, fit for ten runs, and the types every interval of ours has.
//
//   Interval rate = wilson_interval(8, 10);            // 8 of 10 runs had their moment: 0.49 to 0.94
//   std::optional<Interval> mean = mean_interval(accuracies);
#pragma once

#include <cstddef>
#include <optional>
#include <span>

namespace eureka {

struct Interval {
  double low = 0;
  double high = 0;
  bool contains(double value) const { return low <= value && value <= high; }
};

// An interval of which the data may fix one end only: an absent end is beyond all that was observed.
struct OpenInterval {
  std::optional<double> low;
  std::optional<double> high;
  bool contains(double value) const { return (!low || *low <= value) && (!high || value <= *high); }
};

constexpr double kDefaultLevel = 0.95;

// Wilson's score interval for a rate of `hits` in `n`, which need not be whole. n = 0 tells nothing: 0 to 1.
Interval wilson_interval(double hits, double n, double level = kDefaultLevel);

// Student's interval for the mean; nothing for fewer than two values.
std::optional<Interval> mean_interval(std::span<const double> values, double level = kDefaultLevel);

}  // namespace eureka
