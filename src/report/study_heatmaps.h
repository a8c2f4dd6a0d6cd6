// A study with axes at a glance: arms by points.
#pragma once

#include <vector>

#include "lab/study_record.h"
#include "report/report_figure.h"

namespace eureka {

// The mean wait for the event, and the share of runs that had it.
std::vector<ReportFigure> study_heatmaps(const StudyRecord& record);

}  // namespace eureka
