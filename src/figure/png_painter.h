// A drawing as pixels, with smooth edges; the same bytes on every machine, since its letters are our own.
#pragma once

#include "figure/drawing.h"
#include "io/png.h"

namespace eureka::figure {

// On white, `zoom` pixels to each unit of the drawing.
RgbImage rastered(const Drawing& drawing, double zoom = 2);

}  // namespace eureka::figure
