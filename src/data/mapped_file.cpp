#include "data/mapped_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/error.h"

namespace eureka {

MappedFile::MappedFile(const fs::path& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (file < 0) throw Error(ErrorKind::input, fmt::format("cannot read: {}", std::strerror(errno)), path.string());
  struct stat info {};
  if (::fstat(file, &info) == 0 && S_ISREG(info.st_mode)) size_ = static_cast<std::size_t>(info.st_size);
  void* start = size_ > 0 ? ::mmap(nullptr, size_, PROT_READ, MAP_SHARED, file, 0) : nullptr;
  ::close(file);
  if (start == MAP_FAILED)
    throw Error(ErrorKind::failed, fmt::format("cannot map: {}", std::strerror(errno)), path.string());
  start_ = start;
}

MappedFile::~MappedFile() {
  if (start_ != nullptr) ::munmap(start_, size_);
}

}  // namespace eureka
