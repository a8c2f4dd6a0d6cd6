// Transposed copies. Included once per instruction set.
#if defined(EUREKA_KERNELS_TRANSPOSE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef EUREKA_KERNELS_TRANSPOSE_INL_H_
#undef EUREKA_KERNELS_TRANSPOSE_INL_H_
#else
#define EUREKA_KERNELS_TRANSPOSE_INL_H_
#endif

#include "kernels/gemm.h"
#include "kernels/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace eureka::HWY_NAMESPACE {

// to (columns x rows) = from^T; zeros behind the rows up to the next multiple of `unit`, itself a multiple of four
// or 1.
HWY_INLINE void transpose(MatrixA from, std::size_t rows, std::size_t columns, float* HWY_RESTRICT to,
                          std::size_t to_stride, std::size_t unit) {
  const std::size_t padded = round_up(rows, unit);
  std::size_t done = 0;
#if HWY_TARGET != HWY_SCALAR
  // Squares of four by four in registers.
  const hn::Full128<float> d;
  const hn::Full128<double> d2;
  done = columns / 4 * 4;
  const auto squares = [&](std::size_t row, std::size_t given) HWY_ATTR {
    const float* r = from.data + row * from.stride;
    const auto load = [&](std::size_t i, std::size_t c)
                          HWY_ATTR { return i < given ? hn::LoadU(d, r + i * from.stride + c) : hn::Zero(d); };
    for (std::size_t c = 0; c < done; c += 4) {
      const auto r0 = load(0, c), r1 = load(1, c), r2 = load(2, c), r3 = load(3, c);
      const auto low01 = hn::BitCast(d2, hn::InterleaveLower(d, r0, r1));
      const auto low23 = hn::BitCast(d2, hn::InterleaveLower(d, r2, r3));
      const auto high01 = hn::BitCast(d2, hn::InterleaveUpper(d, r0, r1));
      const auto high23 = hn::BitCast(d2, hn::InterleaveUpper(d, r2, r3));
      float* t = to + c * to_stride + row;
      hn::StoreU(hn::BitCast(d, hn::InterleaveLower(d2, low01, low23)), d, t);
      hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(d2, low01, low23)), d, t + to_stride);
      hn::StoreU(hn::BitCast(d, hn::InterleaveLower(d2, high01, high23)), d, t + 2 * to_stride);
      hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(d2, high01, high23)), d, t + 3 * to_stride);
    }
  };
  std::size_t row = 0;
  for (; row + 4 <= rows; row += 4) squares(row, 4);
  for (; row < padded; row += 4) squares(row, row < rows ? rows - row : 0);
#endif
  for (std::size_t c = done; c < columns; ++c)
    for (std::size_t i = 0; i < padded; ++i) to[c * to_stride + i] = i < rows ? from.data[i * from.stride + c] : 0.0F;
}

}  // namespace eureka::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
