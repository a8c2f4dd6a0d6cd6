// A few lines in one small plot, to stand below a curve and share its steps: what a diagnostic sees in each layer.
//
//   std::string picture = plot_series({{"0", "layer0", steps, values}}, marks_of(findings), options);
//
// Each line is marked where it is clear of the others, and named in the legend. The axis is logarithmic where all
// values are above 0 and span more than two decades. A moment is a dotted vertical line.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "report/curve_plot.h"

namespace eureka {

struct PlotSeries {
  std::string mark;  // a letter or two, on the line
  std::string name;
  std::vector<double> steps, values;  // steps ascending; values that are not finite are left out
};

struct SeriesPlotOptions {
  std::string title;
  int width = 76;  // columns of the whole picture; held between 8 and 500
  int height = 7;  // rows of the plot itself; held between 2 and 200
  bool color = false;
  std::optional<double> x_min, x_max;  // further than the lines go
  PlotMargins margins;                 // at least
  enum class Logarithm { where_it_helps, never };
  Logarithm logarithm = Logarithm::where_it_helps;
};

// Lines ended by '\n', none wider than options.width.
std::string plot_series(const std::vector<PlotSeries>& series, const PlotMarks& marks,
                        const SeriesPlotOptions& options);

// Those it would take.
PlotMargins series_margins(const std::vector<PlotSeries>& series, const SeriesPlotOptions& options);

}  // namespace eureka
