#include "kernels/batch_norm.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/batch_norm.cpp"
#include "hwy/foreach_target.h"
// After foreach_target.
#include "kernels/gemm.h"
#include "kernels/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace eureka::HWY_NAMESPACE {
namespace {

using DoubleTag = hn::ScalableTag<double>;
using DoubleVec = hn::Vec<DoubleTag>;
using HalfTag = hn::Rebind<float, DoubleTag>;
constexpr std::size_t kDoubles = hn::MaxLanes(DoubleTag());
// A cache line of channels at a time: independent chains enough.
constexpr std::size_t kVectors = kPanel / kDoubles;

HWY_INLINE DoubleVec as_double(hn::Vec<HalfTag> x) { return hn::PromoteTo(DoubleTag(), x); }

HWY_INLINE void add_to_doubles(DoubleVec x, double* to) {
  hn::StoreU(hn::Add(x, hn::LoadU(DoubleTag(), to)), DoubleTag(), to);
}

void moments(RowsOfChannels shape, const float* x, double* sums, double* squares) {
  const HalfTag h;
  for (std::size_t c = 0; c < shape.channels; c += kPanel) {
    DoubleVec sum[kVectors], square[kVectors];
    for (std::size_t i = 0; i < kVectors; ++i) sum[i] = square[i] = hn::Zero(DoubleTag());
    const float* row = x + c;
    for (std::size_t r = 0; r < shape.rows; ++r, row += shape.stride)
      for (std::size_t i = 0; i < kVectors; ++i) {
        const DoubleVec value = as_double(hn::LoadU(h, row + i * kDoubles));
        sum[i] = hn::Add(sum[i], value);
        square[i] = hn::MulAdd(value, value, square[i]);
      }
    for (std::size_t i = 0; i < kVectors; ++i) {
      add_to_doubles(sum[i], sums + c + i * kDoubles);
      add_to_doubles(square[i], squares + c + i * kDoubles);
    }
  }
}

template <bool kResidual, bool kRectified>
HWY_INLINE void shifted(RowsOfChannels shape, const float* x, const float* scale, const float* shift,
                        const float* residual, float* y) {
  const FloatTag d;
  for (std::size_t r = 0; r < shape.rows; ++r)
    for (std::size_t c = 0; c < shape.channels; c += kLanes) {
      const std::size_t at = r * shape.stride + c;
      FloatVec value = hn::MulAdd(hn::LoadU(d, x + at), hn::LoadU(d, scale + c), hn::LoadU(d, shift + c));
      if (kResidual) value = hn::Add(value, hn::LoadU(d, residual + at));
      // What is not a number stays.
      if (kRectified) value = hn::IfThenZeroElse(hn::Lt(value, hn::Zero(d)), value);
      hn::StoreU(value, d, y + at);
    }
}

void scaled_and_shifted(RowsOfChannels shape, const float* x, const float* scale, const float* shift,
                        const float* residual, bool rectified, float* y) {
  if (residual != nullptr)
    return rectified ? shifted<true, true>(shape, x, scale, shift, residual, y)
                     : shifted<true, false>(shape, x, scale, shift, residual, y);
  return rectified ? shifted<false, true>(shape, x, scale, shift, residual, y)
                   : shifted<false, false>(shape, x, scale, shift, residual, y);
}

void gradient_moments(RowsOfChannels shape, const float* rectified, float* gradient, const float* x, double* sums,
                      double* products) {
  const HalfTag h;
  for (std::size_t c = 0; c < shape.channels; c += kPanel) {
    DoubleVec sum[kVectors], product[kVectors];
    for (std::size_t i = 0; i < kVectors; ++i) sum[i] = product[i] = hn::Zero(DoubleTag());
    for (std::size_t r = 0; r < shape.rows; ++r)
      for (std::size_t i = 0; i < kVectors; ++i) {
        const std::size_t at = r * shape.stride + c + i * kDoubles;
        auto g = hn::LoadU(h, gradient + at);
        if (rectified != nullptr) {
          g = hn::IfThenZeroElse(hn::Le(hn::LoadU(h, rectified + at), hn::Zero(h)), g);
          hn::StoreU(g, h, gradient + at);
        }
        const DoubleVec value = as_double(g);
        sum[i] = hn::Add(sum[i], value);
        product[i] = hn::MulAdd(value, as_double(hn::LoadU(h, x + at)), product[i]);
      }
    for (std::size_t i = 0; i < kVectors; ++i) {
      add_to_doubles(sum[i], sums + c + i * kDoubles);
      add_to_doubles(product[i], products + c + i * kDoubles);
    }
  }
}

void norm_gradient_now(RowsOfChannels shape, const NormGradient& norm, const float* gradient, const float* x,
                       float* dx) {
  const FloatTag d;
  for (std::size_t r = 0; r < shape.rows; ++r)
    for (std::size_t c = 0; c < shape.channels; c += kLanes) {
      const std::size_t at = r * shape.stride + c;
      const FloatVec away = hn::Sub(hn::LoadU(d, x + at), hn::LoadU(d, norm.mean + c));
      const FloatVec g = hn::Sub(hn::LoadU(d, gradient + at), hn::LoadU(d, norm.offset + c));
      const FloatVec inner = hn::NegMulAdd(away, hn::LoadU(d, norm.slope + c), g);
      hn::StoreU(hn::Mul(inner, hn::LoadU(d, norm.factor + c)), d, dx + at);
    }
}

}  // namespace
}  // namespace eureka::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace eureka {

HWY_EXPORT(moments);
HWY_EXPORT(scaled_and_shifted);
HWY_EXPORT(gradient_moments);
HWY_EXPORT(norm_gradient_now);

void add_moments(RowsOfChannels shape, const float* x, double* sums, double* squares) {
  HWY_DYNAMIC_DISPATCH(moments)(shape, x, sums, squares);
}

void scale_and_shift(RowsOfChannels shape, const float* x, const float* scale, const float* shift,
                     const float* residual, bool rectified, float* y) {
  HWY_DYNAMIC_DISPATCH(scaled_and_shifted)(shape, x, scale, shift, residual, rectified, y);
}

void add_gradient_moments(RowsOfChannels shape, const float* rectified, float* gradient, const float* x, double* sums,
                          double* products) {
  HWY_DYNAMIC_DISPATCH(gradient_moments)(shape, rectified, gradient, x, sums, products);
}

void norm_gradient(RowsOfChannels shape, const NormGradient& norm, const float* gradient, const float* x, float* dx) {
  HWY_DYNAMIC_DISPATCH(norm_gradient_now)(shape, norm, gradient, x, dx);
}

}  // namespace eureka
#endif
