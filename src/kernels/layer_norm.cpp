#include "kernels/layer_norm.h"

#include <type_traits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/layer_norm.cpp"
#include "hwy/foreach_target.h"
// After foreach_target.
#include "kernels/vector8-inl.h"

HWY_BEFORE_NAMESPACE();
namespace eureka::HWY_NAMESPACE {
namespace {

// So many rows side by side: one alone would wait for its own sums most of the time.
constexpr std::size_t kRowsAtOnce = 4;

template <std::size_t kRows>
HWY_INLINE void forward_rows(NormShape shape, const float* x, std::size_t x_stride, const float* gain,
                             const float* bias, float* y, std::size_t y_stride, float* mean, float* inverse_deviation) {
  const Tag8 d;
  const std::size_t whole = shape.width / kLanes8 * kLanes8;
  const Mask8 rest = v8::FirstN(d, shape.width - whole);
  const float inverse_width = 1.0F / static_cast<float>(shape.width);
  Vec8 sum[kRows], square[kRows], centre[kRows], scale[kRows];
  for (std::size_t r = 0; r < kRows; ++r) sum[r] = square[r] = v8::Zero(d);
  for (std::size_t i = 0; i < shape.width; i += kLanes8)
    for (std::size_t r = 0; r < kRows; ++r) sum[r] = v8::Add(sum[r], v8::LoadU(d, x + r * x_stride + i));
  for (std::size_t r = 0; r < kRows; ++r) centre[r] = v8::Mul(v8::SumOfLanes(d, sum[r]), v8::Set(d, inverse_width));
  for (std::size_t i = 0; i < whole; i += kLanes8)
    for (std::size_t r = 0; r < kRows; ++r) {
      const Vec8 away = v8::Sub(v8::LoadU(d, x + r * x_stride + i), centre[r]);
      square[r] = v8::MulAdd(away, away, square[r]);
    }
  if (whole < shape.width)
    for (std::size_t r = 0; r < kRows; ++r) {
      const Vec8 away = v8::IfThenElseZero(rest, v8::Sub(v8::LoadU(d, x + r * x_stride + whole), centre[r]));
      square[r] = v8::MulAdd(away, away, square[r]);
    }
  for (std::size_t r = 0; r < kRows; ++r) {
    const Vec8 variance =
        v8::MulAdd(v8::SumOfLanes(d, square[r]), v8::Set(d, inverse_width), v8::Set(d, shape.epsilon));
    scale[r] = v8::Div(v8::Set(d, 1.0F), v8::Sqrt(variance));
    mean[r] = v8::GetLane(centre[r]);
    inverse_deviation[r] = v8::GetLane(scale[r]);
  }
  for (std::size_t i = 0; i < shape.width; i += kLanes8) {
    const Vec8 g = v8::LoadU(d, gain + i), b = v8::LoadU(d, bias + i);
    for (std::size_t r = 0; r < kRows; ++r) {
      const Vec8 unit = v8::Mul(v8::Sub(v8::LoadU(d, x + r * x_stride + i), centre[r]), scale[r]);
      v8::StoreU(v8::MulAdd(unit, g, b), d, y + r * y_stride + i);
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
  const Tag8 d;
  const float inverse_width = 1.0F / static_cast<float>(shape.width);
  for (std::size_t row = 0; row < shape.rows; ++row) {
    const float* xr = x + row * x_stride;
    const float* dyr = dy + row * dy_stride;
    const Vec8 c = v8::Set(d, mean[row]), s = v8::Set(d, inverse_deviation[row]);
    // Padding needs no mask here: dy and gain are zero there.
    Vec8 sum = v8::Zero(d), along = v8::Zero(d);
    for (std::size_t i = 0; i < shape.width; i += kLanes8) {
      const Vec8 unit = v8::Mul(v8::Sub(v8::LoadU(d, xr + i), c), s);
      const Vec8 g = v8::LoadU(d, dyr + i);
      v8::StoreU(v8::MulAdd(g, unit, v8::LoadU(d, d_gain + i)), d, d_gain + i);
      v8::StoreU(v8::Add(g, v8::LoadU(d, d_bias + i)), d, d_bias + i);
      const Vec8 inner = v8::Mul(g, v8::LoadU(d, gain + i));
      sum = v8::Add(sum, inner);
      along = v8::MulAdd(inner, unit, along);
    }
    const Vec8 mean_inner = v8::Set(d, sum_of(sum) * inverse_width);
    const Vec8 mean_along = v8::Set(d, sum_of(along) * inverse_width);
    float* dxr = dx + row * dx_stride;
    for (std::size_t i = 0; i < shape.width; i += kLanes8) {
      const Vec8 unit = v8::Mul(v8::Sub(v8::LoadU(d, xr + i), c), s);
      const Vec8 inner = v8::Mul(v8::LoadU(d, dyr + i), v8::LoadU(d, gain + i));
      Vec8 g = v8::Mul(v8::Sub(v8::NegMulAdd(unit, mean_along, inner), mean_inner), s);
      if (i + kLanes8 > shape.width) g = v8::IfThenElseZero(v8::FirstN(d, shape.width - i), g);
      if (residual != nullptr) g = v8::Add(g, v8::LoadU(d, residual + row * dx_stride + i));
      v8::StoreU(g, d, dxr + i);
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
