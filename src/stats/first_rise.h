// The first fast rise of a curve, from where it starts to the plateau that its task is known to stall at. It tells that
// the first, easy step was learned, and is no moment.
#pragma once

#include <optional>

#include "stats/detector.h"
#include "stats/unit_curve.h"

namespace eureka {

// `plateaus`, in order, are what was found in the curve. Nothing where no level is known, where the curve has not come
// to rest on it, begins on it, or crept there over more than twice the time it then stayed.
std::optional<FirstRise> find_first_rise(const UnitCurve& curve, const DetectorOptions& options, const Findings& found);

}  // namespace eureka
