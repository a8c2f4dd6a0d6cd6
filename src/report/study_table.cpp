#include "report/study_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/printable.h"
#include "lab/study_statistics.h"
#include "report/survival_plot.h"
#include "report/table.h"

namespace eureka {
namespace {

// Which statistics are shown, in which order, and from which width of the terminal on.
struct StudyColumn {
  const char* key;
  int room = 0;  // a terminal narrower than this goes without it
  bool with_interval = false;
};

std::vector<StudyColumn> columns_for(AwaitedEvent event) {
  if (event == AwaitedEvent::target)
    return {{"reached_target"},     {"moments", 120},      {"groks"},
            {"rate", 160, true},    {"median", 0, true},   {"rmst", 140},
            {"speedup", 0, true},   {"hazard_ratio", 130}, {"logrank_p"},
            {"final_accuracy", 110}};
  return {{"moments"},
          {"groks"},
          {"rate", 160, true},
          {"median", 0, true},
          {"rmst", 140},
          {"speedup", 0, true},
          {"hazard_ratio", 120},
          {"logrank_p"},
          {"steps_to_target_median", 130},
          {"final_accuracy", 110}};
}

std::string shown(const std::optional<double>& number, const std::string& format) {
  return number ? fmt::format(fmt::runtime(format), *number) : "-";
}

std::string cell_of(const ArmStatistic& statistic, const ArmAtPoint& arm, bool with_interval) {
  if (statistic.text) return statistic.text(arm);
  const StatisticValue value = statistic.value(arm);
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  if (const auto* count = std::get_if<std::int64_t>(&value)) return fmt::format("{}", *count);
  const double* number = std::get_if<double>(&value);
  std::string cell = shown(number != nullptr ? std::optional(*number) : std::nullopt, statistic.format);
  if (!with_interval || !statistic.interval) return cell;
  const OpenInterval ends = statistic.interval(arm).value_or(OpenInterval{});
  if (!ends.low && !ends.high) return cell;
  return fmt::format("{} [{}, {}]", cell, shown(ends.low, statistic.format), shown(ends.high, statistic.format));
}

std::string table_of(const PointReport& point, AwaitedEvent event, const StudyTextOptions& options) {
  std::vector<StudyColumn> all = columns_for(event);
  const bool any_groks = std::any_of(point.arms.begin(), point.arms.end(),
                                     [](const ArmResult& arm) { return arm.statistics.summary.groks > 0; });
  std::erase_if(all, [&](const StudyColumn& column) {
    return options.width < column.room || (!any_groks && column.key == std::string_view("groks"));
  });
  std::vector<TableColumn> heads = {{"arm", Align::left}};
  for (const StudyColumn& column : all) {
    const ArmStatistic& statistic = arm_statistic(column.key);
    const std::string& title = statistic.title.empty() ? statistic.key : statistic.title;
    heads.push_back({column.with_interval ? title + " [95%]" : title, Align::right});
  }
  TextTable table(heads);
  for (const ArmResult& arm : point.arms) {
    std::vector<std::string> cells = {arm.statistics.name};
    for (const StudyColumn& column : all)
      cells.push_back(cell_of(arm_statistic(column.key), {point, arm}, column.with_interval));
    table.add_row(std::move(cells));
  }
  return table.str(options.color);
}

std::string verdicts_of(const PointReport& point, int width) {
  std::string text;
  for (const ArmResult& arm : point.arms) {
    text += wrapped(arm.statistics.verdict, width, "· ", "  ");
    if (!arm.causal_verdict.empty()) text += wrapped(arm.causal_verdict, width, "  ", "  ");
  }
  return text;
}

std::string plot_of(const StudyReport& report, const PointReport& point, const StudyTextOptions& options) {
  std::vector<SurvivalSeries> series;
  for (const ArmResult& arm : point.arms) series.push_back({arm.statistics.name, &arm.statistics.summary.event.curve});
  SurvivalPlotOptions plot;
  plot.title = fmt::format("runs still {}, by step{}",
                           report.study.event == AwaitedEvent::moment ? "without a moment" : "short of the target",
                           report.study.branch ? fmt::format("s after step {}", report.study.branch->at) : "");
  plot.horizon = point.horizon;
  plot.width = std::clamp(options.width, 40, 100);
  plot.color = options.color;
  return plot_survival(series, plot);
}

// "accuracy 0.931, 95% of the baseline's".
std::string target_words(const PointReport& point, const Study& study) {
  const std::string level = fmt::format("{} {:.3f}", point.metric.name, *point.target_accuracy);
  if (point.target_arm.empty()) return level;
  const bool is_baselines = point.target_arm == study.arms[study.baseline].name;
  return fmt::format(
      "{}, {:g}% of {}", level, 100 * study.relative_target,
      is_baselines ? "the baseline's" : fmt::format("{}'s (the baseline stays on the plateau)", point.target_arm));
}

// With train.until = "moment": the budget was not used up, though nothing went wrong.
bool some_stopped_early(const PointReport& point, const StudyReport& report) {
  const auto index = static_cast<std::size_t>(&point - report.points.data());
  return std::any_of(report.trials.begin(), report.trials.end(), [&](const TrialRow& trial) {
    return trial.point == index && trial.moment && trial.status == RunStatus::finished &&
           static_cast<double>(trial.steps) - trial.origin < point.horizon;
  });
}

std::string key_of(const PointReport& point, const StudyReport& report) {
  const bool by_target = report.study.event == AwaitedEvent::target;
  std::string text = fmt::format("steps{} up to {:.0f}; mean to budget: a run {} counts as {:.0f}",
                                 report.study.branch ? fmt::format(" after step {}", report.study.branch->at) : "",
                                 point.horizon, by_target ? "short of the target" : "without a moment", point.horizon);
  if (point.target_accuracy)
    text += fmt::format("; {}{}", by_target ? "target: " : "to target: median steps to ",
                        target_words(point, report.study));
  else if (by_target)
    text += "; no target: no arm leaves the plateau";
  if (some_stopped_early(point, report))
    text += "; final acc: of runs that were stopped after their moment, what they had by then";
  return text;
}

}  // namespace

std::string study_text(const StudyReport& report, const StudyTextOptions& options) {
  const int width = std::clamp(options.width, 40, 110);
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
  for (const PointReport& point : report.points) {
    if (!point.point.name.empty()) text += fmt::format("\n{}\n", printable(point.point.name));
    text += table_of(point, study.event, options);
    text += wrapped(key_of(point, report), std::max(width, 100), " ", " ");
    text += fmt::format("\n{}\n{}", verdicts_of(point, width), plot_of(report, point, options));
  }
  return text;
}

}  // namespace eureka
