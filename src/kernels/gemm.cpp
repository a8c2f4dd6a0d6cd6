#include "kernels/gemm.h"

#include <chrono>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/gemm.cpp"
#include "hwy/foreach_target.h"
// After foreach_target.
#include "kernels/gemm-inl.h"
#include "kernels/transpose-inl.h"

HWY_BEFORE_NAMESPACE();
namespace eureka::HWY_NAMESPACE {
namespace {

void multiply_now(ProductSize size, MatrixA a, MatrixB b, MatrixC c) {
  product<Left::rows>(size, a, b, Store{c.data, c.stride});
}

void multiply_accumulate_now(ProductSize size, MatrixA a, MatrixB b, MatrixC c) {
  product<Left::rows>(size, a, b, Accumulate{c.data, c.stride});
}

void multiply_add_bias_now(ProductSize size, MatrixA a, MatrixB b, const float* bias, MatrixC c) {
  product<Left::rows>(size, a, b, AddBias{c.data, c.stride, bias});
}

void multiply_add_branch_now(ProductSize size, MatrixA a, MatrixB b, const float* bias, MatrixA residual, MatrixA noise,
                             MatrixC c) {
  const AddBiasAndResidual finish{c.data, c.stride, bias, residual.data, residual.stride};
  if (noise.data == nullptr)
    product<Left::rows>(size, a, b, finish);
  else
    product<Left::rows>(size, a, b, AddNoisyBranch{finish, noise.data, noise.stride});
}

void multiply_gelu_now(ProductSize size, MatrixA a, MatrixB b, const float* bias, MatrixC c, float* slope) {
  product<Left::rows>(size, a, b, BiasGelu{c.data, slope, c.stride, bias});
}

void multiply_relu_now(ProductSize size, MatrixA a, MatrixB b, const float* bias, MatrixC c, float* slope) {
  product<Left::rows>(size, a, b, BiasRelu{c.data, slope, c.stride, bias});
}

void multiply_by_slope_now(ProductSize size, MatrixA a, MatrixB b, const float* slope, MatrixC c) {
  product<Left::rows>(size, a, b, TimesSlope{c.data, slope, c.stride});
}

void multiply_transposed_accumulate_now(ProductSize size, MatrixA a, MatrixB b, MatrixC c) {
  const Accumulate finish{c.data, c.stride};
  if (size.columns >= kColumnsWorthPacking && size.depth <= kPackedDepth)
    product<Left::packed>(size, a, b, finish);
  else
    product<Left::transposed>(size, a, b, finish);
}

void multiply_rows_now(std::size_t a_rows, std::size_t b_rows, std::size_t depth, MatrixA a, MatrixA b, MatrixC c) {
  row_products(a_rows, b_rows, depth, a, b, c.data, c.stride);
}

void pack_transposed_now(const float* w, std::size_t rows, std::size_t columns, std::size_t stride, float* packed) {
  for (std::size_t first = 0; first < rows; first += kPanel, packed += columns * kPanel)
    transpose({w + first * stride, stride}, HWY_MIN(rows - first, kPanel), columns, packed, kPanel, kPanel);
}

// Twelve independent chains, as in a tile: enough to fill two multipliers of latency four.
double multiply_add_flops(std::size_t rounds) {
  const FloatTag d;
  constexpr std::size_t kChains = 12;
  FloatVec sum[kChains];
  for (std::size_t i = 0; i < kChains; ++i) sum[i] = hn::Set(d, static_cast<float>(i));
  const FloatVec x = hn::Set(d, 0.999F), y = hn::Set(d, 1e-3F);
  for (std::size_t round = 0; round < rounds; ++round)
    for (std::size_t i = 0; i < kChains; ++i) sum[i] = hn::MulAdd(sum[i], x, y);
  float total = 0;
  for (std::size_t i = 0; i < kChains; ++i) total += hn::GetLane(sum[i]);
  volatile float sink = total;
  (void)sink;
  return 2.0 * static_cast<double>(rounds * kChains * kLanes);
}

}  // namespace
}  // namespace eureka::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace eureka {

HWY_EXPORT(multiply_now);
HWY_EXPORT(multiply_accumulate_now);
HWY_EXPORT(multiply_add_bias_now);
HWY_EXPORT(multiply_add_branch_now);
HWY_EXPORT(multiply_gelu_now);
HWY_EXPORT(multiply_relu_now);
HWY_EXPORT(multiply_by_slope_now);
HWY_EXPORT(multiply_transposed_accumulate_now);
HWY_EXPORT(multiply_rows_now);
HWY_EXPORT(pack_transposed_now);
HWY_EXPORT(multiply_add_flops);

void pack_transposed(const float* w, std::size_t rows, std::size_t columns, std::size_t stride, float* packed) {
  HWY_DYNAMIC_DISPATCH(pack_transposed_now)(w, rows, columns, stride, packed);
}

void pack(const float* w, std::size_t rows, std::size_t columns, std::size_t stride, std::size_t first,
          std::size_t depth, float* packed) {
  packed += first * kPanel;
  for (std::size_t c = 0; c < columns; c += kPanel, packed += depth * kPanel) {
    const std::size_t count = columns - c < kPanel ? columns - c : kPanel;
    for (std::size_t row = 0; row < rows; ++row) {
      float* to = packed + row * kPanel;
      if (count == kPanel) {
        std::memcpy(to, w + row * stride + c, kPanel * sizeof(float));
      } else {
        std::memcpy(to, w + row * stride + c, count * sizeof(float));
        std::memset(to + count, 0, (kPanel - count) * sizeof(float));
      }
    }
  }
}

void multiply(ProductSize size, MatrixA a, MatrixB b, MatrixC c) { HWY_DYNAMIC_DISPATCH(multiply_now)(size, a, b, c); }

void multiply_accumulate(ProductSize size, MatrixA a, MatrixB b, MatrixC c) {
  HWY_DYNAMIC_DISPATCH(multiply_accumulate_now)(size, a, b, c);
}

void multiply_add_bias(ProductSize size, MatrixA a, MatrixB b, const float* bias, MatrixC c) {
  HWY_DYNAMIC_DISPATCH(multiply_add_bias_now)(size, a, b, bias, c);
}

void multiply_add_branch(ProductSize size, MatrixA a, MatrixB b, const float* bias, MatrixA residual, MatrixA noise,
                         MatrixC c) {
  HWY_DYNAMIC_DISPATCH(multiply_add_branch_now)(size, a, b, bias, residual, noise, c);
}

void multiply_gelu(ProductSize size, MatrixA a, MatrixB b, const float* bias, MatrixC c, float* slope) {
  HWY_DYNAMIC_DISPATCH(multiply_gelu_now)(size, a, b, bias, c, slope);
}

void multiply_relu(ProductSize size, MatrixA a, MatrixB b, const float* bias, MatrixC c, float* slope) {
  HWY_DYNAMIC_DISPATCH(multiply_relu_now)(size, a, b, bias, c, slope);
}

void multiply_by_slope(ProductSize size, MatrixA a, MatrixB b, const float* slope, MatrixC c) {
  HWY_DYNAMIC_DISPATCH(multiply_by_slope_now)(size, a, b, slope, c);
}

void multiply_transposed_accumulate(ProductSize size, MatrixA a, MatrixB b, MatrixC c) {
  HWY_DYNAMIC_DISPATCH(multiply_transposed_accumulate_now)(size, a, b, c);
}

void multiply_rows(std::size_t a_rows, std::size_t b_rows, std::size_t depth, MatrixA a, MatrixA b, MatrixC c) {
  HWY_DYNAMIC_DISPATCH(multiply_rows_now)(a_rows, b_rows, depth, a, b, c);
}

double measured_peak_flops() {
  double best = 0;
  std::chrono::duration<double> spent{0};
  // Twenty take a tenth of a second, but with sanitizers longer than what the peak is there to be compared with.
  for (int trial = 0; trial < 20 && spent.count() < 1; ++trial) {
    const auto start = std::chrono::steady_clock::now();
    const double flops = HWY_DYNAMIC_DISPATCH(multiply_add_flops)(500'000);
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    spent += seconds;
    if (flops / seconds.count() > best) best = flops / seconds.count();
  }
  return best;
}

}  // namespace eureka
#endif
