#include "data/glyphs.h"

#include "base/error.h"
#include "base/random.h"
#include "data/glyph_canvas.h"
#include "data/glyph_drawings.h"

namespace eureka {
namespace {

// The drawings belong to the data set, not to the seed of a run.
constexpr std::uint64_t kGlyphSeed = 20231019;
constexpr int kClasses = 10;
constexpr int kTrainImages = 240, kTestImages = 60;  // of each class

std::shared_ptr<const ImageSet> draw_set(const char* name, std::uint32_t channels,
                                         std::string (*draw)(int, RandomStream&)) {
  ImageSetBuilder builder(
      {.name = name, .source = "drawn by Eureka", .channels = channels, .height = kGlyphSide, .width = kGlyphSide},
      kClasses);
  for (int label = 0; label < kClasses; ++label)
    for (int i = 0; i < kTrainImages + kTestImages; ++i) {
      RandomStream random(kGlyphSeed, name, static_cast<std::uint64_t>(label) << 32 | static_cast<std::uint64_t>(i));
      builder.add(i < kTrainImages ? Split::train : Split::test, label, draw(label, random));
    }
  return builder.build();
}

}  // namespace

std::shared_ptr<const ImageSet> glyph_set(const std::string& name) {
  if (name == kGlyphDigits) {
    static const auto digits = draw_set(kGlyphDigits, 1, draw_digit);
    return digits;
  }
  if (name == kGlyphClothes) {
    static const auto clothes = draw_set(kGlyphClothes, 1, draw_garment);
    return clothes;
  }
  EUREKA_CHECK(name == kGlyphObjects, "no glyphs called " + name);
  static const auto objects = draw_set(kGlyphObjects, 3, draw_object);
  return objects;
}

}  // namespace eureka
