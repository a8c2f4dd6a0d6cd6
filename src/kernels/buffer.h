// Memory for kernels: aligned to cache lines, zero at first, with a little room to read behind the end.
#pragma once

#include <cstddef>
#include <memory>

namespace eureka {

// Columns of packed matrices and paddings come in units of one cache line of floats.
inline constexpr std::size_t kPanel = 16;

constexpr std::size_t round_up(std::size_t n, std::size_t unit = kPanel) { return (n + unit - 1) / unit * unit; }

// Distance between the rows of an activation matrix. Wide rows take an odd number of cache lines, so that a column of
// the matrix does not fall into a few sets of the first-level cache.
constexpr std::size_t row_stride(std::size_t columns) {
  const std::size_t plain = round_up(columns);
  return plain >= 128 && plain / kPanel % 2 == 0 ? plain + kPanel : plain;
}

// Small buffers made one after the other share huge pages: in pages of 4 KB, a walk down the columns of an activation
// matrix misses the address cache on every few rows.
class Buffer {
 public:
  Buffer() = default;
  explicit Buffer(std::size_t floats);

  // What one of so many floats takes up, and what all buffers of the program do now.
  static std::size_t bytes(std::size_t floats);
  static std::size_t bytes_alive();

  float* data() { return data_.get(); }
  const float* data() const { return data_.get(); }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }

 private:
  struct Release {
    std::shared_ptr<void> pages;
    std::size_t bytes;
    void operator()(float*) const;
  };
  std::unique_ptr<float, Release> data_;
  std::size_t size_ = 0;
};

}  // namespace eureka
