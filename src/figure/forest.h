// Estimates with their intervals, one below the other, around a line of no difference.
//
//   Drawing drawing = lay_out(Forest{.title = "How much sooner?", .rows = {{"qk_norm", {}, 2.3, 1.8, 2.9, "2.30
//   [1.80, 2.90]"}}});
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "figure/chart.h"

namespace eureka::figure {

struct ForestRow {
  std::string name;
  Tone tone;
  std::optional<double> estimate, low, high;  // an end that is not there lies beyond the axis
  std::string text;                           // at the right
};

struct Forest {
  std::string title;
  std::string label;  // of the axis
  double no_difference = 1;
  std::vector<ForestRow> rows = {};
  double width = 760;
};

// The axis is logarithmic: twice as fast and half as fast are as far from the line.
Drawing lay_out(const Forest& forest, Titled titled = Titled::yes);

}  // namespace eureka::figure
