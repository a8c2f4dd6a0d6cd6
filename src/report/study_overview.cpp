#include "report/study_overview.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/table.h"

namespace eureka {
namespace {

constexpr int kMostOfName = 24;

// "train.lr=0.003,model.layers=2" as "lr=0.003 layers=2": the sections stand in the names of the points below.
std::string short_name(const std::string& point) {
  std::string text;
  for (std::size_t begin = 0; begin < point.size();) {
    const std::size_t end = std::min(point.find(',', begin), point.size());
    std::string setting = point.substr(begin, end - begin);
    const std::size_t dot = setting.substr(0, setting.find('=')).rfind('.');
    if (dot != std::string::npos) setting.erase(0, dot + 1);
    text += (text.empty() ? "" : " ") + setting;
    begin = end + 1;
  }
  return text;
}

std::string cell_of(const ArmResult& arm, std::size_t baseline_events) {
  const ArmSummary& summary = arm.statistics.summary;
  std::string text = fmt::format("{}/{}", summary.event.events, summary.n);
  const auto& comparison = arm.statistics.against_baseline;
  if (!comparison) return text;
  const bool both_have_it = summary.event.events > 0 && baseline_events > 0;
  if (comparison->speedup && both_have_it) text += fmt::format(" {:.2f}", comparison->speedup->ratio);
  if (comparison->log_rank_p_holm) text += stars_of(*comparison->log_rank_p_holm);
  return text;
}

TextTable table_of(const StudyReport& report, std::size_t first, std::size_t count) {
  std::vector<TableColumn> heads = {{"arm", Align::left}};
  for (std::size_t point = first; point < first + count; ++point)
    heads.push_back({short_name(report.points[point].point.name), Align::left});
  TextTable table(heads);
  for (std::size_t arm = 0; arm < report.points[first].arms.size(); ++arm) {
    std::vector<std::string> cells = {report.points[first].arms[arm].statistics.name};
    for (std::size_t point = first; point < first + count; ++point)
      cells.push_back(cell_of(report.points[point].arms[arm],
                              report.points[point].arms[report.study.baseline].statistics.summary.event.events));
    table.add_row(std::move(cells));
  }
  return table;
}

}  // namespace

const char* stars_of(double p) { return p < 0.001 ? "***" : p < 0.01 ? "**" : p < 0.05 ? "*" : ""; }

std::string study_overview(const StudyReport& report, const StudyTextOptions& options) {
  if (report.points.size() < 2) return "";
  const TableStyle style{.bold_header = options.color, .most_of_first = kMostOfName};
  std::string text;
  for (std::size_t first = 0; first < report.points.size();) {
    std::size_t count = 1;
    while (first + count < report.points.size() &&
           table_of(report, first, count + 1).width(style) <= std::min(options.width, 160))
      ++count;
    text += "\n" + table_of(report, first, count).str(style);
    first += count;
  }
  const bool by_target = report.study.event == AwaitedEvent::target;
  return text + wrapped(fmt::format("{}, speed-up over {}; * p < 0.05, ** p < 0.01, *** p < 0.001 (log-rank test, "
                                    "corrected over the arms of a point)",
                                    by_target ? "runs at the target" : "runs with a moment",
                                    report.study.arms[report.study.baseline].name),
                        std::clamp(options.width, 20, 110), " ", " ");
}

}  // namespace eureka
