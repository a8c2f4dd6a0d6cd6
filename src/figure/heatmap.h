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

// From numbers to colors. A number that is not finite is gray.
class HeatScale {
 public:
  explicit HeatScale(const Heatmap& map);

  bool is_empty() const { return !(low_ <= high_); }
  double low() const { return low_; }
  double high() const { return high_; }
  Color fill(double value) const;
  Color ink(double value) const;  // of text on it
  Color key(double share) const;  // from the lowest to the highest

 private:
  double share(double value) const;

  double low_, high_;
  bool is_logarithmic_, low_is_bright_;
};

Drawing lay_out(const Heatmap& map, Titled titled = Titled::yes);

}  // namespace eureka::figure
