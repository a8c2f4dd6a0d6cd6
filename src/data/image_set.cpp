#include "data/image_set.h"

#include <fmt/format.h>

#include <bit>
#include <cstring>
#include <numeric>

#include "base/error.h"
#include "data/mapped_file.h"
#include "io/crc32c.h"

namespace eureka {
namespace {

static_assert(std::endian::native == std::endian::little, "headers are copied as they are");

constexpr std::string_view kMagic = "EUREKAIM";
constexpr std::uint32_t kVersion = 1;
constexpr std::uint64_t kHeaderBytes = 4096;  // a page, so that the pixels are mapped aligned
constexpr std::uint32_t kMaxClasses = 256;
constexpr std::uint32_t kMaxSide = 4096;

// The header as it lies in the file; zeros fill the page.
struct Header {
  char magic[8];
  std::uint32_t version;
  std::uint32_t channels;
  std::uint32_t height;
  std::uint32_t width;
  std::uint32_t classes;
  std::uint32_t pixels_crc;
  std::uint64_t skipped;
  char name[32];
  char source[128];
  std::uint32_t counts[2][kMaxClasses];  // train, test
  std::uint32_t header_crc;              // of all bytes before it
};
static_assert(sizeof(Header) <= kHeaderBytes && offsetof(Header, header_crc) == 2248);

std::uint32_t checksum_of(const Header& header) {
  return crc32c({reinterpret_cast<const char*>(&header), offsetof(Header, header_crc)});
}

template <std::size_t N>
void set_text(char (&field)[N], const std::string& text) {
  std::memcpy(field, text.data(), std::min(text.size(), N - 1));
}

template <std::size_t N>
std::string text_of(const char (&field)[N]) {
  return std::string(field, ::strnlen(field, N));
}

std::string header_page(const ImageSetFacts& facts, std::uint32_t pixels_crc) {
  Header header{};
  std::memcpy(header.magic, kMagic.data(), kMagic.size());
  header.version = kVersion;
  header.channels = facts.channels;
  header.height = facts.height;
  header.width = facts.width;
  header.classes = static_cast<std::uint32_t>(facts.classes());
  header.pixels_crc = pixels_crc;
  header.skipped = facts.skipped;
  set_text(header.name, facts.name);
  set_text(header.source, facts.source);
  for (std::size_t split = 0; split < 2; ++split)
    std::copy(facts.counts[split].begin(), facts.counts[split].end(), header.counts[split]);
  header.header_crc = checksum_of(header);
  std::string page(kHeaderBytes, '\0');
  std::memcpy(page.data(), &header, sizeof header);
  return page;
}

[[noreturn]] void refuse(const std::string& what, const fs::path& path) {
  throw Error(ErrorKind::input, what, path.string(), "remove the file and get the data set again: eureka data get");
}

// Every check but that of the pixels themselves.
ImageSetFacts checked_facts(const Header& header, std::uint64_t file_bytes, const fs::path& path) {
  if (std::string_view(header.magic, kMagic.size()) != kMagic) refuse("is no Eureka data set", path);
  if (header.version != kVersion)
    refuse(fmt::format("is of format {}, this program reads format {}", header.version, kVersion), path);
  if (header.header_crc != checksum_of(header)) refuse("the header is damaged (checksum)", path);
  if (header.channels == 0 || header.channels > 4 || header.height == 0 || header.height > kMaxSide ||
      header.width == 0 || header.width > kMaxSide || header.classes == 0 || header.classes > kMaxClasses)
    refuse("the header holds impossible sizes", path);
  ImageSetFacts facts{.name = text_of(header.name),
                      .source = text_of(header.source),
                      .channels = header.channels,
                      .height = header.height,
                      .width = header.width,
                      .skipped = header.skipped};
  std::uint64_t images = 0;
  for (std::size_t split = 0; split < 2; ++split) {
    facts.counts[split].assign(header.counts[split], header.counts[split] + header.classes);
    images += facts.total(kSplits[split]);
  }
  const std::uint64_t body = file_bytes - kHeaderBytes;
  if (body % facts.image_bytes() != 0 || body / facts.image_bytes() != images)
    refuse(fmt::format("holds {} bytes of images, its header promises {} images of {} bytes", body, images,
                       facts.image_bytes()),
           path);
  return facts;
}

const Header& header_of(const MappedFile& file, const fs::path& path) {
  if (file.bytes().size() < kHeaderBytes)
    refuse(fmt::format("ends after {} bytes, inside its header", file.bytes().size()), path);
  return *reinterpret_cast<const Header*>(file.bytes().data());
}

class MappedImageSet final : public ImageSet {
 public:
  MappedImageSet(std::unique_ptr<MappedFile> file, const fs::path& path)
      : ImageSet(checked_facts(header_of(*file, path), file->bytes().size(), path)),
        file_(std::move(file)),
        path_(path) {
    set_pixels(file_->bytes().substr(kHeaderBytes));
  }

  void verify() const override {
    if (crc32c(pixels_) != header_of(*file_, path_).pixels_crc) refuse("the pixels are damaged (checksum)", path_);
  }

 private:
  std::unique_ptr<MappedFile> file_;
  fs::path path_;
};

class OwnedImageSet final : public ImageSet {
 public:
  OwnedImageSet(ImageSetFacts facts, std::string pixels) : ImageSet(std::move(facts)), storage_(std::move(pixels)) {
    set_pixels(storage_);
  }

 private:
  std::string storage_;
};

}  // namespace

std::uint32_t ImageSetFacts::count(Split split, int label) const {
  return counts[static_cast<std::size_t>(split)].at(static_cast<std::size_t>(label));
}

std::uint64_t ImageSetFacts::total(Split split) const {
  const auto& of_split = counts[static_cast<std::size_t>(split)];
  return std::accumulate(of_split.begin(), of_split.end(), std::uint64_t{0});
}

ImageSet::ImageSet(ImageSetFacts facts) : facts_(std::move(facts)) {
  std::uint64_t next = 0;
  for (std::size_t split = 0; split < 2; ++split)
    for (const std::uint32_t count : facts_.counts[split]) {
      first_[split].push_back(next);
      next += count;
    }
}

std::shared_ptr<const ImageSet> ImageSet::open(const fs::path& path) {
  return std::make_shared<MappedImageSet>(std::make_unique<MappedFile>(path), path);
}

std::shared_ptr<const ImageSet> ImageSet::in_memory(ImageSetFacts facts, std::string pixels) {
  EUREKA_CHECK(pixels.size() == (facts.total(Split::train) + facts.total(Split::test)) * facts.image_bytes(),
               "pixels and counts differ");
  return std::make_shared<OwnedImageSet>(std::move(facts), std::move(pixels));
}

const std::uint8_t* ImageSet::image(Split split, int label, std::uint32_t index) const {
  EUREKA_CHECK(index < facts_.count(split, label), "no such image");
  const std::uint64_t at = first_[static_cast<std::size_t>(split)][static_cast<std::size_t>(label)] + index;
  return reinterpret_cast<const std::uint8_t*>(pixels_.data()) + at * facts_.image_bytes();
}

ImageSetBuilder::ImageSetBuilder(ImageSetFacts facts, int classes) : facts_(std::move(facts)) {
  for (std::size_t split = 0; split < 2; ++split) {
    facts_.counts[split].assign(static_cast<std::size_t>(classes), 0);
    pixels_[split].resize(static_cast<std::size_t>(classes));
  }
}

void ImageSetBuilder::add(Split split, int label, std::string_view pixels) {
  EUREKA_CHECK(pixels.size() == facts_.image_bytes(), "image of the wrong size");
  const auto s = static_cast<std::size_t>(split);
  pixels_[s].at(static_cast<std::size_t>(label)) += pixels;
  ++facts_.counts[s][static_cast<std::size_t>(label)];
}

std::string ImageSetBuilder::sorted_pixels() const {
  std::string all;
  all.reserve((facts_.total(Split::train) + facts_.total(Split::test)) * facts_.image_bytes());
  for (const auto& of_split : pixels_)
    for (const std::string& of_class : of_split) all += of_class;
  return all;
}

void ImageSetBuilder::write(const fs::path& path) const {
  for (const Split split : kSplits)
    for (int label = 0; label < facts_.classes(); ++label)
      if (facts_.count(split, label) == 0)
        throw Error(ErrorKind::input,
                    fmt::format("no {} image of class {}", split == Split::train ? "training" : "test", label),
                    facts_.source, "the data set is not complete; get it again");
  const std::string pixels = sorted_pixels();
  atomic_write(path, header_page(facts_, crc32c(pixels)) + pixels);
}

std::shared_ptr<const ImageSet> ImageSetBuilder::build() const { return ImageSet::in_memory(facts_, sorted_pixels()); }

}  // namespace eureka
