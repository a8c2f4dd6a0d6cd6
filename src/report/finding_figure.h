// What the detector found in anybody's curve, as a figure.
#pragma once

#include <span>
#include <string>

#include "report/report_figure.h"
#include "stats/detector.h"

namespace eureka {

struct FindingSubject {
  std::string column, step_column;
  std::span<const double> steps, values;
};

// The curve, its plateaus shaded with their levels, its moments and other rises that have a name.
ReportFigure finding_figure(const FindingSubject& subject, const Findings& findings);

}  // namespace eureka
