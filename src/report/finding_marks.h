// What the detector found, as marks on a plot.
#pragma once

#include "report/curve_plot.h"
#include "stats/detector.h"

namespace eureka {

PlotMarks marks_of(const Findings& findings);

}  // namespace eureka
