// A study with axes at one look: arm by point, before the details of each point.
//
//    arm            lr=0.0015      lr=0.003      lr=0.006
//    softmax             0/20         18/20         20/20
//    norm_softmax    19/20***   20/20 1.91***  20/20 1.35***
#pragma once

#include <string>

#include "report/study_table.h"

namespace eureka {

// Runs with the event, speed-up, and stars for the p of the log-rank test; empty for a study with one point. Points
// that do not fit beside each other go below.
std::string study_overview(const StudyReport& report, const StudyTextOptions& options);

// "" from 0.05 on, "*" below it, "**" below 0.01, "***" below 0.001.
const char* stars_of(double p);

}  // namespace eureka
