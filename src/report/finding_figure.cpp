#include "report/finding_figure.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "report/finding_marks.h"

namespace eureka {
namespace {

figure::ReferenceLine line_at(double step, const char* name, figure::Color color) {
  return {.at = step, .tone = {.color = color, .dash = figure::Dash::dotted, .width = 1.8}, .name = name};
}

// "plateaus at 0.551, 0.988; moment at 3599"
std::string in_words(const PlotMarks& marks) {
  std::vector<std::string> levels, steps, all;
  for (const PlotPlateau& plateau : marks.plateaus) levels.push_back(fmt::format("{:.3g}", plateau.level));
  for (const PlotMoment& moment : marks.moments) steps.push_back(fmt::format("{:.4g}", moment.step));
  if (!levels.empty())
    all.push_back(fmt::format("plateau{} at {}", levels.size() > 1 ? "s" : "", fmt::join(levels, ", ")));
  all.push_back(steps.empty() ? "no moment"
                              : fmt::format("moment{} at {}", steps.size() > 1 ? "s" : "", fmt::join(steps, ", ")));
  for (const PlotRise& rise : marks.rises) all.push_back(fmt::format("{} at {:.4g}", rise.what, rise.step));
  return fmt::format("{}", fmt::join(all, "; "));
}

}  // namespace

ReportFigure finding_figure(const FindingSubject& subject, const Findings& findings) {
  figure::Chart chart{.title = fmt::format("{} by {}", subject.column, subject.step_column)};
  figure::Panel panel{.x = {.label = subject.step_column}, .y = {.label = subject.column}};
  figure::Series curve{.name = "", .tone = {.color = figure::series_color(0), .width = 2}, .points = {}};
  std::string csv = fmt::format("{},{}\n", csv_cell(subject.step_column), csv_cell(subject.column));
  for (std::size_t i = 0; i < subject.steps.size(); ++i) {
    curve.points.push_back({subject.steps[i], subject.values[i]});
    csv += fmt::format("{},{}\n", csv_number(subject.steps[i]), csv_number(subject.values[i]));
  }
  panel.series.push_back(std::move(curve));
  const PlotMarks marks = marks_of(findings);
  for (const PlotPlateau& plateau : marks.plateaus) panel.rests.push_back({plateau.start, plateau.end, plateau.level});
  for (const PlotMoment& moment : marks.moments)
    panel.lines.push_back(line_at(moment.step, "moment", figure::Color::moment()));
  for (const PlotRise& rise : marks.rises)
    panel.lines.push_back(line_at(rise.step, rise.what.c_str(), figure::Color::ink()));
  panel.title = in_words(marks);
  chart.panels = {std::move(panel)};
  return {.name = "curve",
          .title = chart.title,
          .caption = "Shaded: plateaus, with their levels. Dotted: moments, and rises that are none.",
          .draw = drawn(chart),
          .csv = std::move(csv)};
}

}  // namespace eureka
