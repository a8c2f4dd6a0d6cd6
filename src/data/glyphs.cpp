#include "data/glyphs.h"

#include "base/error.h"
#include "base/random.h"
#include "data/glyph_canvas.h"
#include "data/glyph_drawings.h"

namespace eureka {
namespace {

// The drawings belong to the data set, not to the seed of a run.
constexpr std::uint64_t kGlyphSeed = 20231019;
constexpr int kTrainImages = 240, kTestImages = 60;  // of each class

template <class Draw>
std::shared_ptr<const ImageSet> draw_set(const char* name, std::uint32_t channels, int first_class, int classes,
                                         const Draw& draw) {
  ImageSetBuilder builder(
      {.name = name, .source = "drawn by Eureka", .channels = channels, .height = kGlyphSide, .width = kGlyphSide},
      classes);
  for (int label = first_class; label < classes; ++label)
    for (int i = 0; i < kTrainImages + kTestImages; ++i) {
      RandomStream random(kGlyphSeed, name, static_cast<std::uint64_t>(label) << 32 | static_cast<std::uint64_t>(i));
      builder.add(i < kTrainImages ? Split::train : Split::test, label, draw(label, random));
    }
  return builder.build();
}

}  // namespace

std::shared_ptr<const ImageSet> glyph_set(const std::string& name) {
  if (name == kGlyphDigits) {
    static const auto digits = draw_set(kGlyphDigits, 1, 0, 10, draw_digit);
    return digits;
  }
  if (name == kGlyphClothes) {
    static const auto clothes = draw_set(kGlyphClothes, 1, 0, 10, draw_garment);
    return clothes;
  }
  EUREKA_CHECK(name == kGlyphObjects, "no glyphs called " + name);
  static const auto objects = draw_set(kGlyphObjects, 3, 1, 3, [](int label, RandomStream& random) {
    return label == 1 ? draw_car(random) : draw_bird(random);
  });
  return objects;
}

}  // namespace eureka
