// The statistics of a study, drawn.
#pragma once

#include <vector>

#include "report/arm_tones.h"
#include "report/report_figure.h"
#include "report/study_data.h"

namespace eureka {

// "without a moment", or "short of the target".
std::string waiting_words(const StudyRecord& record);

// Kaplan-Meier curves of the arms at one point, with their bands and the runs still waiting.
ReportFigure survival_figure(const StudyRecord& record, std::size_t point, ArmTones& tones);

// The mean steps of the baseline over those of each arm.
ReportFigure speedup_figure(const StudyRecord& record, std::size_t point, ArmTones& tones);

// Everything that can be drawn of a study, point by point.
std::vector<ReportFigure> study_figures(const StudyData& study, ArmTones& tones);

}  // namespace eureka
