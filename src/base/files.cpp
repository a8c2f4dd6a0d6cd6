#include "base/files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <random>
#include <utility>
#include <vector>

#include "base/error.h"

namespace eureka {
namespace {

constexpr const char* kElsewhere = "choose another place with --out DIR";
// A pipe that lies in a directory may have nobody at its other end.
constexpr int kWriterComesWithinMs = 3000;

fs::path parent_of(const fs::path& path) { return path.has_parent_path() ? path.parent_path() : fs::path("."); }

std::string reason() { return std::strerror(errno); }

// Closes a descriptor on every way out; release() hands it on.
class Descriptor {
 public:
  explicit Descriptor(int value) : value_(value) {}
  ~Descriptor() {
    if (value_ >= 0) ::close(value_);
  }
  Descriptor(Descriptor&& other) noexcept : value_(other.release()) {}
  Descriptor& operator=(Descriptor&&) = delete;
  int get() const { return value_; }
  int release() { return std::exchange(value_, -1); }

 private:
  int value_;
};

bool is_full() { return errno == ENOSPC || errno == EDQUOT; }

const char* hint_of_failure(const char* otherwise) {
  if (is_full()) return "free some space, then run again with --resume";
  if (errno == EFBIG)
    return "files may not grow further here (ulimit -f): raise the limit, then run again with --resume";
  return otherwise;
}

void write_all(int descriptor, std::string_view bytes, const fs::path& path) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      throw Error(ErrorKind::failed, fmt::format("cannot write: {}", reason()), path.string(), hint_of_failure(""));
    }
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

void sync_descriptor(int descriptor, const fs::path& path) {
  if (::fsync(descriptor) != 0) throw Error(ErrorKind::failed, fmt::format("cannot sync: {}", reason()), path.string());
}

// A place that cannot be written to is the user's to mend; a full disk or too many open files are not.
ErrorKind kind_of_failure() {
  const bool exhausted = is_full() || errno == EMFILE || errno == ENFILE || errno == EIO;
  return exhausted ? ErrorKind::failed : ErrorKind::output;
}

constexpr std::string_view kTemporaryEnding = ".tmp";
constexpr std::size_t kTokenLetters = 16;

// Beside the file it becomes, under a name nobody can have put there before us: .summary.json.0123456789abcdef.tmp
fs::path temporary_name(const fs::path& path) {
  std::random_device random;
  const std::uint64_t token = std::uint64_t{random()} << 32 | random();
  return path.parent_path() /
         fmt::format(".{}.{:0{}x}{}", path.filename().string(), token, kTokenLetters, kTemporaryEnding);
}

// A name made by temporary_name(), or summary.json.1234.tmp as eureka 0.1 made them.
bool is_temporary_name(std::string_view name) {
  if (!name.ends_with(kTemporaryEnding)) return false;
  name.remove_suffix(kTemporaryEnding.size());
  const std::size_t dot = name.rfind('.');
  if (dot == std::string_view::npos || dot == 0) return false;
  const std::string_view token = name.substr(dot + 1);
  const bool ours = name.starts_with('.') && token.size() == kTokenLetters;
  return !token.empty() && token.find_first_not_of(ours ? "0123456789abcdef" : "0123456789") == std::string_view::npos;
}

// `shown` is the name the user knows the file by.
void write_new(const fs::path& path, const fs::path& shown, std::string_view content, bool sync) {
  Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644));
  if (file.get() < 0) throw Error(kind_of_failure(), fmt::format("cannot write: {}", reason()), shown.string());
  write_all(file.get(), content, shown);
  if (sync) sync_descriptor(file.get(), shown);
}

// A device or a pipe would become a file, for everybody on the machine; /dev/stdout leads to a file but is none.
void refuse_what_is_no_file(const fs::path& path) {
  std::error_code ignored;
  const fs::file_status link = fs::symlink_status(path, ignored), end = fs::status(path, ignored);
  const bool is_device_link = fs::is_symlink(link) && path.lexically_normal().parent_path() == "/dev";
  const bool is_replaceable = !fs::exists(end) || fs::is_regular_file(end) || fs::is_directory(end);
  if (is_device_link || !is_replaceable) throw Error(ErrorKind::output, "is no regular file", path.string());
}

void replace(const fs::path& path, std::string_view content, bool sync) {
  refuse_what_is_no_file(path);
  const fs::path temporary = temporary_name(path);
  try {
    write_new(temporary, path, content, sync);
    if (::rename(temporary.c_str(), path.c_str()) != 0)
      throw Error(kind_of_failure(), fmt::format("cannot replace: {}", reason()), path.string());
  } catch (const Error&) {
    ::unlink(temporary.c_str());
    throw;
  }
}

}  // namespace

int open_own(const fs::path& path, int flags) {
  Descriptor file(::open(path.c_str(), flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0644));
  struct stat info {};
  const bool linked = file.get() < 0 && errno == ELOOP;
  if (linked || (file.get() >= 0 && (::fstat(file.get(), &info) != 0 || !S_ISREG(info.st_mode))))
    throw Error(ErrorKind::output, linked ? "is a symbolic link, which could lead anywhere" : "is no regular file",
                path.string(), kElsewhere);
  if (file.get() < 0)
    throw Error(kind_of_failure(), fmt::format("cannot write: {}", reason()), path.string(),
                hint_of_failure(kElsewhere));
  return file.release();
}

void write_and_sync(const fs::path& path, std::string_view content) { write_new(path, path, content, true); }

void sync_directory(const fs::path& directory) {
  Descriptor handle(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (handle.get() < 0) throw Error(ErrorKind::failed, fmt::format("cannot open: {}", reason()), directory.string());
  sync_descriptor(handle.get(), directory);
}

void replace_file(const fs::path& path, std::string_view content) { replace(path, content, false); }

void atomic_write(const fs::path& path, std::string_view content) {
  replace(path, content, true);
  sync_directory(parent_of(path));
}

AtomicFile::AtomicFile(const fs::path& path) : path_(path), temporary_(temporary_name(path)) {
  refuse_what_is_no_file(path);
  descriptor_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
  if (descriptor_ < 0) throw Error(kind_of_failure(), fmt::format("cannot write: {}", reason()), path.string());
}

AtomicFile::~AtomicFile() {
  if (descriptor_ < 0) return;
  ::close(descriptor_);
  ::unlink(temporary_.c_str());
}

void AtomicFile::append(std::string_view bytes) { write_all(descriptor_, bytes, path_); }

void AtomicFile::write_at(std::uint64_t offset, std::string_view bytes) {
  if (::lseek(descriptor_, static_cast<off_t>(offset), SEEK_SET) < 0)
    throw Error(ErrorKind::failed, fmt::format("cannot write: {}", reason()), path_.string());
  write_all(descriptor_, bytes, path_);
  if (::lseek(descriptor_, 0, SEEK_END) < 0)
    throw Error(ErrorKind::failed, fmt::format("cannot write: {}", reason()), path_.string());
}

void AtomicFile::commit() {
  sync_descriptor(descriptor_, path_);
  if (::rename(temporary_.c_str(), path_.c_str()) != 0)
    throw Error(kind_of_failure(), fmt::format("cannot replace: {}", reason()), path_.string());
  ::close(std::exchange(descriptor_, -1));
  sync_directory(parent_of(path_));
}

std::string read_file(const fs::path& path, std::uint64_t max_bytes) {
  Descriptor file(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  if (file.get() < 0) throw Error(ErrorKind::input, fmt::format("cannot read: {}", reason()), path.string());
  struct stat info {};
  if (::fstat(file.get(), &info) != 0 || S_ISDIR(info.st_mode))
    throw Error(ErrorKind::input, S_ISDIR(info.st_mode) ? "is a directory, not a file" : "cannot read", path.string());
  std::string content;
  if (S_ISREG(info.st_mode))
    content.reserve(std::min<std::uint64_t>(static_cast<std::uint64_t>(info.st_size), max_bytes));
  char buffer[1 << 16];
  for (bool may_begin_later = S_ISFIFO(info.st_mode);;) {
    const ssize_t got = ::read(file.get(), buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    pollfd more{file.get(), POLLIN, 0};
    if (got < 0 && errno == EAGAIN) {
      ::poll(&more, 1, -1);
      continue;
    }
    if (got == 0 && std::exchange(may_begin_later, false)) {
      if (::poll(&more, 1, kWriterComesWithinMs) != 0) continue;
      throw Error(ErrorKind::input, "is a pipe into which nobody writes", path.string());
    }
    may_begin_later = false;
    if (got < 0) throw Error(ErrorKind::input, fmt::format("cannot read: {}", reason()), path.string());
    if (got == 0) return content;
    content.append(buffer, static_cast<std::size_t>(got));
    if (content.size() > max_bytes)
      throw Error(ErrorKind::input, fmt::format("larger than the {} bytes this kind of file may have", max_bytes),
                  path.string());
  }
}

void make_directories(const fs::path& directory) {
  std::error_code failure;
  std::vector<fs::path> missing;
  for (fs::path place = directory; !place.empty() && !fs::exists(place, failure); place = place.parent_path())
    missing.push_back(place);
  fs::create_directories(directory, failure);
  errno = failure ? failure.value() : ENOTDIR;
  if (failure || !fs::is_directory(directory))
    throw Error(kind_of_failure(),
                fmt::format("cannot create the directory: {}", failure ? failure.message() : "a file is in the way"),
                directory.string(), kElsewhere);
  for (const fs::path& made : missing) {
    // A parent that may be entered but not read cannot be synced.
    const Descriptor parent(::open(parent_of(made).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (parent.get() >= 0) sync_descriptor(parent.get(), parent_of(made));
  }
}

void make_own_directory(const fs::path& directory) {
  if (fs::is_symlink(fs::symlink_status(directory)))
    throw Error(ErrorKind::output, "is a symbolic link, which could lead anywhere", directory.string(), kElsewhere);
  make_directories(directory);
}

void remove_leftovers(const fs::path& directory) {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(directory, ignored))
    if (is_temporary_name(entry.path().filename().string()) && fs::is_regular_file(entry.symlink_status(ignored)))
      fs::remove(entry.path(), ignored);
}

AppendFile::AppendFile(const fs::path& path) : path_(path) {
  descriptor_ = open_own(path, O_WRONLY | O_CREAT | O_APPEND);
  const off_t end = ::lseek(descriptor_, 0, SEEK_END);
  size_ = end > 0 ? static_cast<std::uint64_t>(end) : 0;
}

AppendFile::AppendFile(AppendFile&& other) noexcept
    : path_(std::move(other.path_)), descriptor_(std::exchange(other.descriptor_, -1)), size_(other.size_) {}

AppendFile::~AppendFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void AppendFile::append(std::string_view bytes) {
  write_all(descriptor_, bytes, path_);
  size_ += bytes.size();
}

void AppendFile::append_line(std::string_view line) { append(std::string(line) + "\n"); }

void AppendFile::truncate(std::uint64_t bytes) {
  if (::ftruncate(descriptor_, static_cast<off_t>(bytes)) != 0)
    throw Error(ErrorKind::failed, fmt::format("cannot truncate: {}", reason()), path_.string());
  size_ = bytes;
}

void AppendFile::sync() { sync_descriptor(descriptor_, path_); }

}  // namespace eureka
