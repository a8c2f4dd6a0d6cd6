// A drawing as a PDF of one page, all vectors; text stays text where Helvetica has its letters.
#pragma once

#include <string>

#include "figure/drawing.h"

namespace eureka::figure {

// The whole file.
std::string pdf_file(const Drawing& drawing);

}  // namespace eureka::figure
