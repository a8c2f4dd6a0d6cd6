#include "data/source_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "support/archives.h"

namespace eureka {
namespace {

using testing::HasSubstr;

template <class Action>
std::string refusal(const Action& action) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_EQ(error.exit_code(), 2);
    return error.message();
  }
  return "accepted";
}

std::string refused_images(const std::string& bytes) {
  return refusal([&] { read_idx_images(bytes, "train-images"); });
}

TEST(Idx, ReadsImagesAndLabelsPlainAndGzipped) {
  for (const bool packed : {false, true}) {
    const auto pack = [&](const std::string& bytes) { return packed ? gzip(bytes) : bytes; };
    const IdxImages images = read_idx_images(pack(idx_images(3, 4, 'p')), "f");
    EXPECT_EQ(images.count, 3U);
    EXPECT_EQ(images.height, 4U);
    EXPECT_EQ(images.pixels, std::string(48, 'p'));
    EXPECT_EQ(read_idx_labels(pack(idx_labels(12)), "f"), std::string("\0\1\2\3\4\5\6\7\10\11\0\1", 12));
  }
}

TEST(Idx, RefusesWhatItsHeaderDoesNotKeep) {
  EXPECT_THAT(refused_images(idx_labels(3)), HasSubstr("wrong magic number 0x00000801, expected 0x00000803"));
  EXPECT_THAT(refused_images("PNG"), HasSubstr("ends after 3 bytes"));
  EXPECT_THAT(refused_images(idx_images(3).substr(0, 1000)), HasSubstr("ends after 1000 bytes, 1368 more are missing"));
  EXPECT_THAT(refused_images(gzip(idx_images(3).substr(0, 1000))), HasSubstr("ends after 1000 bytes"));
  EXPECT_THAT(refused_images(idx_images(3) + "x"), HasSubstr("goes on after the 2368 bytes"));
  EXPECT_THAT(refused_images(idx_images(0)), HasSubstr("claims 0 items"));
  EXPECT_THAT(refused_images(big_endian(0x803) + big_endian(4'000'000'000U) + big_endian(28) + big_endian(28)),
              HasSubstr("claims 4000000000 items"));
  EXPECT_THAT(refused_images(big_endian(0x803) + big_endian(1) + big_endian(60'000) + big_endian(60'000)),
              HasSubstr("claims 1 images of 60000 x 60000"));
  EXPECT_THAT(refusal([] { read_idx_labels(big_endian(0x801) + big_endian(2) + std::string("\1\12", 2), "f"); }),
              HasSubstr("label 10 at item 1"));
}

// Zeros by the megabyte behind a header that promises two images.
TEST(Idx, ABombIsRefusedAfterTheBytesItsHeaderPromises) {
  EXPECT_THAT(refused_images(gzip(idx_images(2) + std::string(64 << 20, '\0'))),
              HasSubstr("goes on after the 1584 bytes its header promises"));
}

TEST(Cifar, ReadsRecordsAndRefusesOthers) {
  const std::string record = std::string(1, '\2') + std::string(3072, 'p');
  int seen = 0;
  read_cifar_batch(record + record, "f", [&](int label, std::string_view pixels) {
    ++seen;
    EXPECT_EQ(label, 2);
    EXPECT_EQ(pixels, std::string(3072, 'p'));
  });
  EXPECT_EQ(seen, 2);
  const auto ignore = [](int, std::string_view) {};
  EXPECT_THAT(refusal([&] { read_cifar_batch(record + "x", "f", ignore); }), HasSubstr("holds 3074 bytes"));
  EXPECT_THAT(refusal([&] { read_cifar_batch("", "f", ignore); }), HasSubstr("holds 0 bytes"));
  EXPECT_THAT(refusal([&] { read_cifar_batch(record + "\xff" + record.substr(1), "f", ignore); }),
              HasSubstr("label 255 at byte 3073"));
}

std::string json_row(int pixels, const std::string& value = "7") {
  std::string row = "[";
  for (int i = 0; i < pixels; ++i) row += (i > 0 ? "," : "") + value;
  return row + "]";
}

TEST(JsonRows, TakesGoodRowsAndCountsTheOthers) {
  const std::string text = "{\"data\":[" + json_row(784, "255") + "," + json_row(783) + ",[]," + json_row(785) + "," +
                           json_row(784, "256") + "," + json_row(784, "-1") + "," + json_row(784, "1.5") + "," +
                           json_row(784, "0") + "]}";
  std::vector<std::string> rows;
  EXPECT_EQ(read_json_rows(text, "f", [&](std::string_view pixels) { rows.emplace_back(pixels); }), 6U);
  EXPECT_EQ(rows, (std::vector<std::string>{std::string(784, '\xff'), std::string(784, '\0')}));
}

TEST(JsonRows, RefusesWhatIsNoListOfRows) {
  const auto ignore = [](std::string_view) {};
  EXPECT_THAT(refusal([&] { read_json_rows("[1,2]", "f", ignore); }), HasSubstr("does not begin with"));
  EXPECT_THAT(refusal([&] { read_json_rows("{\"data\":[[1,2", "f", ignore); }), HasSubstr("at byte 9 does not end"));
  EXPECT_THAT(refusal([&] { read_json_rows("{\"data\":[[1]", "f", ignore); }), HasSubstr("expected a row or the end"));
}

TEST(ResizePlane, KeepsFlatPlanesAndRamps) {
  EXPECT_EQ(resize_plane(std::string(32 * 32, '\x64'), 32, 28), std::string(28 * 28, '\x64'));
  std::string ramp;
  for (int i = 0; i < 32 * 32; ++i) ramp += static_cast<char>(i % 32 * 8);
  const std::string resized = resize_plane(ramp, 32, 28);
  // Column x of 28 lies at (x + 1/2) * 32/28 - 1/2 of 32.
  for (const int x : {0, 13, 27})
    EXPECT_NEAR(static_cast<unsigned char>(resized[static_cast<std::size_t>(x)]), ((x + 0.5) * 32 / 28 - 0.5) * 8,
                0.51);
}

}  // namespace
}  // namespace eureka
