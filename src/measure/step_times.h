// Times of many steps of the same work.
#pragma once

#include <algorithm>
#include <numeric>
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
  // Of one thread's work: others took over a sixth of its time, so that wall-clock and processor time differ by 20%.
  bool disturbed() const { return std::accumulate(ms.begin(), ms.end(), 0.0) > 1.2 * cpu_ms; }
};

}  // namespace eureka
