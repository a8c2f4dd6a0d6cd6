#include "data/image_set.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "support/temporary_directory.h"

namespace eureka {
namespace {

using testing::HasSubstr;

class ImageSetFile : public testing::Test {
 protected:
  // Two classes of 2 x 3 pixels; image i of a class is filled with 10 * class + i.
  ImageSetFile() {
    ImageSetBuilder builder({.name = "small", .source = "a test", .height = 2, .width = 3}, 2);
    for (const int i : {0, 1, 2})
      for (const int label : {1, 0}) builder.add(i < 2 ? Split::train : Split::test, label, filled(10 * label + i));
    builder.skip_malformed();
    builder.write(path_);
  }

  static std::string filled(int value) { return std::string(6, static_cast<char>(value)); }

  std::string refusal() const {
    try {
      ImageSet::open(path_)->verify();
    } catch (const Error& error) {
      EXPECT_EQ(error.exit_code(), 2);
      return error.message();
    }
    return "accepted";
  }

  void patch(std::size_t at, char value) const {
    std::string bytes = read_file(path_);
    bytes.at(at) = value;
    atomic_write(path_, bytes);
  }

  TemporaryDirectory directory_;
  fs::path path_ = directory_.path() / "small.images";
};

TEST_F(ImageSetFile, GivesBackEveryImageUnderItsClass) {
  const auto images = ImageSet::open(path_);
  const ImageSetFacts& facts = images->facts();
  EXPECT_EQ(facts.name, "small");
  EXPECT_EQ(facts.source, "a test");
  EXPECT_EQ(facts.skipped, 1U);
  EXPECT_EQ(facts.total(Split::train), 4U);
  EXPECT_EQ(facts.count(Split::test, 1), 1U);
  for (const int label : {0, 1}) {
    for (const std::uint32_t i : {0, 1})
      EXPECT_EQ(images->image(Split::train, label, i)[5], 10 * label + static_cast<int>(i));
    EXPECT_EQ(images->image(Split::test, label, 0)[0], 10 * label + 2);
  }
  EXPECT_THROW(images->image(Split::test, 0, 1), InternalError);
  EXPECT_EQ(refusal(), "accepted");
}

// The layout that docs/data.md states.
TEST_F(ImageSetFile, LiesInTheFileAsDocumented) {
  const std::string bytes = read_file(path_);
  ASSERT_EQ(bytes.size(), 4096U + 6 * 6);
  EXPECT_EQ(bytes.substr(0, 8), "EUREKAIM");
  EXPECT_EQ(bytes.substr(8, 4), std::string("\1\0\0\0", 4));
  EXPECT_EQ(bytes.substr(4096, 6), filled(0));
  EXPECT_EQ(bytes.substr(4096 + 12, 6), filled(10));
  EXPECT_EQ(bytes.substr(4096 + 24, 12), filled(2) + filled(12));
}

TEST_F(ImageSetFile, RefusesDamage) {
  const std::string whole = read_file(path_);
  patch(0, 'X');
  EXPECT_THAT(refusal(), HasSubstr("is no Eureka data set"));
  atomic_write(path_, whole);
  patch(8, 2);
  EXPECT_THAT(refusal(), HasSubstr("is of format 2, this program reads format 1"));
  atomic_write(path_, whole);
  patch(16, 3);
  EXPECT_THAT(refusal(), HasSubstr("the header is damaged"));
  atomic_write(path_, whole);
  patch(4100, 99);
  EXPECT_THAT(refusal(), HasSubstr("the pixels are damaged"));
  atomic_write(path_, whole.substr(0, whole.size() - 1));
  EXPECT_THAT(refusal(), HasSubstr("holds 35 bytes of images, its header promises 6 images of 6 bytes"));
  atomic_write(path_, whole + "x");
  EXPECT_THAT(refusal(), HasSubstr("holds 37 bytes of images"));
  atomic_write(path_, whole.substr(0, 100));
  EXPECT_THAT(refusal(), HasSubstr("ends after 100 bytes, inside its header"));
  atomic_write(path_, "");
  EXPECT_THAT(refusal(), HasSubstr("ends after 0 bytes"));
}

TEST_F(ImageSetFile, RefusesToWriteAClassWithoutImages) {
  ImageSetBuilder builder({.name = "x", .source = "y", .height = 1, .width = 1}, 1);
  builder.add(Split::train, 0, "a");
  EXPECT_THROW(builder.write(path_), Error);
  EXPECT_EQ(ImageSet::open(path_)->facts().name, "small") << "the old file stays";
}

}  // namespace
}  // namespace eureka
