// Lines cut to a rectangle.
#pragma once

#include <vector>

#include "figure/drawing.h"

namespace eureka::figure {

// The pieces of a line within; points that are not finite end a piece.
std::vector<std::vector<Point>> clipped(const std::vector<Point>& line, const Frame& frame);

}  // namespace eureka::figure
