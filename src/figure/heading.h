// What stands above the plots of a drawing: its title and the legend.
#pragma once

#include <string>
#include <vector>

#include "figure/chart.h"

namespace eureka::figure {

inline constexpr double kTitleSize = 15, kLabelSize = 12, kTickSize = 11;

struct LegendEntry {
  std::string name;
  Tone tone;
  std::optional<Shape> shape = {};  // a dot instead of a line
};

// Draws the title, if it is wanted; returns where the next thing begins.
double add_title(Drawing& drawing, Titled titled);
double add_legend(Drawing& drawing, const std::vector<LegendEntry>& entries, double left, double top);

}  // namespace eureka::figure
