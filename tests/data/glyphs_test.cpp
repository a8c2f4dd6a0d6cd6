#include "data/glyphs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "data/data_sets.h"
#include "io/crc32c.h"

namespace eureka {
namespace {

std::string bytes_of(const ImageSet& images, Split split, int label) {
  const auto* first = reinterpret_cast<const char*>(images.image(split, label, 0));
  return {first, images.facts().count(split, label) * images.facts().image_bytes()};
}

TEST(Glyphs, EveryImageIsAnother) {
  for (const char* name : {kGlyphDigits, kGlyphClothes, kGlyphObjects}) {
    const auto images = glyph_set(name);
    std::set<std::string> seen;
    for (const Split split : kSplits)
      for (int label = 0; label < images->facts().classes(); ++label)
        for (std::uint32_t i = 0; i < images->facts().count(split, label); ++i)
          seen.emplace(reinterpret_cast<const char*>(images->image(split, label, i)), images->facts().image_bytes());
    EXPECT_EQ(seen.size(), images->facts().total(Split::train) + images->facts().total(Split::test)) << name;
  }
}

// Ink, and paper around it: no image is empty, full, or drawn over the edge.
TEST(Glyphs, AreDrawnWithinTheirTile) {
  for (const char* name : {kGlyphDigits, kGlyphClothes}) {
    const auto images = glyph_set(name);
    for (int label = 0; label < 10; ++label)
      for (std::uint32_t i = 0; i < images->facts().count(Split::train, label); ++i) {
        const std::uint8_t* pixels = images->image(Split::train, label, i);
        const auto dark = std::count_if(pixels, pixels + 784, [](std::uint8_t value) { return value > 100; });
        EXPECT_GT(dark, 25) << name << " " << label;
        EXPECT_LT(dark, 500) << name << " " << label;
      }
  }
}

// A nearest neighbour tells the classes apart on images it has not seen: a digit looks like its kind.
TEST(Glyphs, ClassesCanBeToldApart) {
  for (const char* name : {kGlyphDigits, kGlyphClothes, kGlyphObjects}) {
    const auto images = glyph_set(name);
    const ImageSetFacts& facts = images->facts();
    int right = 0, all = 0;
    for (int truth = 0; truth < facts.classes(); ++truth)
      for (std::uint32_t i = 0; i < std::min(facts.count(Split::test, truth), 20U); ++i) {
        const std::uint8_t* pixels = images->image(Split::test, truth, i);
        long best = -1;
        int guess = -1;
        for (int label = 0; label < facts.classes(); ++label)
          for (std::uint32_t j = 0; j < facts.count(Split::train, label); ++j) {
            const std::uint8_t* other = images->image(Split::train, label, j);
            long distance = 0;
            for (std::size_t p = 0; p < facts.image_bytes(); ++p)
              distance += (pixels[p] - other[p]) * (pixels[p] - other[p]);
            if (best < 0 || distance < best) best = distance, guess = label;
          }
        right += guess == truth ? 1 : 0;
        ++all;
      }
    EXPECT_GT(right, 0.8 * all) << name;
  }
}

TEST(Glyphs, AreTheSameBytesEverywhere) {
  EXPECT_EQ(crc32c(bytes_of(*glyph_set(kGlyphDigits), Split::train, 7)), 206875319U);
  EXPECT_EQ(crc32c(bytes_of(*glyph_set(kGlyphClothes), Split::test, 3)), 1131139110U);
  EXPECT_EQ(crc32c(bytes_of(*glyph_set(kGlyphObjects), Split::test, 2)), 3856329403U);
}

}  // namespace
}  // namespace eureka
