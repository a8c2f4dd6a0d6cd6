// Plateaus that no moment ends: where a run got stuck, and where it arrived.
#pragma once

#include <cstddef>
#include <vector>

#include "stats/unit_curve.h"

namespace eureka {

struct Stretch {
  std::size_t first = 0, last = 0;  // indices, both inside
};

// Longest first, none through a point that is `taken`. A stretch is calm if the fit stays in a narrow band for a good
// part of the curve, with far less slope than the curve has on the whole: a steady drift has no plateaus.
std::vector<Stretch> calm_stretches(const UnitCurve& curve, std::vector<bool> taken, std::size_t least_evaluations);

}  // namespace eureka
