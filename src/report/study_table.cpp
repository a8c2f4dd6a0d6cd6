#include "report/study_table.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/printable.h"
#include "report/study_columns.h"
#include "report/study_overview.h"
#include "report/study_survival.h"
#include "report/table.h"

namespace eureka {
namespace {

std::string verdicts_of(const PointReport& point, int width) {
  std::string text;
  for (const ArmResult& arm : point.arms) {
    text += wrapped(arm.statistics.verdict, width, "· ", "  ");
    if (!arm.causal_verdict.empty()) text += wrapped(arm.causal_verdict, width, "  ", "  ");
  }
  return text;
}

}  // namespace

std::string study_text(const StudyReport& report, const StudyTextOptions& options) {
  const int width = std::clamp(options.width, 20, 110);
  const Study& study = report.study;
  std::string text;
  if (!study.question.empty()) text += wrapped(study.question, width);
  if (study.branch)
    text += wrapped(fmt::format("{} of {} runs were {} at step {}; each is continued once for every arm.",
                                study.seeds.size(), report.runs_looked_at,
                                study.branch->only == BranchOnly::stuck ? "stuck on the plateau" : "without a moment",
                                study.branch->at),
                    width);
  if (!report.damaged.empty())
    text += fmt::format("{} of {} trials {} damaged and left out:\n", report.damaged.size(), report.planned,
                        report.damaged.size() == 1 ? "is" : "are");
  for (const DamagedTrial& trial : report.damaged)
    text += wrapped(fmt::format("{}: {}", trial.directory.string(), trial.reason), width, "· ", "  ");
  text += study_overview(report, options);
  for (const PointReport& point : report.points) {
    if (!point.point.name.empty()) text += fmt::format("\n{}\n", printable(point.point.name));
    text += statistics_table(report, point, options);
    text += fmt::format("\n{}\n{}", verdicts_of(point, width), survival_of(report, point, options));
  }
  return text;
}

}  // namespace eureka
