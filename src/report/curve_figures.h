// Curves of groups of runs, each group an arm of a study or a run of its own.
#pragma once

#include <string>
#include <vector>

#include "report/arm_tones.h"
#include "report/report_figure.h"
#include "report/run_group.h"

namespace eureka {

struct GroupFigureSubject {
  std::vector<RunGroup> groups;
  std::string baseline;     // drawn in every panel
  std::string name_suffix;  // of figures, where there are several such subjects
  std::string place;        // "at train.lr=0.001", for titles; empty without axes
};

// "val_accuracy" -> "validation accuracy (share of answers)"
std::string metric_label(const std::string& column);

// More groups than these are told apart in panels of their own, with the baseline in each.
inline constexpr std::size_t kMostInOnePanel = 6;

// Columns, width and height for so many panels.
void arrange(figure::Chart& chart);

// Medians with the middle half of the runs around them; single runs; medians by steps after each run's own moment. The
// last is empty (without a drawing) when no run had one.
ReportFigure medians_figure(const GroupFigureSubject& subject, ArmTones& tones);
ReportFigure seeds_figure(const GroupFigureSubject& subject, ArmTones& tones);
ReportFigure aligned_figure(const GroupFigureSubject& subject, ArmTones& tones);

}  // namespace eureka
