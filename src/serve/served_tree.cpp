#include "serve/served_tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/error.h"
#include "serve/request_target.h"

namespace eureka::serve {
namespace {

constexpr int kNeverFollow = O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
constexpr int kDirectory = O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_DIRECTORY;

FileStamp stamp_of(const struct stat& state) {
  if (!S_ISREG(state.st_mode)) return {};
  return {true, state.st_ino, static_cast<std::uint64_t>(state.st_size),
          std::int64_t{state.st_mtim.tv_sec} * 1'000'000'000 + state.st_mtim.tv_nsec};
}

bool is_of_kind(int directory, const char* name, mode_t kind) {
  struct stat state {};
  return ::fstatat(directory, name, &state, AT_SYMLINK_NOFOLLOW) == 0 && (state.st_mode & S_IFMT) == kind;
}

// Calls `take(name, type)` for the entries of a directory, hidden ones left out, until it says no.
template <class Take>
void for_each_entry(int directory, Take take) {
  // A descriptor of its own: reading moves the place in it, and closedir() closes it.
  const int own = ::openat(directory, ".", kDirectory);
  DIR* stream = own < 0 ? nullptr : ::fdopendir(own);
  if (stream == nullptr) {
    if (own >= 0) ::close(own);
    return;
  }
  while (const dirent* entry = ::readdir(stream))
    if (entry->d_name[0] != '.' && !take(static_cast<const char*>(entry->d_name), entry->d_type)) break;
  ::closedir(stream);
}

}  // namespace

Opened::~Opened() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

FileStamp OpenFile::stamp() const {
  struct stat state {};
  return ::fstat(file_.get(), &state) == 0 ? stamp_of(state) : FileStamp{};
}

std::string OpenFile::read(std::uint64_t offset, std::size_t count) const {
  // No more room than there are bytes: mostly a line or two is new.
  const std::uint64_t there = stamp().bytes;
  count = static_cast<std::size_t>(std::min<std::uint64_t>(count, there > offset ? there - offset : 0));
  std::string bytes(count, '\0');
  std::size_t got = 0;
  while (got < count) {
    const ssize_t n = ::pread(file_.get(), bytes.data() + got, count - got, static_cast<off_t>(offset + got));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) throw Error(ErrorKind::input, std::strerror(errno));
    if (n == 0) break;
    got += static_cast<std::size_t>(n);
  }
  bytes.resize(got);
  return bytes;
}

FileStamp OpenDirectory::stamp(const char* name) const {
  struct stat state {};
  return ::fstatat(directory_.get(), name, &state, AT_SYMLINK_NOFOLLOW) == 0 ? stamp_of(state) : FileStamp{};
}

std::optional<OpenFile> OpenDirectory::open(const char* name) const {
  OpenFile file(Opened(::openat(directory_.get(), name, kNeverFollow)));
  return file.stamp().exists ? std::optional(std::move(file)) : std::nullopt;
}

std::optional<std::string> OpenDirectory::read(const char* name, std::uint64_t most_bytes) const {
  const std::optional<OpenFile> file = open(name);
  if (!file) return std::nullopt;
  const std::uint64_t bytes = file->stamp().bytes;
  if (bytes > most_bytes) throw Error(ErrorKind::input, fmt::format("{} is too large", name));
  return file->read(0, static_cast<std::size_t>(bytes));
}

std::optional<OpenDirectory> OpenDirectory::below(const std::string& name) const {
  Opened found(::openat(directory_.get(), name.c_str(), kDirectory));
  return found.is_open() ? std::optional(OpenDirectory(std::move(found))) : std::nullopt;
}

OpenDirectory::Children OpenDirectory::children(std::size_t most) const {
  Children found;
  for_each_entry(directory_.get(), [&](const char* name, unsigned char type) {
    if (type == DT_UNKNOWN && is_of_kind(directory_.get(), name, S_IFDIR)) type = DT_DIR;
    if (type == DT_LNK) ++found.links;
    if (type != DT_DIR) return true;
    if (is_entry_name(name))
      found.names.emplace_back(name);
    else
      ++found.unfit;
    return found.names.size() < most;
  });
  std::sort(found.names.begin(), found.names.end());
  return found;
}

std::vector<std::string> OpenDirectory::files(std::string_view prefix, std::size_t most) const {
  std::vector<std::string> names;
  for_each_entry(directory_.get(), [&](const char* name, unsigned char) {
    if (std::string_view(name).starts_with(prefix) && stamp(name).exists) names.emplace_back(name);
    return names.size() < most;
  });
  std::sort(names.begin(), names.end());
  return names;
}

std::optional<std::string> OpenDirectory::link_among(const std::vector<const char*>& names) const {
  for (const char* name : names)
    if (is_of_kind(directory_.get(), name, S_IFLNK)) return name;
  return std::nullopt;
}

ServedTree::ServedTree(const fs::path& root) {
  std::error_code failure;
  root_ = fs::canonical(root, failure);
  if (failure) throw Error(ErrorKind::input, failure.message(), root.string());
  directory_ = Opened(::open(root_.c_str(), kDirectory));
  if (!directory_.is_open())
    throw Error(ErrorKind::input, std::strerror(errno), root.string(),
                "give the directory that holds your runs and studies");
}

std::optional<OpenDirectory> ServedTree::open(const std::string& id) const {
  if (!is_entry_id(id)) return std::nullopt;
  Opened at(::openat(directory_.get(), ".", kDirectory));
  if (id == ".") return at.is_open() ? std::optional(OpenDirectory(std::move(at))) : std::nullopt;
  for (std::size_t begin = 0; at.is_open() && begin < id.size();) {
    const std::size_t end = std::min(id.find('/', begin), id.size());
    at = Opened(::openat(at.get(), id.substr(begin, end - begin).c_str(), kDirectory));
    begin = end + 1;
  }
  return at.is_open() ? std::optional(OpenDirectory(std::move(at))) : std::nullopt;
}

std::string ServedTree::stamps(const std::string& id) const {
  const auto directory = open(id);
  if (!directory) return "gone";
  std::string text;
  for (const char* file : {"metrics.jsonl", "events.jsonl", "meta.json", "summary.json"}) {
    const FileStamp stamp = directory->stamp(file);
    text += fmt::format("{} {} {};", stamp.inode, stamp.bytes, stamp.changed);
  }
  return text;
}

std::string ServedTree::name() const { return root_.filename().string(); }

}  // namespace eureka::serve
