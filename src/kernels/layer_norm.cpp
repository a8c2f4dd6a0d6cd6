#include "kernels/layer_norm.h"

#include <type_traits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/layer_norm.cpp"
#include "hwy/foreach_target.h"
// After foreach_target.
#include "kernels/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace eureka::HWY_NAMESPACE {
namespace {

// So many rows side by side: one alone would wait for its own sums most of the time.
constexpr std::size_t kRowsAtOnce = 4;

template <std::size_t kRows>
HWY_INLINE void forward_rows(NormShape shape, const float* x, std::size_t x_stride, const float* gain,
                             const float* bias, float* y, std::size_t y_stride, float* mean, float* inverse_deviation) {
  const FloatTag d;
  const std::size_t whole = shape.width / kLanes * kLanes;
  const FloatMask rest = hn::FirstN(d, shape.width - whole);
  const float inverse_width = 1.0F / static_cast<float>(shape.width);
  FloatVec sum[kRows], square[kRows], centre[kRows], scale[kRows];
  for (std::size_t r = 0; r < kRows; ++r) sum[r] = square[r] = hn::Zero(d);
  for (std::size_t i = 0; i < shape.width; i += kLanes)
    for (std::size_t r = 0; r < kRows; ++r) sum[r] = hn::Add(sum[r], hn::LoadU(d, x + r * x_stride + i));
  for (std::size_t r = 0; r < kRows; ++r) centre[r] = hn::Mul(hn::SumOfLanes(d, sum[r]), hn::Set(d, inverse_width));
  for (std::size_t i = 0; i < whole; i += kLanes)
    for (std::size_t r = 0; r < kRows; ++r) {
      const FloatVec away = hn::Sub(hn::LoadU(d, x + r * x_stride + i), centre[r]);
      square[r] = hn::MulAdd(away, away, square[r]);
    }
  if (whole < shape.width)
    for (std::size_t r = 0; r < kRows; ++r) {
      const FloatVec away = hn::IfThenElseZero(rest, hn::Sub(hn::LoadU(d, x + r * x_stride + whole), centre[r]));
      square[r] = hn::MulAdd(away, away, square[r]);
    }
  for (std::size_t r = 0; r < kRows; ++r) {
    const FloatVec variance =
        hn::MulAdd(hn::SumOfLanes(d, square[r]), hn::Set(d, inverse_width), hn::Set(d, shape.epsilon));
    scale[r] = hn::Div(hn::Set(d, 1.0F), hn::Sqrt(variance));
    mean[r] = hn::GetLane(centre[r]);
    inverse_deviation[r] = hn::GetLane(scale[r]);
  }
  for (std::size_t i = 0; i < shape.width; i += kLanes) {
    const FloatVec g = hn::LoadU(d, gain + i), b = hn::LoadU(d, bias + i);
    for (std::size_t r = 0; r < kRows; ++r) {
      const FloatVec unit = hn::Mul(hn::Sub(hn::LoadU(d, x + r * x_stride + i), centre[r]), scale[r]);
      hn::StoreU(hn::MulAdd(unit, g, b), d, y + r * y_stride + i);
    }
  }
}

void forward(NormShape shape, const float* x, std::size_t x_stride, const float* gain, const float* bias, float* y,
             std::size_t y_stride, float* mean, float* inverse_deviation) {
  const auto rows = [&](std::size_t row, auto count) HWY_ATTR {
    forward_rows<decltype(count)::value>(shape, x + row * x_stride, x_stride, gain, bias, y + row * y_stride, y_stride,
                                         mean + row, inverse_deviation + row);
  };
  std::size_t row = 0;
  for (; row + kRowsAtOnce <= shape.rows; row += kRowsAtOnce)
    rows(row, std::integral_constant<std::size_t, kRowsAtOnce>());
  for (; row < shape.rows; ++row) rows(row, std::integral_constant<std::size_t, 1>());
}

void backward(NormShape shape, const float* x, std::size_t x_stride, const float* gain, const float* mean,
              const float* inverse_deviation, const float* dy, std::size_t dy_stride, const float* residual, float* dx,
              std::size_t dx_stride, float* d_gain, float* d_bias) {
  const FloatTag d;
  const float inverse_width = 1.0F / static_cast<float>(shape.width);
  for (std::size_t row = 0; row < shape.rows; ++row) {
    const float* xr = x + row * x_stride;
    const float* dyr = dy + row * dy_stride;
    const FloatVec c = hn::Set(d, mean[row]), s = hn::Set(d, inverse_deviation[row]);
    // Padding needs no mask here: dy and gain are zero there.
    FloatVec sum = hn::Zero(d), along = hn::Zero(d);
    for (std::size_t i = 0; i < shape.width; i += kLanes) {
      const FloatVec unit = hn::Mul(hn::Sub(hn::LoadU(d, xr + i), c), s);
      const FloatVec g = hn::LoadU(d, dyr + i);
      hn::StoreU(hn::MulAdd(g, unit, hn::LoadU(d, d_gain + i)), d, d_gain + i);
      hn::StoreU(hn::Add(g, hn::LoadU(d, d_bias + i)), d, d_bias + i);
      const FloatVec inner = hn::Mul(g, hn::LoadU(d, gain + i));
      sum = hn::Add(sum, inner);
      along = hn::MulAdd(inner, unit, along);
    }
    const FloatVec mean_inner = hn::Set(d, sum_of(sum) * inverse_width);
    const FloatVec mean_along = hn::Set(d, sum_of(along) * inverse_width);
    float* dxr = dx + row * dx_stride;
    for (std::size_t i = 0; i < shape.width; i += kLanes) {
      const FloatVec unit = hn::Mul(hn::Sub(hn::LoadU(d, xr + i), c), s);
      const FloatVec inner = hn::Mul(hn::LoadU(d, dyr + i), hn::LoadU(d, gain + i));
      FloatVec g = hn::Mul(hn::Sub(hn::NegMulAdd(unit, mean_along, inner), mean_inner), s);
      if (i + kLanes > shape.width) g = hn::IfThenElseZero(hn::FirstN(d, shape.width - i), g);
      if (residual != nullptr) g = hn::Add(g, hn::LoadU(d, residual + row * dx_stride + i));
      hn::StoreU(g, d, dxr + i);
    }
  }
}

}  // namespace
}  // namespace eureka::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace eureka {

HWY_EXPORT(forward);
HWY_EXPORT(backward);

void layer_norm(NormShape shape, const float* x, std::size_t x_stride, const float* gain, const float* bias, float* y,
                std::size_t y_stride, float* mean, float* inverse_deviation) {
  HWY_DYNAMIC_DISPATCH(forward)(shape, x, x_stride, gain, bias, y, y_stride, mean, inverse_deviation);
}

void layer_norm_backward(NormShape shape, const float* x, std::size_t x_stride, const float* gain, const float* mean,
                         const float* inverse_deviation, const float* dy, std::size_t dy_stride, const float* residual,
                         float* dx, std::size_t dx_stride, float* d_gain, float* d_bias) {
  HWY_DYNAMIC_DISPATCH(backward)
  (shape, x, x_stride, gain, mean, inverse_deviation, dy, dy_stride, residual, dx, dx_stride, d_gain, d_bias);
}

}  // namespace eureka
#endif
