// Times of many steps of the same work.
#pragma once

#include <algorithm>
#include <vector>

#include "base/median.h"

namespace eureka {

// Wall-clock times of single steps, and the processor time of all of them together: a busy neighbor stretches the
// first and hardly the second.
struct StepTimes {
  std::vector<double> ms;
  double cpu_ms = 0;

  double cpu() const { return cpu_ms / static_cast<double>(ms.size()); }
  double best() const { return *std::min_element(ms.begin(), ms.end()); }
  double median() const { return eureka::median(ms); }
};

}  // namespace eureka
