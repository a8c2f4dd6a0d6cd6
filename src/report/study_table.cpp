#include "report/study_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/survival_plot.h"
#include "report/table.h"

namespace eureka {
namespace {

std::string whole(const std::optional<double>& value) { return value ? fmt::format("{:.0f}", *value) : "-"; }

std::string whole_range(const OpenInterval& range) {
  return range.low || range.high ? fmt::format("[{}, {}]", whole(range.low), whole(range.high)) : "-";
}

std::string p_text(const std::optional<double>& p) {
  if (!p) return "-";
  return *p < 1e-3 ? fmt::format("{:.0e}", *p) : fmt::format("{:.3f}", *p);
}

std::string ratio_text(const std::optional<MeanRatio>& ratio) {
  if (!ratio) return "-";
  return ratio->interval
             ? fmt::format("{:.2f} [{:.2f}, {:.2f}]", ratio->ratio, ratio->interval->low, ratio->interval->high)
             : fmt::format("{:.2f}", ratio->ratio);
}

std::string hazard_text(const std::optional<HazardRatio>& hazard) {
  if (!hazard) return "-";
  if (hazard->ratio) return fmt::format("{:.2f}", *hazard->ratio);
  return hazard->limit == HazardLimit::infinite ? "large" : hazard->limit == HazardLimit::zero ? "0" : "-";
}

std::string accuracy_text(const std::optional<AccuracySummary>& accuracy) {
  return accuracy ? fmt::format("{:.3f}", accuracy->median) : "-";
}

struct StudyColumn {
  const char* name;
  std::string (*cell)(const ArmResult& arm);
  int room;  // a terminal narrower than this goes without it
};

std::string moments_cell(const ArmResult& arm) {
  return fmt::format("{}/{}", arm.statistics.summary.moments, arm.statistics.summary.n);
}

std::string rate_cell(const ArmResult& arm) {
  const ArmSummary& own = arm.statistics.summary;
  return own.rate ? fmt::format("{:.2f} [{:.2f}, {:.2f}]", *own.rate, own.rate_interval.low, own.rate_interval.high)
                  : "-";
}

std::string median_cell(const ArmResult& arm) {
  const WaitingTime& moment = arm.statistics.summary.moment;
  return fmt::format("{} {}", whole(moment.median), whole_range(moment.median_interval));
}

std::string mean_cell(const ArmResult& arm) { return whole(arm.statistics.summary.moment.restricted_mean); }

std::string speedup_cell(const ArmResult& arm) {
  const auto& against = arm.statistics.against_baseline;
  return against ? ratio_text(against->speedup) : "1";
}

std::string hazard_cell(const ArmResult& arm) {
  const auto& against = arm.statistics.against_baseline;
  return against ? hazard_text(against->hazard) : "1";
}

std::string p_cell(const ArmResult& arm) {
  const auto& against = arm.statistics.against_baseline;
  return against ? p_text(against->log_rank_p_holm) : "baseline";
}

std::string target_cell(const ArmResult& arm) {
  const auto& level = arm.statistics.summary.level;
  return level ? whole(level->median) : "-";
}

std::string accuracy_cell(const ArmResult& arm) { return accuracy_text(arm.statistics.summary.final_accuracy); }

std::string table_of(const PointReport& point, const StudyTextOptions& options) {
  const std::vector<StudyColumn> all = {{"moments", moments_cell, 0},
                                        {"rate [95%]", rate_cell, 160},
                                        {"median step [95%]", median_cell, 0},
                                        {"mean to budget", mean_cell, 140},
                                        {"speed-up [95%]", speedup_cell, 0},
                                        {"hazard", hazard_cell, 120},
                                        {"log-rank p", p_cell, 0},
                                        {"to target", target_cell, 130},
                                        {point.metric.key() == "accuracy" ? "final acc" : "final", accuracy_cell, 110}};
  std::vector<StudyColumn> shown;
  std::vector<TableColumn> columns = {{"arm", Align::left}};
  for (const StudyColumn& column : all) {
    if (options.width < column.room) continue;
    shown.push_back(column);
    columns.push_back({column.name, Align::right});
  }
  TextTable table(columns);
  for (const ArmResult& arm : point.arms) {
    std::vector<std::string> cells = {arm.statistics.name};
    for (const StudyColumn& column : shown) cells.push_back(column.cell(arm));
    table.add_row(std::move(cells));
  }
  return table.str(options.colour);
}

// Words of `text` in lines no wider than `width`: the first begins with `first`, the others with `rest`.
std::string wrapped(const std::string& text, int width, const std::string& first = "", const std::string& rest = "") {
  std::string out, line = first;
  bool has_word = false;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    const std::string word = text.substr(begin, end - begin);
    if (has_word && display_width(line) + 1 + display_width(word) > width) {
      out += line + "\n";
      line = rest;
      has_word = false;
    }
    if (has_word) line += ' ';
    line += word;
    has_word = true;
    begin = end + 1;
  }
  return out + line + "\n";
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
  for (const ArmResult& arm : point.arms) series.push_back({arm.statistics.name, &arm.statistics.summary.moment.curve});
  SurvivalPlotOptions plot;
  plot.title = report.study.branch
                   ? fmt::format("runs still without a moment, by steps after step {}", report.study.branch->at)
                   : std::string("runs still without a moment, by step");
  plot.horizon = point.horizon;
  plot.width = std::clamp(options.width, 40, 100);
  plot.colour = options.colour;
  return plot_survival(series, plot);
}

std::string key_of(const PointReport& point, const StudyReport& report) {
  std::string text = fmt::format("steps{} up to {:.0f}; mean to budget: a run without a moment counts as {:.0f}",
                                 report.study.branch ? fmt::format(" after step {}", report.study.branch->at) : "",
                                 point.horizon, point.horizon);
  if (point.target_accuracy)
    text += fmt::format("; to target: median steps to {} {:.3f}, 95% of {}", point.metric.name, *point.target_accuracy,
                        point.target_arm == report.study.arms[report.study.baseline].name
                            ? std::string("the baseline's")
                            : fmt::format("{}'s (the baseline stays on the plateau)", point.target_arm));
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
    if (!point.point.name.empty()) text += fmt::format("\n{}\n", point.point.name);
    text += table_of(point, options);
    text += wrapped(key_of(point, report), std::max(width, 100), " ", " ");
    text += fmt::format("\n{}\n{}", verdicts_of(point, width), plot_of(report, point, options));
  }
  return text;
}

}  // namespace eureka
