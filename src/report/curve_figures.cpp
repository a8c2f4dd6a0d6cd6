#include "report/curve_figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/median.h"

namespace eureka {
namespace {

using figure::Chart;
using figure::Panel;
using figure::Series;

std::string column_of(const GroupFigureSubject& subject) {
  for (const RunGroup& group : subject.groups)
    for (const RunData* run : group.runs)
      if (!run->metric.empty()) return run->metric;
  return "val_accuracy";
}

// Some axes have natural ends.
figure::Axis value_axis(const std::string& column) {
  figure::Axis axis{.label = metric_label(column)};
  if (column.ends_with("accuracy")) axis.low = 0, axis.high = 1;
  return axis;
}

std::string at_place(const GroupFigureSubject& subject) {
  return subject.place.empty() ? "" : fmt::format(" ({})", subject.place);
}

const RunGroup* find_group(const GroupFigureSubject& subject, const std::string& name) {
  const auto found =
      std::find_if(subject.groups.begin(), subject.groups.end(), [&](const RunGroup& g) { return g.name == name; });
  return found == subject.groups.end() ? nullptr : &*found;
}

// One panel for few groups; else one for each, the baseline first among its lines so that the arm covers it.
template <class AddSeries>
std::vector<Panel> panels_of(const GroupFigureSubject& subject, const Panel& like, AddSeries add_series) {
  if (subject.groups.size() <= kMostInOnePanel) {
    Panel panel = like;
    for (const RunGroup& group : subject.groups) add_series(panel, group);
    return {panel};
  }
  std::vector<Panel> panels;
  const RunGroup* baseline = find_group(subject, subject.baseline);
  for (const RunGroup& group : subject.groups) {
    if (&group == baseline) continue;
    Panel panel = like;
    panel.title = group.name;
    if (baseline != nullptr) add_series(panel, *baseline);
    add_series(panel, group);
    // The title names it; the legend is for what all panels share.
    for (Series& series : panel.series)
      if (series.name == group.name) series.name.clear();
    panels.push_back(std::move(panel));
  }
  return panels;
}

std::string curves_csv(const GroupFigureSubject& subject, GroupBy by) {
  std::string csv = fmt::format("arm,{},median,lower_quartile,upper_quartile,runs\n",
                                by == GroupBy::step ? "step" : "steps_after_moment");
  for (const RunGroup& group : subject.groups) {
    const GroupCurve curve = group_curve(group, by);
    for (std::size_t i = 0; i < curve.median.size(); ++i) {
      const bool has_band = i < curve.quartiles.size();
      csv += fmt::format("{},{},{},{},{},{}\n", csv_cell(group.name), csv_number(curve.median[i].x),
                         csv_number(curve.median[i].y), has_band ? csv_number(curve.quartiles[i].low) : "",
                         has_band ? csv_number(curve.quartiles[i].high) : "", curve.runs);
    }
  }
  return csv;
}

Series median_series(const RunGroup& group, GroupBy by, ArmTones& tones) {
  GroupCurve curve = group_curve(group, by);
  return {group.name, tones.of(group.name), std::move(curve.median), std::move(curve.quartiles)};
}

// The middle of the moments, for how far to look around them.
std::optional<double> typical_moment(const GroupFigureSubject& subject) {
  std::vector<double> moments;
  for (const RunGroup& group : subject.groups)
    for (const RunData* run : group.runs)
      if (run->moment()) moments.push_back(*run->moment());
  return moments.empty() ? std::nullopt : std::optional(median(moments));
}

bool is_of_single_runs(const GroupFigureSubject& subject) {
  return std::all_of(subject.groups.begin(), subject.groups.end(),
                     [](const RunGroup& g) { return g.runs.size() <= 1; });
}

}  // namespace

std::string metric_label(const std::string& column) {
  std::string words = column;
  std::replace(words.begin(), words.end(), '_', ' ');
  if (words.starts_with("val ")) words = "validation " + words.substr(4);
  if (words.starts_with("train ")) words = "training " + words.substr(6);
  if (words.ends_with(" loss")) words += " (mean over answers)";
  if (words.ends_with("accuracy")) words += " (share of answers)";
  if (words.ends_with("explained variance")) words += " (share)";
  return words;
}

void arrange(Chart& chart) {
  const std::size_t panels = chart.panels.size();
  chart.columns = panels == 1 ? 1 : panels <= 4 ? 2 : 3;
  chart.width = panels == 1 ? 760 : 980;
  chart.panel_height = panels == 1 ? 300 : panels <= 4 ? 190 : 140;
  chart.shares_x = true;
}

ReportFigure medians_figure(const GroupFigureSubject& subject, ArmTones& tones) {
  const bool single = is_of_single_runs(subject);
  Chart chart{.title = fmt::format("How does validation go, arm by arm?{}", at_place(subject))};
  if (single) chart.title = "How does validation go in each run?";
  chart.panels = panels_of(
      subject, {.x = {.label = "training step"}, .y = value_axis(column_of(subject))},
      [&](Panel& panel, const RunGroup& group) { panel.series.push_back(median_series(group, GroupBy::step, tones)); });
  chart.shares_y = true;
  arrange(chart);
  return {.name = "curves" + subject.name_suffix,
          .title = chart.title,
          .caption = single
                         ? "One line for each run."
                         : "Lines: median over the seeds; bands: the middle half of them. A run that has ended counts "
                           "with its last value from then on.",
          .draw = drawn(chart),
          .csv = curves_csv(subject, GroupBy::step)};
}

ReportFigure seeds_figure(const GroupFigureSubject& subject, ArmTones& tones) {
  Chart chart{.title = fmt::format("What did each single run do?{}", at_place(subject))};
  std::string csv = "arm,run,step,value\n";
  for (const RunGroup& group : subject.groups) {
    Panel panel{.title = fmt::format("{} ({} run{})", group.name, group.runs.size(), group.runs.size() == 1 ? "" : "s"),
                .x = {.label = "training step"},
                .y = value_axis(column_of(subject))};
    figure::Dots moments{
        .name = "moment", .color = figure::Color::moment(), .shape = figure::Shape::triangle, .points = {}};
    for (const RunData* run : group.runs) {
      panel.series.push_back({"", behind(tones.of(group.name)), run->metric_curve()});
      if (run->moment()) moments.points.push_back({*run->moment(), 0});
      for (const figure::Point& point : run->metric_curve())
        csv += fmt::format("{},{},{},{}\n", csv_cell(group.name), csv_cell(run->name), csv_number(point.x),
                           csv_number(point.y));
    }
    if (!moments.points.empty() && panel.y.low) panel.dots.push_back(std::move(moments));
    chart.panels.push_back(std::move(panel));
  }
  chart.shares_y = true;
  arrange(chart);
  return {.name = "seeds" + subject.name_suffix,
          .title = chart.title,
          .caption = "One thin line for each seed; triangles on the axis are their moments.",
          .draw = drawn(chart),
          .csv = std::move(csv),
          .is_folded = true};
}

ReportFigure aligned_figure(const GroupFigureSubject& subject, ArmTones& tones) {
  const std::optional<double> typical = typical_moment(subject);
  if (!typical) return {};
  const double reach = std::max(1.0, *typical / 2);
  GroupFigureSubject with_moments = subject;
  std::erase_if(with_moments.groups, [](const RunGroup& group) {
    return std::none_of(group.runs.begin(), group.runs.end(),
                        [](const RunData* run) { return run->moment().has_value(); });
  });
  Chart chart{.title = fmt::format("Is the rise itself the same, once each run is set on its own moment?{}",
                                   at_place(subject))};
  const figure::Axis steps{.label = "steps after the run's own moment", .low = -reach, .high = reach};
  Panel like{.x = steps, .y = value_axis(column_of(subject))};
  like.lines.push_back({.at = 0,
                        .tone = {.color = figure::Color::moment(), .dash = figure::Dash::dotted, .width = 1.4},
                        .name = "moment"});
  chart.panels = panels_of(with_moments, like, [&](Panel& panel, const RunGroup& group) {
    panel.series.push_back(median_series(group, GroupBy::own_moment, tones));
  });
  // With the baseline alone in it there is nothing to set beside it.
  if (chart.panels.empty()) return {};
  chart.shares_y = true;
  arrange(chart);
  return {.name = "aligned" + subject.name_suffix,
          .title = chart.title,
          .caption = "Median and middle half over the runs that had a moment; runs without one are left out.",
          .draw = drawn(chart),
          .csv = curves_csv(with_moments, GroupBy::own_moment)};
}

}  // namespace eureka
