// The survival curves of a point of a study, for people: at most five arms in one picture.
#pragma once

#include <string>

#include "report/study_table.h"

namespace eureka {

// The picture has the baseline, the arms asked for, then the soonest and the latest; where there are more arms than it
// can hold, a line for each follows, the soonest first.
std::string survival_of(const StudyReport& report, const PointReport& point, const StudyTextOptions& options);

}  // namespace eureka
