#include "report/picture.h"

namespace eureka {
namespace {

std::uint8_t* pixel(RgbImage& image, int x, int y) {
  return image.rgb.data() +
         3 * (static_cast<std::size_t>(y) * static_cast<std::size_t>(image.width) + static_cast<std::size_t>(x));
}

bool inside(const RgbImage& image, int x, int y) { return x >= 0 && y >= 0 && x < image.width && y < image.height; }

}  // namespace

RgbImage blank_picture(int width, int height, const Rgb& color) {
  RgbImage image{width, height, {}};
  image.rgb.resize(std::size_t{3} * static_cast<std::size_t>(width) * static_cast<std::size_t>(height));
  for (std::size_t i = 0; i < image.rgb.size(); ++i) image.rgb[i] = color[i % 3];
  return image;
}

void place_picture(RgbImage& sheet, const RgbImage& picture, int left, int top, int zoom) {
  for (int y = 0; y < picture.height * zoom; ++y)
    for (int x = 0; x < picture.width * zoom; ++x) {
      if (!inside(sheet, left + x, top + y)) continue;
      const std::size_t from = 3 * (static_cast<std::size_t>(y / zoom) * static_cast<std::size_t>(picture.width) +
                                    static_cast<std::size_t>(x / zoom));
      for (std::size_t c = 0; c < 3; ++c) pixel(sheet, left + x, top + y)[c] = picture.rgb[from + c];
    }
}

void draw_frame(RgbImage& sheet, int left, int top, int width, int height, int thickness, const Rgb& color) {
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      const bool edge = x < thickness || y < thickness || x >= width - thickness || y >= height - thickness;
      if (!edge || !inside(sheet, left + x, top + y)) continue;
      for (std::size_t c = 0; c < 3; ++c) pixel(sheet, left + x, top + y)[c] = color[c];
    }
}

}  // namespace eureka
