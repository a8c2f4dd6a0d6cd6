// Markers as outlines.
#pragma once

#include <vector>

#include "figure/drawing.h"

namespace eureka::figure {

// Counter-clockwise as seen on paper; a circle by many corners.
std::vector<Point> outline_of(const Marker& marker);

}  // namespace eureka::figure
