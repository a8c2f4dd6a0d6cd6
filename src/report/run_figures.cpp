#include "report/run_figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/curve_figures.h"

namespace eureka {
namespace {

using figure::Chart;
using figure::Color;
using figure::Panel;

void add_marks(Panel& panel, const RunData& run, bool with_levels) {
  for (const PlotMoment& moment : run.marks.moments)
    panel.lines.push_back({.at = moment.step,
                           .tone = {.color = Color::moment(), .dash = figure::Dash::dotted, .width = 1.8},
                           .name = "moment"});
  if (with_levels)
    for (const PlotRise& rise : run.marks.rises)
      panel.lines.push_back({.at = rise.step,
                             .tone = {.color = Color::ink(), .dash = figure::Dash::dotted, .width = 1},
                             .name = rise.what});
  if (with_levels)
    for (const PlotPlateau& plateau : run.marks.plateaus)
      panel.rests.push_back({plateau.start, plateau.end, plateau.level});
}

ReportFigure metric_figure(const RunData& run) {
  const std::string training = "train_" + (run.metric.starts_with("val_") ? run.metric.substr(4) : run.metric);
  Chart chart{.title = "When does it learn: where is the plateau, and where the moment?"};
  Panel panel{.x = {.label = "training step"}, .y = {.label = metric_label(run.metric)}};
  if (run.metric.ends_with("accuracy")) panel.y.low = 0, panel.y.high = 1;
  std::vector<const RunCurve*> shown = {run.find(run.metric)};
  if (const RunCurve* curve = run.find(training)) {
    shown.push_back(curve);
    panel.series.push_back({"training", {.color = figure::series_color(4), .width = 1}, curve->points});
  }
  panel.series.push_back({"validation", {.color = figure::series_color(0), .width = 2}, run.metric_curve()});
  add_marks(panel, run, true);
  chart.panels = {panel};
  std::string caption =
      run.marks.moments.empty() ? "No moment was found." : "Dotted line: the moment, in the middle of the rise.";
  if (!run.marks.plateaus.empty()) caption += " Shaded: the plateau, with its level.";
  return {.name = "curve", .title = chart.title, .caption = caption, .draw = drawn(chart), .csv = columns_csv(shown)};
}

ReportFigure loss_figure(const RunData& run) {
  Chart chart{.title = "What do the losses do meanwhile?"};
  Panel panel{.x = {.label = "training step"}, .y = {.label = "loss (mean over answers)", .is_logarithmic = true}};
  std::vector<const RunCurve*> shown;
  if (const RunCurve* curve = run.find("train_loss")) {
    shown.push_back(curve);
    panel.series.push_back({"training", {.color = figure::series_color(4), .width = 1}, curve->points});
  }
  if (const RunCurve* curve = run.find(kValidationLoss)) {
    shown.push_back(curve);
    panel.series.push_back({"validation", {.color = figure::series_color(0), .width = 2}, curve->points});
  }
  if (shown.empty()) return {};
  add_marks(panel, run, false);
  chart.panels = {panel};
  chart.panel_height = 220;
  return {.name = "loss",
          .title = chart.title,
          .caption = "On a logarithmic axis.",
          .draw = drawn(chart),
          .csv = columns_csv(shown)};
}

}  // namespace

std::string columns_csv(const std::vector<const RunCurve*>& curves) {
  std::string csv = "column,step,value\n";
  for (const RunCurve* curve : curves)
    for (const figure::Point& point : curve->points)
      csv += fmt::format("{},{},{}\n", csv_cell(curve->name), csv_number(point.x), csv_number(point.y));
  return csv;
}

std::vector<ReportFigure> run_figures(const RunData& run) {
  std::vector<ReportFigure> figures;
  if (!run.metric_curve().empty()) figures.push_back(metric_figure(run));
  if (ReportFigure loss = loss_figure(run); loss.draw) figures.push_back(std::move(loss));
  for (ReportFigure& diagnostic : diagnostic_figures(run)) figures.push_back(std::move(diagnostic));
  return figures;
}

}  // namespace eureka
