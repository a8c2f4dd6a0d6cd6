#include "kernels/layer_norm.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/layer_norm.cpp"
#include "hwy/foreach_target.h"
// After foreach_target.
#include "kernels/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace eureka::HWY_NAMESPACE {
namespace {

void forward(NormShape shape, const float* x, std::size_t x_stride, const float* gain, const float* bias, float* y,
             std::size_t y_stride, float* mean, float* inverse_deviation) {
  const FloatTag d;
  const std::size_t whole = shape.width / kLanes * kLanes;
  const FloatMask rest = hn::FirstN(d, shape.width - whole);
  const float inverse_width = 1.0F / static_cast<float>(shape.width);
  for (std::size_t row = 0; row < shape.rows; ++row, x += x_stride, y += y_stride) {
    FloatVec sum = hn::Zero(d);
    for (std::size_t i = 0; i < shape.width; i += kLanes) sum = hn::Add(sum, hn::LoadU(d, x + i));
    const float centre = sum_of(sum) * inverse_width;
    const FloatVec c = hn::Set(d, centre);
    FloatVec square = hn::Zero(d);
    for (std::size_t i = 0; i < whole; i += kLanes) {
      const FloatVec away = hn::Sub(hn::LoadU(d, x + i), c);
      square = hn::MulAdd(away, away, square);
    }
    if (whole < shape.width) {
      const FloatVec away = hn::IfThenElseZero(rest, hn::Sub(hn::LoadU(d, x + whole), c));
      square = hn::MulAdd(away, away, square);
    }
    const float scale = 1.0F / __builtin_sqrtf(sum_of(square) * inverse_width + shape.epsilon);
    const FloatVec s = hn::Set(d, scale);
    for (std::size_t i = 0; i < shape.width; i += kLanes) {
      const FloatVec unit = hn::Mul(hn::Sub(hn::LoadU(d, x + i), c), s);
      hn::StoreU(hn::MulAdd(unit, hn::LoadU(d, gain + i), hn::LoadU(d, bias + i)), d, y + i);
    }
    mean[row] = centre;
    inverse_deviation[row] = scale;
  }
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
