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

template <bool kCentered, std::size_t kRows>
HWY_INLINE void forward_rows(NormShape shape, const float* x, std::size_t x_stride, const float* gain,
                             const float* bias, float* y, std::size_t y_stride, float* mean, float* inverse_deviation) {
  const WideTag d;
  const Tag8 d8;
  const std::size_t whole = shape.width / kWideLanes * kWideLanes;
  const WideMask rest = wide::FirstN(d, shape.width - whole);
  const float inverse_width = 1.0F / static_cast<float>(shape.width);
  Vec8 sum[kRows], square[kRows];
  WideVec center[kRows], scale[kRows];
  for (std::size_t r = 0; r < kRows; ++r) sum[r] = square[r] = v8::Zero(d8);
  if constexpr (kCentered)
    for (std::size_t i = 0; i < shape.width; i += kLanes8)
      for (std::size_t r = 0; r < kRows; ++r) sum[r] = v8::Add(sum[r], v8::LoadU(d8, x + r * x_stride + i));
  for (std::size_t r = 0; r < kRows; ++r) center[r] = wide::Mul(sum_in_all_lanes(sum[r]), wide::Set(d, inverse_width));
  for (std::size_t i = 0; i < whole; i += kWideLanes)
    for (std::size_t r = 0; r < kRows; ++r) {
      const WideVec away = wide::Sub(wide::LoadU(d, x + r * x_stride + i), center[r]);
      square[r] = multiply_add_eights(away, away, square[r]);
    }
  if (whole < shape.width)
    for (std::size_t r = 0; r < kRows; ++r) {
      const WideVec away = wide::IfThenElseZero(rest, wide::Sub(wide::LoadU(d, x + r * x_stride + whole), center[r]));
      square[r] = multiply_add_eights(away, away, square[r]);
    }
  for (std::size_t r = 0; r < kRows; ++r) {
    const WideVec variance =
        wide::MulAdd(sum_in_all_lanes(square[r]), wide::Set(d, inverse_width), wide::Set(d, shape.epsilon));
    scale[r] = wide::Div(wide::Set(d, 1.0F), wide::Sqrt(variance));
    mean[r] = wide::GetLane(center[r]);
    inverse_deviation[r] = wide::GetLane(scale[r]);
  }
  for (std::size_t i = 0; i < shape.width; i += kWideLanes) {
    const WideVec g = wide::LoadU(d, gain + i), b = kCentered ? wide::LoadU(d, bias + i) : wide::Zero(d);
    for (std::size_t r = 0; r < kRows; ++r) {
      const WideVec unit = wide::Mul(wide::Sub(wide::LoadU(d, x + r * x_stride + i), center[r]), scale[r]);
      wide::StoreU(wide::MulAdd(unit, g, b), d, y + r * y_stride + i);
    }
  }
}

template <bool kCentered>
void forward_as(NormShape shape, const float* x, std::size_t x_stride, const float* gain, const float* bias, float* y,
                std::size_t y_stride, float* mean, float* inverse_deviation) {
  const auto rows = [&](std::size_t row, auto count) HWY_ATTR {
    forward_rows<kCentered, decltype(count)::value>(shape, x + row * x_stride, x_stride, gain, bias, y + row * y_stride,
                                                    y_stride, mean + row, inverse_deviation + row);
  };
  std::size_t row = 0;
  for (; row + kRowsAtOnce <= shape.rows; row += kRowsAtOnce)
    rows(row, std::integral_constant<std::size_t, kRowsAtOnce>());
  for (; row < shape.rows; ++row) rows(row, std::integral_constant<std::size_t, 1>());
}

void forward(NormShape shape, const float* x, std::size_t x_stride, const float* gain, const float* bias, float* y,
             std::size_t y_stride, float* mean, float* inverse_deviation) {
  const auto norm = shape.centered ? forward_as<true> : forward_as<false>;
  norm(shape, x, x_stride, gain, bias, y, y_stride, mean, inverse_deviation);
}

template <bool kCentered>
void backward_as(NormShape shape, const float* x, std::size_t x_stride, const float* gain, const float* mean,
                 const float* inverse_deviation, const float* dy, std::size_t dy_stride, const float* residual,
                 float* dx, std::size_t dx_stride, float* d_gain, float* d_bias) {
  const WideTag d;
  const float inverse_width = 1.0F / static_cast<float>(shape.width);
  for (std::size_t row = 0; row < shape.rows; ++row) {
    const float* xr = x + row * x_stride;
    const float* dyr = dy + row * dy_stride;
    const WideVec c = wide::Set(d, mean[row]), s = wide::Set(d, inverse_deviation[row]);
    // Padding needs no mask here: dy and gain are zero there.
    Vec8 sum = v8::Zero(Tag8()), along = v8::Zero(Tag8());
    for (std::size_t i = 0; i < shape.width; i += kWideLanes) {
      const WideVec unit = wide::Mul(wide::Sub(wide::LoadU(d, xr + i), c), s);
      const WideVec g = wide::LoadU(d, dyr + i);
      wide::StoreU(wide::MulAdd(g, unit, wide::LoadU(d, d_gain + i)), d, d_gain + i);
      if constexpr (kCentered) wide::StoreU(wide::Add(g, wide::LoadU(d, d_bias + i)), d, d_bias + i);
      const WideVec inner = wide::Mul(g, wide::LoadU(d, gain + i));
      sum = add_eights(sum, inner);
      along = multiply_add_eights(inner, unit, along);
    }
    const WideVec mean_inner = wide::Set(d, kCentered ? sum_of(sum) * inverse_width : 0.0F);
    const WideVec mean_along = wide::Set(d, sum_of(along) * inverse_width);
    float* dxr = dx + row * dx_stride;
    for (std::size_t i = 0; i < shape.width; i += kWideLanes) {
      const WideVec unit = wide::Mul(wide::Sub(wide::LoadU(d, xr + i), c), s);
      const WideVec inner = wide::Mul(wide::LoadU(d, dyr + i), wide::LoadU(d, gain + i));
      WideVec g = wide::Mul(wide::Sub(wide::NegMulAdd(unit, mean_along, inner), mean_inner), s);
      if (i + kWideLanes > shape.width) g = wide::IfThenElseZero(wide::FirstN(d, shape.width - i), g);
      if (residual != nullptr) g = wide::Add(g, wide::LoadU(d, residual + row * dx_stride + i));
      wide::StoreU(g, d, dxr + i);
    }
  }
}

void backward(NormShape shape, const float* x, std::size_t x_stride, const float* gain, const float* mean,
              const float* inverse_deviation, const float* dy, std::size_t dy_stride, const float* residual, float* dx,
              std::size_t dx_stride, float* d_gain, float* d_bias) {
  const auto norm = shape.centered ? backward_as<true> : backward_as<false>;
  norm(shape, x, x_stride, gain, mean, inverse_deviation, dy, dy_stride, residual, dx, dx_stride, d_gain, d_bias);
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
