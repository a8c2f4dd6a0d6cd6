#include "io/byte_source.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <cstring>

#include "base/error.h"

namespace eureka {
namespace {

constexpr const char* kCopyAgain = "the file is damaged or not complete; get it again";

class PlainBytes final : public ByteSource {
 public:
  PlainBytes(std::string_view bytes, const std::string& where) : ByteSource(where), bytes_(bytes) {}

  std::size_t read(char* into, std::size_t count) override {
    const std::size_t got = std::min(count, bytes_.size());
    std::memcpy(into, bytes_.data(), got);
    bytes_.remove_prefix(got);
    return got;
  }

 private:
  std::string_view bytes_;
};

class GzipBytes final : public ByteSource {
 public:
  GzipBytes(std::string_view bytes, const std::string& where) : ByteSource(where) {
    constexpr int kGzipFormat = 15 + 16;
    EUREKA_CHECK(::inflateInit2(&stream_, kGzipFormat) == Z_OK, "zlib does not start");
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    left_ = bytes.size();
  }
  ~GzipBytes() override { ::inflateEnd(&stream_); }
  GzipBytes(const GzipBytes&) = delete;
  GzipBytes& operator=(const GzipBytes&) = delete;

  std::size_t read(char* into, std::size_t count) override {
    std::size_t got = 0;
    while (got < count && !ended_) {
      constexpr std::size_t kPiece = std::size_t{1} << 30;  // zlib counts in 32 bits
      const auto room = static_cast<uInt>(std::min(count - got, kPiece));
      const auto given = static_cast<uInt>(std::min(left_, kPiece));
      stream_.next_out = reinterpret_cast<Bytef*>(into + got);
      stream_.avail_out = room;
      stream_.avail_in = given;
      const int status = ::inflate(&stream_, Z_NO_FLUSH);
      left_ -= given - stream_.avail_in;
      got += room - stream_.avail_out;
      if (status == Z_STREAM_END) {
        next_member();
      } else if (status != Z_OK || (stream_.avail_out == room && left_ == 0)) {
        throw Error(ErrorKind::input,
                    fmt::format("gzip data {} after {} bytes", left_ == 0 ? "end" : "are damaged", position() + got),
                    where(), kCopyAgain);
      }
    }
    return got;
  }

 private:
  // gzip allows several streams one after the other.
  void next_member() {
    ended_ = left_ == 0;
    if (!ended_) ::inflateReset(&stream_);
  }

  z_stream stream_{};
  std::size_t left_ = 0;
  bool ended_ = false;
};

}  // namespace

std::string ByteSource::take(std::uint64_t count) {
  // In pieces, so that a header that promises more than there is costs no more memory than there is.
  constexpr std::uint64_t kPiece = std::uint64_t{4} << 20;
  std::string bytes;
  while (bytes.size() < count) {
    const std::size_t before = bytes.size();
    const auto wanted = static_cast<std::size_t>(std::min(kPiece, count - before));
    bytes.resize(before + wanted);
    const std::size_t got = read(bytes.data() + before, wanted);
    if (got < wanted)
      throw Error(
          ErrorKind::input,
          fmt::format("ends after {} bytes, {} more are missing", position_ + before + got, count - before - got),
          where_, kCopyAgain);
  }
  position_ += count;
  return bytes;
}

void ByteSource::skip(std::uint64_t count) {
  constexpr std::uint64_t kPiece = std::uint64_t{1} << 16;
  while (count > 0) {
    const std::uint64_t piece = std::min(kPiece, count);
    take(piece);
    count -= piece;
  }
}

void ByteSource::expect_end() {
  char more = 0;
  if (read(&more, 1) != 0)
    throw Error(ErrorKind::input, fmt::format("goes on after the {} bytes its header promises", position_), where_,
                "this is not the file it claims to be; get it again");
}

std::unique_ptr<ByteSource> open_bytes(std::string_view bytes, const std::string& where) {
  if (bytes.starts_with("\x1f\x8b")) return std::make_unique<GzipBytes>(bytes, where);
  return std::make_unique<PlainBytes>(bytes, where);
}

}  // namespace eureka
