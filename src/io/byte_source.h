// Bytes read from front to back, plain or out of gzip, never more than the reader asks for: a gzip bomb costs no
// memory.
//
//   const std::string content = read_file(path, limit);
//   const auto source = open_bytes(content, path.string());       gzip is known by its first two bytes
//   const std::string header = source->take(16);                  Error(input) when the file ends before
//   const std::string body = source->take(promised_by(header));
//   source->expect_end();                                         Error(input) when more follows
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace eureka {

class ByteSource {
 public:
  explicit ByteSource(std::string where) : where_(std::move(where)) {}
  virtual ~ByteSource() = default;

  // Up to `count` bytes; fewer only at the end. Throws Error(input) when the compressed data are damaged.
  virtual std::size_t read(char* into, std::size_t count) = 0;

  // Exactly `count` bytes, or Error(input) that says how many there are.
  std::string take(std::uint64_t count);
  void skip(std::uint64_t count);
  void expect_end();

  std::uint64_t position() const { return position_; }
  const std::string& where() const { return where_; }

 private:
  std::string where_;
  std::uint64_t position_ = 0;
};

// `bytes` must outlive the source; `where` names them in errors.
std::unique_ptr<ByteSource> open_bytes(std::string_view bytes, const std::string& where);

}  // namespace eureka
