// The directory that is served, opened for reading only and without following a link: whoever puts one into the tree
// leads nobody out of it.
//
//   ServedTree tree("runs");
//   if (const auto run = tree.open("cures/softmax/seed-1")) run->read("meta.json", 1 << 20);
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/files.h"

namespace eureka::serve {

// A file as it stands; equal stamps, equal content, unless somebody wrote within the same tick of the clock and left
// the size as it was.
struct FileStamp {
  bool exists = false;
  std::uint64_t inode = 0;
  std::uint64_t bytes = 0;
  std::int64_t changed = 0;  // nanoseconds since 1970

  bool operator==(const FileStamp&) const = default;
};

// A descriptor that is closed with it.
class Opened {
 public:
  explicit Opened(int descriptor = -1) : descriptor_(descriptor) {}
  ~Opened();
  Opened(Opened&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  Opened& operator=(Opened&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }

  bool is_open() const { return descriptor_ >= 0; }
  int get() const { return descriptor_; }

 private:
  int descriptor_;
};

// A regular file that somebody else may be writing.
class OpenFile {
 public:
  explicit OpenFile(Opened file) : file_(std::move(file)) {}

  FileStamp stamp() const;
  // Up to `count` bytes from there; fewer at the end.
  std::string read(std::uint64_t offset, std::size_t count) const;

 private:
  Opened file_;
};

class OpenDirectory {
 public:
  explicit OpenDirectory(Opened directory) : directory_(std::move(directory)) {}

  // Of a regular file; anything else does not exist.
  FileStamp stamp(const char* name) const;
  std::optional<OpenFile> open(const char* name) const;
  // Nothing when it is not there. Throws Error(input) when it is larger than that.
  std::optional<std::string> read(const char* name, std::uint64_t most_bytes) const;

  std::optional<OpenDirectory> below(const std::string& name) const;
  // The directories in it whose names are fit for an id, sorted. What is passed over is counted.
  struct Children {
    std::vector<std::string> names;
    std::size_t unfit = 0, links = 0;
  };
  Children children(std::size_t most) const;
  // The regular files in it whose names begin so, sorted.
  std::vector<std::string> files(std::string_view prefix, std::size_t most) const;
  // The first of its files (of these names) or directories that is a link.
  std::optional<std::string> link_among(const std::vector<const char*>& names) const;

 private:
  Opened directory_;
};

class ServedTree {
 public:
  // Throws Error(input) when it is no directory that can be read.
  explicit ServedTree(const fs::path& root);

  // Nothing for what is no id, or no directory, or behind a link.
  std::optional<OpenDirectory> open(const std::string& id) const;
  // Of the files of a run: as text that is another when one has changed.
  std::string stamps(const std::string& id) const;
  // For readers that want a path. Requires: an id.
  fs::path path(const std::string& id) const { return id == "." ? root_ : root_ / id; }
  const fs::path& root() const { return root_; }
  std::string name() const;

 private:
  fs::path root_;
  Opened directory_;
};

}  // namespace eureka::serve
