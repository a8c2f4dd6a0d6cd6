// The median, in one place.
//
//   median({1, 2, 4, 8})          3    of an even number the mean of the two in the middle
//   upper_median({1, 2, 4, 8})    4    always one of the numbers; of the two in the middle the larger
//
// Both need at least one number, and none of them NaN.
#pragma once

#include <algorithm>
#include <vector>

#include "base/error.h"

namespace eureka {

inline double upper_median(std::vector<double> values) {
  EUREKA_CHECK(!values.empty(), "no median of nothing");
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

inline double median(std::vector<double> values) {
  EUREKA_CHECK(!values.empty(), "no median of nothing");
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return 0.5 * (*std::max_element(values.begin(), middle) + *middle);
}

}  // namespace eureka
