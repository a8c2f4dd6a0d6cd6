// Data sets of the survival analysis literature, in the form they are printed: a negative number is a censored time.
#pragma once

#include <cmath>
#include <initializer_list>
#include <vector>

#include "stats/restricted_mean.h"

namespace eureka {

inline std::vector<SurvivalTime> times_from(std::initializer_list<double> printed) {
  std::vector<SurvivalTime> times;
  for (const double time : printed) times.push_back({std::abs(time), time > 0});
  return times;
}

// Freireich et al. 1963, weeks of remission in acute leukaemia.
inline std::vector<SurvivalTime> freireich_placebo() {
  return times_from({1, 1, 2, 2, 3, 4, 4, 5, 5, 8, 8, 8, 8, 11, 11, 12, 12, 15, 17, 22, 23});
}
inline std::vector<SurvivalTime> freireich_6mp() {
  return times_from({6, 6, 6, -6, 7, -9, 10, -10, -11, 13, 16, -17, -19, -20, 22, 23, -25, -32, -32, -34, -35});
}

// Miller 1981 (Embury et al.), weeks of remission in acute myelogenous leukaemia with and without maintenance.
inline std::vector<SurvivalTime> aml_maintained() {
  return times_from({9, 13, -13, 18, 23, -28, 31, 34, -45, 48, -161});
}
inline std::vector<SurvivalTime> aml_not_maintained() {
  return times_from({5, 5, 8, 8, 12, -16, 23, 27, 30, 33, 43, 45});
}

}  // namespace eureka
