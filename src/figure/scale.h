// From numbers to places along an axis, with its ticks.
//
//   Scale scale(range_of(panel), {.label = "step"}, 56, 700, 8);
//   scale.place(250);  scale.ticks()
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "figure/axis.h"
#include "figure/chart.h"

namespace eureka::figure {

struct Tick {
  double at = 0;
  std::string label;
};

// As far as numbers go; nothing to begin with.
struct Extent {
  double low = kLargestPlotted, high = -kLargestPlotted;
  void add(double value);
  void add(const Extent& other);
  bool is_empty() const { return low > high; }
};

class Scale {
 public:
  // From place `from` to place `to`, at most about `most` ticks, and two where numbers allow it. A logarithmic axis of
  // numbers that are not above 0 is drawn as a plain one.
  Scale(Extent extent, const Axis& axis, double from, double to, int most);

  double place(double value) const;
  // The nearest whole place; far below all of them for what is no number.
  int dot(double value) const;
  bool holds(double value) const;
  const std::vector<Tick>& ticks() const { return ticks_; }
  bool is_logarithmic() const { return is_logarithmic_; }
  double low() const { return low_; }
  double high() const { return high_; }
  // The same numbers at other places.
  Scale moved(double from, double to) const;

 private:
  void set_plain_ticks(const Axis& axis, int most);
  void set_decades(int most, bool always_parts = false);

  double low_ = 0, high_ = 1, from_ = 0, to_ = 1;
  bool is_logarithmic_ = false;
  std::vector<Tick> ticks_;
};

}  // namespace eureka::figure
