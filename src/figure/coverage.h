// How much of each pixel closed outlines cover: what smooth edges are made of.
#pragma once

#include <functional>
#include <vector>

#include "figure/drawing.h"

namespace eureka::figure {

using Outline = std::vector<Point>;

// Calls paint(x, y, share) for every pixel of a picture of this size that the outlines cover, where they wind around it
// (the nonzero rule). Rows are seen in four thin slices, exactly along each.
void cover(const std::vector<Outline>& outlines, int width, int height,
           const std::function<void(int, int, double)>& paint);

// The outlines of a line of this width, with round joints; all wind the same way, so that where they overlap it is
// covered once.
std::vector<Outline> stroke_outlines(const std::vector<Point>& line, double width);

}  // namespace eureka::figure
