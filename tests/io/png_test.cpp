#include "io/png.h"

#include <gtest/gtest.h>
#include <png.h>

#include "base/error.h"
#include "support/temporary_directory.h"

namespace eureka {
namespace {

TEST(Png, ReadsBackWithLibpng) {
  const TemporaryDirectory directory;
  RgbImage image{7, 5, {}};
  for (int i = 0; i < 7 * 5 * 3; ++i) image.rgb.push_back(static_cast<std::uint8_t>(i * 2));
  const fs::path path = directory.path() / "x.png";
  write_png(path, image);
  png_image read{};
  read.version = PNG_IMAGE_VERSION;
  ASSERT_NE(png_image_begin_read_from_file(&read, path.c_str()), 0);
  EXPECT_EQ(read.width, 7U);
  EXPECT_EQ(read.height, 5U);
  read.format = PNG_FORMAT_RGB;
  std::vector<std::uint8_t> pixels(PNG_IMAGE_SIZE(read));
  ASSERT_NE(png_image_finish_read(&read, nullptr, pixels.data(), 0, nullptr), 0);
  EXPECT_EQ(pixels, image.rgb);
}

TEST(Png, SaysWhyItCannotWrite) { EXPECT_THROW(write_png("/nowhere/x.png", {1, 1, {0, 0, 0}}), Error); }

}  // namespace
}  // namespace eureka
