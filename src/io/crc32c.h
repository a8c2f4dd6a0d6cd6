// CRC-32C (Castagnoli), the checksum of TFRecord files and iSCSI.
//
//   crc32c("123456789") == 0xE3069283
#pragma once

#include <cstdint>
#include <string_view>

namespace eureka {

// `seed` is the checksum of the bytes before: crc32c(b, crc32c(a)) == crc32c(a + b).
std::uint32_t crc32c(std::string_view bytes, std::uint32_t seed = 0);

// The form TFRecord stores: a checksum of bytes that themselves hold checksums is weak, so it is rotated and shifted.
std::uint32_t masked_crc32c(std::string_view bytes);

}  // namespace eureka
