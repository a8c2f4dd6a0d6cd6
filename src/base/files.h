// Files that are either the old content or the new, never something in between. What is written never goes through a
// link or into a pipe that somebody else left in our place.
//
//   atomic_write(dir / "summary.json", text);        temp file, fsync, rename, fsync of the directory
//   AppendFile log(dir / "metrics.jsonl");           whole lines; a torn last line can only come from a crash
//   log.append_line(row);
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace eureka {

namespace fs = std::filesystem;

// Replaces `path` by `content`. After return the content survives a power cut. Throws Error(failed) and leaves the old
// file in place when the disk is full.
void atomic_write(const fs::path& path, std::string_view content);

// The same for content too large to hold: written piece by piece, in place only after commit().
//
//   AtomicFile file(path);
//   file.append(header), file.append(body), file.write_at(0, header_with_counts);
//   file.commit();
class AtomicFile {
 public:
  explicit AtomicFile(const fs::path& path);
  ~AtomicFile();  // what was not committed is gone
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void append(std::string_view bytes);
  void write_at(std::uint64_t offset, std::string_view bytes);  // inside of what was appended
  void commit();

 private:
  fs::path path_;
  fs::path temporary_;
  int descriptor_ = -1;
};

// Replaces `path` by `content` for whoever looks, but may be lost in a power cut: for what can be written again.
void replace_file(const fs::path& path, std::string_view content);

// Writes a file that must not be there yet, and syncs it; for files inside a directory that is itself renamed into
// place.
void write_and_sync(const fs::path& path, std::string_view content);

// Makes the entries of a directory durable.
void sync_directory(const fs::path& directory);

// Whole file. Throws Error(input) when it cannot be read or is larger than `max_bytes`.
std::string read_file(const fs::path& path, std::uint64_t max_bytes = std::uint64_t{4} << 30);

// Opens a file that lies in a directory of ours under a fixed name, and returns its descriptor. A link or a pipe
// somebody else put there is refused with an Error: what is written would go elsewhere, or wait for ever.
int open_own(const fs::path& path, int flags);

// Creates the directory (and its parents) so that it survives a power cut, or throws Error(output) with the reason.
void make_directories(const fs::path& directory);

// The same for a directory inside one of ours, which must not be a link.
void make_own_directory(const fs::path& directory);

// Removes what killed processes left of files they were about to replace; for whoever holds the directory's lock.
void remove_leftovers(const fs::path& directory);

// An append-only file of lines or records. Every append is one write(2); size() is the offset after it.
class AppendFile {
 public:
  explicit AppendFile(const fs::path& path);
  ~AppendFile();
  AppendFile(AppendFile&& other) noexcept;
  AppendFile& operator=(AppendFile&&) = delete;

  void append(std::string_view bytes);
  void append_line(std::string_view line);
  void truncate(std::uint64_t bytes);
  void sync();
  std::uint64_t size() const { return size_; }

 private:
  fs::path path_;
  int descriptor_ = -1;
  std::uint64_t size_ = 0;
};

}  // namespace eureka
