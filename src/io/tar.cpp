#include "io/tar.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/error.h"

namespace eureka {
namespace {

constexpr std::uint64_t kBlock = 512;
constexpr const char* kDamaged = "the archive is damaged; get it again";

std::string text_field(std::string_view block, std::size_t offset, std::size_t length) {
  const std::string_view field = block.substr(offset, length);
  return std::string(field.substr(0, std::min(field.find('\0'), field.size())));
}

std::optional<std::uint64_t> octal_field(std::string_view block, std::size_t offset, std::size_t length) {
  std::uint64_t value = 0;
  bool any = false;
  for (const char letter : block.substr(offset, length)) {
    if (letter == ' ' && !any) continue;
    if (letter == ' ' || letter == '\0') break;
    if (letter < '0' || letter > '7') return std::nullopt;
    value = value * 8 + static_cast<std::uint64_t>(letter - '0');
    any = true;
  }
  return any ? std::optional(value) : std::nullopt;
}

// The sum of the block's bytes, with the checksum itself read as spaces.
std::uint64_t checksum_of(std::string_view block) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < block.size(); ++i)
    sum += i >= 148 && i < 156 ? std::uint64_t{' '} : static_cast<unsigned char>(block[i]);
  return sum;
}

}  // namespace

void read_tar(std::string_view archive, const std::string& where,
              const std::function<void(const TarEntry&, ByteSource& content)>& visit) {
  const auto source = open_bytes(archive, where);
  while (true) {
    const std::uint64_t at = source->position();
    const std::string block = source->take(kBlock);
    // Two zero blocks end an archive; the first is enough.
    if (std::all_of(block.begin(), block.end(), [](char byte) { return byte == '\0'; })) return;
    const auto size = octal_field(block, 124, 12);
    if (!size || octal_field(block, 148, 8) != checksum_of(block))
      throw Error(ErrorKind::input, fmt::format("no tar header at byte {}", at), where, kDamaged);
    const std::string prefix = block.substr(257, 5) == "ustar" ? text_field(block, 345, 155) : "";
    const TarEntry entry{(prefix.empty() ? "" : prefix + "/") + text_field(block, 0, 100), *size};
    const std::uint64_t begin = source->position();
    const char type = block[156];
    if (type == '0' || type == '\0') visit(entry, *source);
    const std::uint64_t taken = source->position() - begin;
    EUREKA_CHECK(taken == 0 || taken == *size, "a visitor took part of " + entry.name);
    source->skip((*size + kBlock - 1) / kBlock * kBlock - taken);
  }
}

}  // namespace eureka
