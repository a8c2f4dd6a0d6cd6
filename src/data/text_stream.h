// UTF-8 text read from front to back in bounded memory, checked as it goes by.
//
//   TextStream stream = TextStream::of_file("novel.txt");
//   for (std::string_view part = stream.next(); !part.empty(); part = stream.next()) ...      whole code points
//
// Ensures: every part is valid UTF-8 (RFC 3629: shortest forms, no surrogates) without a zero byte. What is not is
// refused with line and byte. A byte order mark at the beginning is passed over.
#pragma once

#include <string>
#include <string_view>

#include "base/files.h"

namespace eureka {

// Bytes of the code point that begins with `first`, in text that was checked.
constexpr std::size_t code_point_bytes(unsigned char first) {
  return first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
}

std::uint64_t count_code_points(std::string_view text);

class TextStream {
 public:
  // Throws Error(input) when it is no regular file that can be read, or is empty.
  static TextStream of_file(const fs::path& path);
  // `text` must stay where it is; `where` names it in errors.
  static TextStream of_memory(std::string_view text, std::string where);

  ~TextStream();
  TextStream(TextStream&& other) noexcept;
  TextStream& operator=(TextStream&&) = delete;

  // At most about a megabyte, valid until the next call; empty at the end.
  std::string_view next();

 private:
  explicit TextStream(std::string where) : where_(std::move(where)) {}
  void fill();
  // How many of the bytes at hand are whole, valid code points.
  std::size_t checked_length();
  [[noreturn]] void refuse(const std::string& what, std::size_t at, const char* hint) const;

  std::string where_;
  std::string_view memory_;  // what is left of it
  int descriptor_ = -1;
  std::string buffer_;
  std::size_t given_ = 0;  // of the buffer, by the last call
  bool ended_ = false;
  std::uint64_t offset_ = 0;  // of the buffer's first byte in the text
  std::uint64_t line_ = 1;    // on which that byte stands
};

}  // namespace eureka
