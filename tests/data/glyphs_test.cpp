#include "data/glyphs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <climits>
#include <cmath>
#include <numeric>
#include <set>
#include <vector>

#include "data/data_sets.h"
#include "io/crc32c.h"

namespace eureka {
namespace {

std::string bytes_of(const ImageSet& images, Split split, int label) {
  const auto* first = reinterpret_cast<const char*>(images.image(split, label, 0));
  return {first, images.facts().count(split, label) * images.facts().image_bytes()};
}

constexpr const char* kSets[] = {kGlyphDigits, kGlyphClothes, kGlyphObjects};

// The bytes of one image between two rows, of all channels.
std::vector<std::int16_t> rows_of(const ImageSet& images, Split split, int label, std::uint32_t index, int first,
                                  int end) {
  std::vector<std::int16_t> values;
  const std::uint8_t* pixels = images.image(split, label, index);
  for (std::uint32_t c = 0; c < images.facts().channels; ++c)
    values.insert(values.end(), pixels + 28 * (28 * c + first), pixels + 28 * (28 * c + end));
  return values;
}

int squared_distance(const std::vector<std::int16_t>& a, const std::vector<std::int16_t>& b) {
  int sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return sum;
}

constexpr std::uint32_t kTried = 20;  // test images of each class

// Of each class, the test images whose nearest training image, by the given rows, is of the same class.
std::vector<int> told_apart(const ImageSet& images, int first_row, int end_row) {
  const int classes = images.facts().classes();
  std::vector<std::vector<std::vector<std::int16_t>>> known(static_cast<std::size_t>(classes));
  for (int label = 0; label < classes; ++label)
    for (std::uint32_t i = 0; i < images.facts().count(Split::train, label); ++i)
      known[static_cast<std::size_t>(label)].push_back(rows_of(images, Split::train, label, i, first_row, end_row));
  std::vector<int> right(known.size());
  for (std::size_t truth = 0; truth < known.size(); ++truth)
    for (std::uint32_t i = 0; i < kTried; ++i) {
      const auto seen = rows_of(images, Split::test, static_cast<int>(truth), i, first_row, end_row);
      int best = -1;
      std::size_t guess = 0;
      for (std::size_t label = 0; label < known.size(); ++label)
        for (const auto& other : known[label]) {
          const int distance = squared_distance(seen, other);
          if (best < 0 || distance < best) best = distance, guess = label;
        }
      right[truth] += guess == truth ? 1 : 0;
    }
  return right;
}

TEST(Glyphs, HaveTenClassesOfEqualSizeWithTheNamesOfTheRealOnes) {
  const char* const real[] = {"mnist", "fashion-mnist", "cifar-10"};
  for (std::size_t set = 0; set < 3; ++set) {
    const ImageSetFacts& facts = glyph_set(kSets[set])->facts();
    EXPECT_EQ(facts.classes(), 10) << kSets[set];
    EXPECT_EQ(facts.channels, set < 2 ? 1U : 3U) << kSets[set];
    for (int label = 0; label < facts.classes(); ++label) {
      EXPECT_EQ(facts.count(Split::train, label), 240U) << kSets[set] << " " << label;
      EXPECT_EQ(facts.count(Split::test, label), 60U) << kSets[set] << " " << label;
    }
    EXPECT_EQ(find_data_set(kSets[set]).class_names, find_data_set(real[set]).class_names);
  }
}

TEST(Glyphs, EveryImageIsAnother) {
  for (const char* name : kSets) {
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

// Noise alone puts two images of one object about 12 apart per byte; the nearest pair of any class is 22 apart.
TEST(Glyphs, ObjectsOfAClassDifferByMoreThanNoise) {
  const auto images = glyph_set(kGlyphObjects);
  for (int label = 0; label < images->facts().classes(); ++label) {
    std::vector<std::vector<std::int16_t>> drawings;
    for (std::uint32_t i = 0; i < images->facts().count(Split::test, label); ++i)
      drawings.push_back(rows_of(*images, Split::test, label, i, 0, 28));
    int nearest = INT_MAX;
    for (std::size_t i = 0; i < drawings.size(); ++i)
      for (std::size_t j = 0; j < i; ++j) nearest = std::min(nearest, squared_distance(drawings[i], drawings[j]));
    EXPECT_GT(std::sqrt(nearest / 2352.0), 18) << label;
  }
}

// A nearest neighbor tells the classes apart on images it has not seen: a digit looks like its kind.
TEST(Glyphs, ClassesCanBeToldApart) {
  for (const char* name : kSets) {
    const std::vector<int> right = told_apart(*glyph_set(name), 0, 28);
    EXPECT_GT(std::accumulate(right.begin(), right.end(), 0), 0.8 * 10 * kTried) << name;
    for (std::size_t label = 0; label < right.size(); ++label)
      EXPECT_GE(right[label], 0.5 * kTried) << name << " " << label;
  }
}

// Sky, grass or road, without the object, leave most classes open.
TEST(Glyphs, BackdropsDoNotGiveTheClassAway) {
  for (const int row : {0, 26}) {
    const std::vector<int> right = told_apart(*glyph_set(kGlyphObjects), row, row + 2);
    EXPECT_LT(std::accumulate(right.begin(), right.end(), 0), 0.4 * 10 * kTried) << row;
  }
}

TEST(Glyphs, AreTheSameBytesEverywhere) {
  EXPECT_EQ(crc32c(bytes_of(*glyph_set(kGlyphDigits), Split::train, 7)), 206875319U);
  EXPECT_EQ(crc32c(bytes_of(*glyph_set(kGlyphClothes), Split::test, 3)), 1131139110U);
  const auto objects = glyph_set(kGlyphObjects);
  EXPECT_EQ(crc32c(bytes_of(*objects, Split::train, 1)), 86620267U);
  EXPECT_EQ(crc32c(bytes_of(*objects, Split::test, 2)), 3856329403U);
  EXPECT_EQ(crc32c(bytes_of(*objects, Split::test, 6)), 1580371636U);
  EXPECT_EQ(crc32c(bytes_of(*objects, Split::test, 8)), 2803314970U);
}

}  // namespace
}  // namespace eureka
