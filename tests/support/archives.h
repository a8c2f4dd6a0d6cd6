// Small archives and data files made in memory, as their formats define them.
#pragma once

#include <zlib.h>

#include <cstdint>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace eureka {

inline std::string gzip(const std::string& bytes) {
  z_stream stream{};
  if (::deflateInit2(&stream, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK)
    throw std::runtime_error("deflate");
  std::string packed(::deflateBound(&stream, bytes.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  if (::deflate(&stream, Z_FINISH) != Z_STREAM_END) throw std::runtime_error("deflate");
  packed.resize(stream.total_out);
  ::deflateEnd(&stream);
  return packed;
}

inline std::string tar(const std::vector<std::pair<std::string, std::string>>& files) {
  std::string archive;
  for (const auto& [name, content] : files) {
    std::string block(512, '\0');
    block.replace(0, name.size(), name);
    char size[12];
    std::snprintf(size, sizeof size, "%011o", static_cast<unsigned>(content.size()));
    block.replace(124, 11, size);
    block.replace(148, 8, "        ");
    block[156] = '0';
    block.replace(257, 5, "ustar");
    unsigned sum = 0;
    for (const char byte : block) sum += static_cast<unsigned char>(byte);
    char checksum[8];
    std::snprintf(checksum, sizeof checksum, "%06o", sum);
    block.replace(148, 7, std::string(checksum, 7));
    archive += block + content + std::string((512 - content.size() % 512) % 512, '\0');
  }
  return archive + std::string(1024, '\0');
}

inline std::string big_endian(std::uint32_t value) {
  std::string bytes;
  for (const int shift : {24, 16, 8, 0}) bytes += static_cast<char>(value >> shift);
  return bytes;
}

inline std::string idx_images(std::uint32_t count, std::uint32_t side = 28, char pixel = 5) {
  return big_endian(0x803) + big_endian(count) + big_endian(side) + big_endian(side) +
         std::string(std::size_t{count} * side * side, pixel);
}

// Labels 0, 1, ..., 9, 0, 1, ...
inline std::string idx_labels(std::uint32_t count) {
  std::string bytes = big_endian(0x801) + big_endian(count);
  for (std::uint32_t i = 0; i < count; ++i) bytes += static_cast<char>(i % 10);
  return bytes;
}

}  // namespace eureka
