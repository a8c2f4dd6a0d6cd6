// The steps along the bottom of a plot, with its moments and plateaus. Plots drawn one above the other are aligned when
// they have the same steps, columns and margin.
#pragma once

#include "figure/scale.h"
#include "report/canvas.h"
#include "report/curve_plot.h"

namespace eureka {

class StepAxis {
 public:
  // `label_room` columns for each number at least.
  StepAxis(const figure::Axis& steps, int columns, const PlotMarks& marks, int label_room = 9);

  int columns() const { return columns_; }
  int dot_of(double step) const { return steps_.dot(step); }
  // Below 0, or columns() and more, when the step lies outside.
  int column_of(double step) const;
  bool is_moment(int column) const { return is_moment_[index(column)]; }

  // The line and the numbers below it, each behind `margin` columns.
  void paint(int margin, Painter& paint) const;

 private:
  figure::Scale steps_;
  int columns_;
  std::vector<bool> is_moment_, is_rise_, is_plateau_;  // of each column
};

}  // namespace eureka
