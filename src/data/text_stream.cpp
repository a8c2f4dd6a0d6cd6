#include "data/text_stream.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/error.h"

namespace eureka {
namespace {

constexpr std::size_t kPartBytes = std::size_t{1} << 20;
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

// Length of the valid code point at the front; 0 if there is none, or not all of it.
std::size_t valid_code_point(std::string_view bytes) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(bytes[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return 1;
  if (first < 0xC2 || first > 0xF4) return 0;
  const std::size_t length = code_point_bytes(first);
  if (bytes.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i)
    if ((byte(i) & 0xC0) != 0x80) return 0;
  // Longer forms than needed, surrogates, and what lies beyond U+10FFFF.
  const unsigned char second = byte(1);
  const bool wrong = (first == 0xE0 && second < 0xA0) || (first == 0xED && second > 0x9F) ||
                     (first == 0xF0 && second < 0x90) || (first == 0xF4 && second > 0x8F);
  return wrong ? 0 : length;
}

// Could more bytes make a code point of these few?
bool may_be_cut(std::string_view tail) {
  const auto first = static_cast<unsigned char>(tail[0]);
  if (first < 0xC2 || first > 0xF4 || tail.size() >= code_point_bytes(first)) return false;
  return std::all_of(tail.begin() + 1, tail.end(),
                     [](char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; });
}

}  // namespace

std::uint64_t count_code_points(std::string_view text) {
  return static_cast<std::uint64_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

TextStream TextStream::of_memory(std::string_view text, std::string where) {
  TextStream stream(std::move(where));
  stream.memory_ = text;
  if (text.empty()) throw Error(ErrorKind::input, "is empty", stream.where_, "name a file with text in it");
  return stream;
}

TextStream TextStream::of_file(const fs::path& path) {
  TextStream stream(path.string());
  // Without waiting: a pipe nobody writes to is refused like any other.
  stream.descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (stream.descriptor_ < 0)
    throw Error(ErrorKind::input, fmt::format("cannot read: {}", std::strerror(errno)), path.string(),
                "a text is \"sample\", \"kjv\" or the path of a UTF-8 file");
  struct stat info {};
  if (::fstat(stream.descriptor_, &info) != 0 || !S_ISREG(info.st_mode))
    throw Error(ErrorKind::input, S_ISDIR(info.st_mode) ? "is a directory, not a text" : "is no regular file",
                path.string(), "a text is read more than once: name a file");
  if (info.st_size == 0) throw Error(ErrorKind::input, "is empty", path.string(), "name a file with text in it");
  return stream;
}

TextStream::TextStream(TextStream&& other) noexcept
    : where_(std::move(other.where_)),
      memory_(other.memory_),
      descriptor_(std::exchange(other.descriptor_, -1)),
      buffer_(std::move(other.buffer_)),
      given_(other.given_),
      ended_(other.ended_),
      offset_(other.offset_),
      line_(other.line_) {}

TextStream::~TextStream() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void TextStream::fill() {
  const std::size_t kept = buffer_.size();
  buffer_.resize(kPartBytes);
  std::size_t size = kept;
  while (size < kPartBytes && !ended_) {
    const std::size_t wanted = kPartBytes - size;
    if (descriptor_ < 0) {
      const std::size_t taken = memory_.copy(buffer_.data() + size, wanted);
      memory_.remove_prefix(taken);
      size += taken;
      ended_ = memory_.empty();
      continue;
    }
    const ssize_t got = ::read(descriptor_, buffer_.data() + size, wanted);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw Error(ErrorKind::input, fmt::format("cannot read: {}", std::strerror(errno)), where_);
    size += static_cast<std::size_t>(got);
    ended_ = got == 0;
  }
  buffer_.resize(size);
}

std::size_t TextStream::checked_length() {
  const std::string_view bytes = buffer_;
  std::size_t at = 0;
  while (at < bytes.size()) {
    if (bytes[at] == '\0')
      refuse("is no text: a zero byte", at, "binary files and UTF-16 are not read; convert: iconv -f UTF-16 -t UTF-8");
    const std::size_t length = valid_code_point(bytes.substr(at, 4));
    if (length > 0) {
      at += length;
      continue;
    }
    if (!ended_ && bytes.size() - at < 4 && may_be_cut(bytes.substr(at))) break;
    refuse(fmt::format("is not UTF-8: byte 0x{:02X}", static_cast<unsigned char>(bytes[at])), at,
           "convert the file (iconv -f LATIN1 -t UTF-8), or name another");
  }
  return at;
}

void TextStream::refuse(const std::string& what, std::size_t at, const char* hint) const {
  const auto end = buffer_.begin() + static_cast<std::ptrdiff_t>(at);
  const auto line = line_ + static_cast<std::uint64_t>(std::count(buffer_.begin(), end, '\n'));
  throw Error(ErrorKind::input, fmt::format("{} at byte {} (line {})", what, offset_ + at, line), where_, hint);
}

std::string_view TextStream::next() {
  line_ += static_cast<std::uint64_t>(
      std::count(buffer_.begin(), buffer_.begin() + static_cast<std::ptrdiff_t>(given_), '\n'));
  offset_ += given_;
  buffer_.erase(0, given_);
  fill();
  given_ = checked_length();
  const std::string_view part = std::string_view(buffer_).substr(0, given_);
  const bool marked = offset_ == 0 && part.starts_with(kByteOrderMark);
  return marked ? part.substr(kByteOrderMark.size()) : part;
}

}  // namespace eureka
