#include "report/step_axis.h"

#include <algorithm>

namespace eureka {

StepAxis::StepAxis(const figure::Axis& steps, int columns, const PlotMarks& marks, int label_room)
    : steps_({}, steps, 0, columns * kDotsPerColumn - 1, std::max(2, columns / label_room)),
      columns_(columns),
      is_moment_(index(columns)),
      is_rise_(index(columns)),
      is_plateau_(index(columns)) {
  for (const PlotMoment& moment : marks.moments)
    if (const int column = column_of(moment.step); column >= 0 && column < columns_) is_moment_[index(column)] = true;
  for (const PlotRise& rise : marks.rises)
    if (const int column = column_of(rise.step); column >= 0 && column < columns_) is_rise_[index(column)] = true;
  for (const PlotPlateau& plateau : marks.plateaus)
    for (int column = std::max(0, column_of(plateau.start)); column <= std::min(column_of(plateau.end), columns_ - 1);
         ++column)
      is_plateau_[index(column)] = true;
}

int StepAxis::column_of(double step) const {
  const int dot = dot_of(step);
  return dot < 0 ? -1 : dot / kDotsPerColumn;
}

void StepAxis::paint(int margin, Painter& paint) const {
  std::vector<bool> is_tick(index(columns_));
  std::string labels;  // all of one column per byte
  for (const auto& [at, text] : steps_.ticks()) {
    const int column = column_of(at);
    if (column < 0 || column >= columns_) continue;
    const int start =
        std::max(0, std::min(column - static_cast<int>(text.size()) / 2, columns_ - static_cast<int>(text.size())));
    is_tick[index(column)] = true;
    if (!labels.empty() && start <= static_cast<int>(labels.size())) continue;
    labels.resize(index(start), ' ');
    labels += text;
  }
  paint.add(spaces(margin), PlotInk::none);
  paint.add("└", PlotInk::axis);
  for (int column = 0; column < columns_; ++column) {
    const bool tick = is_tick[index(column)];
    if (is_moment_[index(column)])
      paint.add("▲", PlotInk::moment);
    else if (is_rise_[index(column)])
      paint.add("△", PlotInk::axis);
    else if (is_plateau_[index(column)])
      paint.add(tick ? "┯" : "━", PlotInk::plateau);
    else
      paint.add(tick ? "┬" : "─", PlotInk::axis);
  }
  paint.end_line();
  paint.add(spaces(margin + 1) + labels.substr(0, index(columns_)), PlotInk::axis);
  paint.end_line();
}

}  // namespace eureka
