#include "io/png.h"

#include <fmt/format.h>
#include <png.h>

#include "base/error.h"

namespace eureka {

std::string png_bytes(const RgbImage& image) {
  EUREKA_CHECK(image.rgb.size() ==
                   std::size_t{3} * static_cast<std::size_t>(image.width) * static_cast<std::size_t>(image.height),
               "picture of the wrong size");
  png_image picture{};
  picture.version = PNG_IMAGE_VERSION;
  picture.width = static_cast<png_uint_32>(image.width);
  picture.height = static_cast<png_uint_32>(image.height);
  picture.format = PNG_FORMAT_RGB;
  std::string bytes(PNG_IMAGE_PNG_SIZE_MAX(picture), '\0');
  png_alloc_size_t size = bytes.size();
  if (png_image_write_to_memory(&picture, bytes.data(), &size, 0, image.rgb.data(), 0, nullptr) == 0)
    throw Error(ErrorKind::failed, fmt::format("cannot encode the picture: {}", picture.message));
  bytes.resize(size);
  return bytes;
}

void write_png(const fs::path& path, const RgbImage& image) { atomic_write(path, png_bytes(image)); }

}  // namespace eureka
