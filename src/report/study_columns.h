// The statistics of the arms of a study as one table that fits the terminal: what matters least goes first.
//
//   print("{}", Layout{statistics_table(report, point, {.width = 80})});
#pragma once

#include <string>

#include "report/study_table.h"

namespace eureka {

// The table, and below it what its columns mean: of those that are there.
std::string statistics_table(const StudyReport& report, const PointReport& point, const StudyTextOptions& options);

}  // namespace eureka
