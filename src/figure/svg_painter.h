// A drawing as SVG: a file of its own, or a part of a page whose style sheet has the colors.
#pragma once

#include <string>

#include "figure/drawing.h"

namespace eureka::figure {

// A whole file, on white.
std::string svg_file(const Drawing& drawing);

// The element alone, to stand in a page with css_colors() of palette.h; `id` labels it for screen readers.
std::string svg_element(const Drawing& drawing, const std::string& id);

// The element of that id again, parted between its rows into sheets of at most `most` in height where they allow it.
std::string svg_sheets(const Drawing& drawing, const std::string& id, double most);

}  // namespace eureka::figure
