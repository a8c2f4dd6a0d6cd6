// Memory for kernels: aligned to cache lines, zero at first, with a little room to read behind the end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>

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

class Buffer {
 public:
  Buffer() = default;
  explicit Buffer(std::size_t floats) : size_(floats) {
    const std::size_t bytes = round_up(floats + kPanel) * sizeof(float);
    data_.reset(static_cast<float*>(std::aligned_alloc(kPanel * sizeof(float), bytes)));
    if (!data_) throw std::bad_alloc();
    std::memset(data_.get(), 0, bytes);
  }

  float* data() { return data_.get(); }
  const float* data() const { return data_.get(); }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }

 private:
  struct Free {
    void operator()(float* memory) const { std::free(memory); }
  };
  std::unique_ptr<float, Free> data_;
  std::size_t size_ = 0;
};

}  // namespace eureka
