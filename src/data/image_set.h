// A labeled set of small images, train and test apart, sorted by class; from a file that is mapped, not read, or made
// in memory. Many runs on one machine share one copy.
//
//   auto digits = ImageSet::open(path);
//   const std::uint8_t* seven = digits->image(Split::train, 7, 12);      channels x height x width bytes
//
// Ensures: every size was checked against the file before use; image() never leaves the file. The pixels' checksum is
// left to verify(), since reading everything would defeat the mapping.
//
// The file (little-endian; docs/data.md): 4,096 bytes of header, then the pixels, train before test, class by class.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"

namespace eureka {

enum class Split : std::uint8_t { train, test };
inline constexpr std::array kSplits = {Split::train, Split::test};

struct ImageSetFacts {
  std::string name;    // "mnist"
  std::string source;  // where it came from, for people
  std::uint32_t channels = 1;
  std::uint32_t height = 0;
  std::uint32_t width = 0;
  std::array<std::vector<std::uint32_t>, 2> counts;  // images per class, of either split
  std::uint64_t skipped = 0;                         // malformed images in the source

  int classes() const { return static_cast<int>(counts[0].size()); }
  std::uint32_t count(Split split, int label) const;
  std::uint64_t total(Split split) const;
  std::uint64_t image_bytes() const { return std::uint64_t{channels} * height * width; }
};

class ImageSet {
 public:
  // Throws Error(input) when the file is not a whole one of ours.
  static std::shared_ptr<const ImageSet> open(const fs::path& path);
  // `pixels` in the order of the file.
  static std::shared_ptr<const ImageSet> in_memory(ImageSetFacts facts, std::string pixels);

  virtual ~ImageSet() = default;
  const ImageSetFacts& facts() const { return facts_; }
  const std::uint8_t* image(Split split, int label, std::uint32_t index) const;
  // Reads everything; throws Error(input) when the pixels are not those that were written.
  virtual void verify() const {}

 protected:
  explicit ImageSet(ImageSetFacts facts);
  void set_pixels(std::string_view pixels) { pixels_ = pixels; }

  std::string_view pixels_;

 private:
  ImageSetFacts facts_;
  std::array<std::vector<std::uint64_t>, 2> first_;  // index of the first image of each class
};

// Collects images in any order and puts them into that of the file.
//
//   ImageSetBuilder builder({.name = "mnist", .source = "...", .height = 28, .width = 28}, 10);
//   builder.add(Split::train, 7, pixels);
//   builder.write(path);
class ImageSetBuilder {
 public:
  ImageSetBuilder(ImageSetFacts facts, int classes);

  void add(Split split, int label, std::string_view pixels);
  void skip_malformed() { ++facts_.skipped; }

  // Throws Error(input) when a class has no image in a split: every task would fail later.
  void write(const fs::path& path) const;
  std::shared_ptr<const ImageSet> build() const;

 private:
  std::string sorted_pixels() const;

  ImageSetFacts facts_;
  std::array<std::vector<std::string>, 2> pixels_;  // of each class, image after image
};

}  // namespace eureka
