#include "io/crc32c.h"

#include <array>
#include <bit>
#include <cstring>

namespace eureka {
namespace {

static_assert(std::endian::native == std::endian::little, "eight bytes at a time are read in little-endian order");

using Tables = std::array<std::array<std::uint32_t, 256>, 8>;

// Slicing by 8: tables[k][b] is the checksum of byte b followed by k zero bytes.
constexpr Tables make_tables() {
  constexpr std::uint32_t kReflectedPolynomial = 0x82F63B78;
  Tables tables{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? kReflectedPolynomial : 0);
    tables[0][byte] = crc;
  }
  for (std::size_t k = 1; k < tables.size(); ++k)
    for (std::size_t byte = 0; byte < 256; ++byte) {
      const std::uint32_t shorter = tables[k - 1][byte];
      tables[k][byte] = (shorter >> 8) ^ tables[0][shorter & 0xFF];
    }
  return tables;
}

constexpr Tables kTables = make_tables();

}  // namespace

std::uint32_t crc32c(std::string_view bytes, std::uint32_t seed) {
  std::uint32_t crc = ~seed;
  while (bytes.size() >= 8) {
    std::uint64_t word;
    std::memcpy(&word, bytes.data(), sizeof word);
    word ^= crc;
    crc = 0;
    for (std::size_t i = 0; i < 8; ++i) crc ^= kTables[7 - i][(word >> (8 * i)) & 0xFF];
    bytes.remove_prefix(8);
  }
  for (const char byte : bytes) crc = (crc >> 8) ^ kTables[0][(crc ^ static_cast<unsigned char>(byte)) & 0xFF];
  return ~crc;
}

std::uint32_t masked_crc32c(std::string_view bytes) { return std::rotr(crc32c(bytes), 15) + 0xA282EAD8U; }

}  // namespace eureka
