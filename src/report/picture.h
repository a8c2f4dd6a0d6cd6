// Drawing on an RGB picture: just what contact sheets need.
//
//   RgbImage sheet = blank_picture(640, 480, {24, 24, 28});
//   place_picture(sheet, tile, 10, 10, 3);                       three times as large, hard edges
//   draw_text(sheet, "label 7", 200, 10, 14, {255, 220, 90});    capitals, 14 pixels high
#pragma once

#include <array>
#include <string_view>

#include "io/png.h"

namespace eureka {

using Rgb = std::array<std::uint8_t, 3>;

RgbImage blank_picture(int width, int height, const Rgb& color);
void place_picture(RgbImage& sheet, const RgbImage& picture, int left, int top, int zoom);
// Only the edge of the rectangle, inside it.
void draw_frame(RgbImage& sheet, int left, int top, int width, int height, int thickness, const Rgb& color);
// One line; small letters become capitals, what the font lacks becomes a box. Returns the width.
int draw_text(RgbImage& sheet, std::string_view text, int left, int top, int height, const Rgb& color);
int text_width(std::string_view text, int height);

}  // namespace eureka
