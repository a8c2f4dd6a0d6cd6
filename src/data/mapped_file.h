// A file mapped for reading, for as long as the object lives: many processes share one copy.
#pragma once

#include <string_view>

#include "base/files.h"

namespace eureka {

class MappedFile {
 public:
  // Throws Error(input) when it cannot be read; what is no regular file is as good as empty.
  explicit MappedFile(const fs::path& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::string_view bytes() const { return {static_cast<const char*>(start_), size_}; }

 private:
  void* start_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace eureka
