// A curve drawn in the terminal with braille dots, its plateaus and moments marked.
//
//   PlotOptions options;
//   options.title = "val_accuracy";
//   std::string picture = plot_curve({steps, values}, {{{100, 1080, 0.55}}, {{1130}}}, options);
//
// A plateau is a heavy stretch of the x axis and a dashed line at its level, which goes on to the right so that what
// came after can be read against it. A moment is a dotted vertical line; a first rise or grokking is a hollow triangle
// on the axis. All are named in the caption.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace eureka {

// Steps ascending; points that are not finite leave a gap. Must outlive the call only.
struct PlotCurve {
  std::span<const double> steps;
  std::span<const double> values;
};

struct PlotPlateau {
  double start = 0;
  double end = 0;
  double level = 0;
};

struct PlotMoment {
  double step = 0;
};

// A rise that is no moment, but has a name.
struct PlotRise {
  double step = 0;
  std::string what;  // "first rise", "grokking"
};

struct PlotMarks {
  std::vector<PlotPlateau> plateaus;
  std::vector<PlotMoment> moments;
  std::vector<PlotRise> rises = {};
};

// Columns beside a plot, for its labels: plots one above the other are aligned when they have the same.
struct PlotMargins {
  int left = 0, right = 0;
};

struct PlotOptions {
  std::string title;
  int width = 76;   // columns of the whole picture; held between 8 and 500
  int height = 14;  // rows of the plot itself, without title, axis and caption; held between 2 and 200
  bool color = false;
  std::optional<double> x_max;  // the step a growing curve is on its way to
  std::optional<double> y_min, y_max;
  PlotMargins margins;  // at least; pictures narrower than 40 columns have their own
};

// Lines ended by '\n', none wider than options.width. O(points + width * height).
std::string plot_curve(const PlotCurve& curve, const PlotMarks& marks, const PlotOptions& options);

// Those it would take.
PlotMargins curve_margins(const PlotCurve& curve, const PlotMarks& marks, const PlotOptions& options);

}  // namespace eureka
