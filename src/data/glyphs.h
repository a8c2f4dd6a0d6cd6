// Digits, clothes and objects drawn by Eureka itself, so that every image task runs without a download and in
// tests. They are a stand-in: easier than photographs, and results on them are never results on the real data.
//
// Ensures: the same bytes in every process: pose, stroke and noise come from counter-based randomness with a fixed
// seed.
#pragma once

#include <memory>
#include <string>

#include "data/image_set.h"

namespace eureka {

inline constexpr const char* kGlyphDigits = "glyph-digits";
inline constexpr const char* kGlyphClothes = "glyph-clothes";  // the ten classes of Fashion-MNIST
inline constexpr const char* kGlyphObjects = "glyph-objects";  // the ten classes of CIFAR-10, in color

// Drawn at the first call and kept.
std::shared_ptr<const ImageSet> glyph_set(const std::string& name);

}  // namespace eureka
