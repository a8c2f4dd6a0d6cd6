// What a dashed line is made of.
#pragma once

#include <vector>

#include "figure/drawing.h"

namespace eureka::figure {

// Lengths drawn and left out in turn; none for a solid line.
std::vector<double> dash_pattern(const Stroke& stroke);

// The pieces that are drawn.
std::vector<std::vector<Point>> dashes(const std::vector<Point>& line, const std::vector<double>& pattern);

}  // namespace eureka::figure
