// A table of numbers as colored cells, each with its text.
#pragma once

#include <string>
#include <vector>

#include "figure/chart.h"

namespace eureka::figure {

struct HeatCell {
  double value = 0;  // for its color; NaN is gray
  std::string text;
};

struct Heatmap {
  std::string title;
  std::string row_label, column_label, value_label;
  std::vector<std::string> rows, columns;
  std::vector<std::vector<HeatCell>> cells;  // of each row
  bool is_logarithmic = false;
  bool low_is_bright = false;
};

Drawing lay_out(const Heatmap& map, Titled titled = Titled::yes);

}  // namespace eureka::figure
