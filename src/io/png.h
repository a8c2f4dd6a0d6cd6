// PNG images, written whole: 8 bits per channel, RGB.
//
//   write_png("sheet.png", {.width = 640, .height = 480, .rgb = pixels});
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/files.h"

namespace eureka {

struct RgbImage {
  int width = 0;
  int height = 0;
  std::vector<std::uint8_t> rgb;  // height x width x 3
};

// The whole file.
std::string png_bytes(const RgbImage& image);

// Throws Error(output) when the file cannot be written. The old file stays until the new one is whole.
void write_png(const fs::path& path, const RgbImage& image);

}  // namespace eureka
