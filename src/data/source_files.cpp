#include "data/source_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "base/error.h"
#include "io/byte_source.h"

namespace eureka {
namespace {

constexpr std::uint32_t kMaxImages = 1'000'000;
constexpr std::uint32_t kMaxSide = 256;
constexpr std::uint64_t kMaxImageBytes = std::uint64_t{1} << 30;
constexpr const char* kExpected = "expected a file like train-images-idx3-ubyte or train-labels-idx1-ubyte, or its .gz";

std::uint32_t big_endian(std::string_view bytes, std::size_t at) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < 4; ++i) value = value << 8 | static_cast<unsigned char>(bytes[at + i]);
  return value;
}

// Magic and sizes: 00 00 08 (unsigned bytes), the number of dimensions, then each of them.
std::vector<std::uint32_t> read_idx_header(ByteSource& source, unsigned dimensions) {
  const std::string magic = source.take(4);
  const std::uint32_t found = big_endian(magic, 0);
  if (found != (0x800U | dimensions))
    throw Error(ErrorKind::input,
                fmt::format("wrong magic number {:#010x}, expected {:#010x}", found, 0x800U | dimensions),
                source.where(), kExpected);
  const std::string sizes = source.take(std::uint64_t{4} * dimensions);
  std::vector<std::uint32_t> values;
  for (unsigned i = 0; i < dimensions; ++i) values.push_back(big_endian(sizes, std::size_t{4} * i));
  if (values[0] == 0 || values[0] > kMaxImages)
    throw Error(ErrorKind::input, fmt::format("claims {} items; 1 to {} are believed", values[0], kMaxImages),
                source.where(), kExpected);
  return values;
}

}  // namespace

IdxImages read_idx_images(std::string_view bytes, const std::string& where) {
  const auto source = open_bytes(bytes, where);
  const auto sizes = read_idx_header(*source, 3);
  IdxImages images{sizes[0], sizes[1], sizes[2], {}};
  if (images.height == 0 || images.height > kMaxSide || images.width == 0 || images.width > kMaxSide ||
      std::uint64_t{images.count} * images.height * images.width > kMaxImageBytes)
    throw Error(ErrorKind::input, fmt::format("claims {} images of {} x {}", images.count, images.height, images.width),
                where, kExpected);
  images.pixels = source->take(std::uint64_t{images.count} * images.height * images.width);
  source->expect_end();
  return images;
}

std::string read_idx_labels(std::string_view bytes, const std::string& where) {
  const auto source = open_bytes(bytes, where);
  const auto sizes = read_idx_header(*source, 1);
  std::string labels = source->take(sizes[0]);
  source->expect_end();
  const auto wrong = std::find_if(labels.begin(), labels.end(), [](unsigned char label) { return label > 9; });
  if (wrong != labels.end())
    throw Error(ErrorKind::input,
                fmt::format("label {} at item {}; 0 to 9 are known", static_cast<unsigned char>(*wrong),
                            wrong - labels.begin()),
                where, kExpected);
  return labels;
}

void read_cifar_batch(std::string_view bytes, const std::string& where,
                      const std::function<void(int label, std::string_view pixels)>& visit) {
  constexpr std::size_t kPixels = std::size_t{3} * 32 * 32, kRecord = 1 + kPixels;
  constexpr const char* kBinary = "expected the binary version of CIFAR-10: data_batch_1.bin to 5, test_batch.bin";
  if (bytes.empty() || bytes.size() % kRecord != 0)
    throw Error(ErrorKind::input,
                fmt::format("holds {} bytes, no multiple of the {} of a record", bytes.size(), kRecord), where,
                kBinary);
  for (std::size_t at = 0; at < bytes.size(); at += kRecord) {
    const int label = static_cast<unsigned char>(bytes[at]);
    if (label > 9) throw Error(ErrorKind::input, fmt::format("label {} at byte {}", label, at), where, kBinary);
    visit(label, bytes.substr(at + 1, kPixels));
  }
}

std::uint64_t read_json_rows(std::string_view text, const std::string& where,
                             const std::function<void(std::string_view pixels)>& visit) {
  constexpr std::size_t kPixels = 784;
  constexpr std::string_view kOpening = "{\"data\":[";
  constexpr const char* kHint = "the package is not the one Eureka knows; get it again";
  if (!text.starts_with(kOpening))
    throw Error(ErrorKind::input, fmt::format("does not begin with {}", kOpening), where, kHint);
  std::uint64_t malformed = 0;
  std::string pixels;
  std::size_t at = kOpening.size();
  while (at < text.size() && text[at] == '[') {
    const std::size_t end = text.find(']', at);
    if (end == std::string_view::npos)
      throw Error(ErrorKind::input, fmt::format("the row at byte {} does not end", at), where, kHint);
    pixels.clear();
    bool good = true;
    unsigned value = 0, digits = 0;
    for (++at; at <= end && good; ++at) {
      const char letter = text[at];
      if (letter >= '0' && letter <= '9' && digits < 3) {
        value = value * 10 + static_cast<unsigned>(letter - '0');
        ++digits;
      } else if ((letter == ',' || letter == ']') && digits > 0 && value <= 255 && pixels.size() < kPixels) {
        pixels += static_cast<char>(value);
        value = digits = 0;
      } else {
        good = false;
      }
    }
    if (good && pixels.size() == kPixels)
      visit(pixels);
    else
      ++malformed;
    at = end + 1;
    if (at < text.size() && text[at] == ',') ++at;
  }
  if (text.substr(std::min(at, text.size()), 2) != "]}")
    throw Error(ErrorKind::input, fmt::format("expected a row or the end at byte {}", at), where, kHint);
  return malformed;
}

std::string resize_plane(std::string_view plane, int side, int new_side) {
  std::string resized;
  const float step = static_cast<float>(side) / static_cast<float>(new_side);
  // Where a new pixel lies between two old ones.
  const auto place = [&](int i) {
    const float at = std::clamp((static_cast<float>(i) + 0.5F) * step - 0.5F, 0.0F, static_cast<float>(side - 1));
    const int low = std::min(static_cast<int>(at), side - 2);
    return std::pair(low, at - static_cast<float>(low));
  };
  const auto pixel = [&](int y, int x) { return static_cast<float>(static_cast<unsigned char>(plane[y * side + x])); };
  for (int y = 0; y < new_side; ++y)
    for (int x = 0; x < new_side; ++x) {
      const auto [top, down] = place(y);
      const auto [left, right] = place(x);
      const float upper = pixel(top, left) * (1 - right) + pixel(top, left + 1) * right;
      const float lower = pixel(top + 1, left) * (1 - right) + pixel(top + 1, left + 1) * right;
      resized += static_cast<char>(static_cast<unsigned char>(upper * (1 - down) + lower * down + 0.5F));
    }
  return resized;
}

}  // namespace eureka
