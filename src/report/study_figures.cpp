#include "report/study_figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "figure/forest.h"
#include "report/curve_figures.h"
#include "report/study_heatmaps.h"

namespace eureka {
namespace {

using figure::Chart;
using figure::Panel;

// Names of figures end up in addresses and file names.
std::string name_suffix(const StudyRecord& record, std::size_t point) {
  return record.points.size() == 1 ? "" : fmt::format("-{}", point + 1);
}

std::string at_place(const StudyRecord& record, std::size_t point) {
  return record.points[point].name.empty() ? "" : fmt::format(" ({})", record.points[point].name);
}

// Runs of an arm whose event is still to come after `time`, and that are still observed.
std::size_t at_risk(const StudyRecord& record, const std::string& arm, std::size_t point, double time) {
  return static_cast<std::size_t>(
      std::count_if(record.trials.begin(), record.trials.end(), [&](const RecordedTrial& trial) {
        if (trial.arm != arm || trial.point != point) return false;
        const double seen = trial.steps - record.origin.value_or(0);
        // A run that is stopped by its event had been seen up to it, and one by its budget is there at the budget.
        return record.event_of(trial).value_or(seen) >= time;
      }));
}

figure::Series survival_series(const RecordedArm& arm, double budget, ArmTones& tones) {
  figure::Series series{arm.name, tones.of(arm.name), {{0, 1}}, {{0, 1, 1}}, true};
  for (const RecordedSurvival& step : arm.survival) {
    series.points.push_back({step.step, step.share});
    series.band.push_back({step.step, step.low, step.high});
  }
  if (series.points.back().x < budget) {
    series.points.push_back({budget, series.points.back().y});
    series.band.push_back({budget, series.band.back().low, series.band.back().high});
  }
  return series;
}

void add_to(Panel& panel, const StudyRecord& record, const RecordedArm& arm, ArmTones& tones) {
  panel.series.push_back(survival_series(arm, record.points[arm.point].budget, tones));
  panel.rows_title = "runs still waiting";
  panel.rows.push_back({arm.name, tones.of(arm.name).color, [record, name = arm.name, point = arm.point](double time) {
                          return fmt::format("{}", at_risk(record, name, point, time));
                        }});
}

std::vector<Panel> survival_panels(const StudyRecord& record, std::size_t point, ArmTones& tones) {
  const Panel like{
      .x = {.label = record.origin ? fmt::format("steps after step {:.0f}", *record.origin) : "training step",
            .low = 0,
            .high = std::max(1.0, record.points[point].budget)},
      .y = {.label = fmt::format("runs {}", waiting_words(record)), .is_percent = true, .low = 0, .high = 1}};
  std::vector<const RecordedArm*> arms;
  for (const std::string& name : record.arm_names)
    if (const RecordedArm* arm = record.find(name, point)) arms.push_back(arm);
  if (arms.size() <= kMostInOnePanel) {
    Panel panel = like;
    for (const RecordedArm* arm : arms) add_to(panel, record, *arm, tones);
    return {panel};
  }
  const RecordedArm* baseline = record.find(record.baseline, point);
  std::vector<Panel> panels;
  for (const RecordedArm* arm : arms) {
    if (arm == baseline) continue;
    Panel panel = like;
    panel.title = arm->name;
    if (baseline != nullptr) add_to(panel, record, *baseline, tones);
    add_to(panel, record, *arm, tones);
    panel.series.back().name.clear();
    // The names stand in legend and title already.
    for (figure::NumberRow& row : panel.rows) row.name.clear();
    panels.push_back(std::move(panel));
  }
  return panels;
}

std::string survival_csv(const StudyRecord& record, std::size_t point) {
  std::string csv = "arm,step,share_still_waiting,low,high\n";
  for (const RecordedArm& arm : record.arms) {
    if (arm.point != point) continue;
    csv += fmt::format("{},0,1,1,1\n", csv_cell(arm.name));
    for (const RecordedSurvival& step : arm.survival)
      csv += fmt::format("{},{},{},{},{}\n", csv_cell(arm.name), csv_number(step.step), csv_number(step.share),
                         csv_number(step.low), csv_number(step.high));
  }
  return csv;
}

}  // namespace

std::string waiting_words(const StudyRecord& record) {
  return record.awaits_target ? "short of the target" : "without a moment";
}

ReportFigure survival_figure(const StudyRecord& record, std::size_t point, ArmTones& tones) {
  if (std::none_of(record.trials.begin(), record.trials.end(),
                   [&](const RecordedTrial& trial) { return trial.point == point; }))
    return {};
  Chart chart{.title = fmt::format("How many runs are still {} at each step?{}", waiting_words(record),
                                   at_place(record, point))};
  chart.panels = survival_panels(record, point, tones);
  if (chart.panels.empty()) return {};
  arrange(chart);
  return {.name = "survival" + name_suffix(record, point),
          .title = chart.title,
          .caption =
              "Kaplan-Meier curves with pointwise 95% bands; lower is sooner. Below the axis: runs still waiting and "
              "still watched at that step.",
          .draw = drawn(chart),
          .csv = survival_csv(record, point)};
}

ReportFigure speedup_figure(const StudyRecord& record, std::size_t point, ArmTones& tones) {
  figure::Forest forest{
      .title = fmt::format("What is the speed-up of each arm over {} to {}?{}", record.baseline,
                           record.awaits_target ? "the target" : "its moment", at_place(record, point)),
      .label = fmt::format("speed-up: mean steps of {} over the arm's (2: in half the steps)", record.baseline)};
  std::string csv = "arm,speedup,low,high,verdict\n";
  bool is_any_known = false;
  for (const RecordedArm& arm : record.arms) {
    if (arm.point != point || arm.name == record.baseline) continue;
    const std::optional<double> ratio = arm.number("speedup");
    const OpenInterval ends = arm.interval("speedup");
    is_any_known |= ratio.has_value();
    const auto text = [](const std::optional<double>& end) { return end ? fmt::format("{:.2f}", *end) : "?"; };
    forest.rows.push_back({.name = arm.name,
                           .tone = tones.of(arm.name),
                           .estimate = ratio,
                           .low = ends.low,
                           .high = ends.high,
                           .text = ratio ? fmt::format("{:.2f} [{}, {}]", *ratio, text(ends.low), text(ends.high))
                                   : arm.verdict_kind == "no_moments" ? "nothing to compare"
                                                                      : "does not compare"});
    const auto cell = [](const std::optional<double>& value) { return value ? csv_number(*value) : ""; };
    csv += fmt::format("{},{},{},{},{}\n", csv_cell(arm.name), cell(ratio), cell(ends.low), cell(ends.high),
                       csv_cell(arm.verdict_kind));
  }
  // An axis without anything on it tells less than the verdicts.
  if (!is_any_known) return {};
  return {.name = "speedup" + name_suffix(record, point),
          .title = forest.title,
          .caption =
              "Squares: mean wait of the baseline over that of the arm, a run without the event counting as the whole "
              "budget, so that 2 is half the steps; "
              "lines: 95% bootstrap intervals. An arm whose line crosses 1 is not told from the baseline.",
          .draw = drawn(forest),
          .csv = std::move(csv)};
}

std::vector<ReportFigure> study_figures(const StudyData& study, ArmTones& tones) {
  std::vector<ReportFigure> figures;
  const auto add = [&](ReportFigure figure) {
    if (figure.draw) figures.push_back(std::move(figure));
  };
  if (study.record && study.record->points.size() > 1)
    for (ReportFigure& heatmap : study_heatmaps(*study.record)) add(std::move(heatmap));
  for (std::size_t point = 0; point < study.points(); ++point) {
    if (study.record) {
      add(speedup_figure(*study.record, point, tones));
      add(survival_figure(*study.record, point, tones));
    }
    GroupFigureSubject subject{study.groups(point), study.baseline(), "", ""};
    if (study.record)
      subject.name_suffix = name_suffix(*study.record, point), subject.place = study.record->points[point].name;
    const bool has_curves = std::any_of(subject.groups.begin(), subject.groups.end(),
                                        [](const RunGroup& group) { return !group.runs.empty(); });
    if (!has_curves) continue;
    add(medians_figure(subject, tones));
    add(aligned_figure(subject, tones));
    add(seeds_figure(subject, tones));
  }
  return figures;
}

}  // namespace eureka
