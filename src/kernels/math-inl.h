// exp and the normal distribution on vectors. Included once per instruction set.
#if defined(EUREKA_KERNELS_MATH_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef EUREKA_KERNELS_MATH_INL_H_
#undef EUREKA_KERNELS_MATH_INL_H_
#else
#define EUREKA_KERNELS_MATH_INL_H_
#endif

#include <cstddef>

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace eureka::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Never more lanes than a panel has columns.
using FloatTag = hn::CappedTag<float, 16>;
using FloatVec = hn::Vec<FloatTag>;
using FloatMask = hn::Mask<FloatTag>;
inline constexpr std::size_t kLanes = hn::MaxLanes(FloatTag());

// exp(x) to about one unit in the last place; x below -87.3 gives 1e-38 rather than 0.
HWY_INLINE FloatVec exp_of(FloatVec x) {
  const FloatTag d;
  const hn::RebindToSigned<FloatTag> di;
  x = hn::Min(hn::Max(x, hn::Set(d, -87.3F)), hn::Set(d, 88.3F));
  const FloatVec n = hn::Round(hn::Mul(x, hn::Set(d, 1.44269504F)));
  // ln 2 in two parts: the first is exact in a product with n.
  FloatVec r = hn::NegMulAdd(n, hn::Set(d, 0.693359375F), x);
  r = hn::NegMulAdd(n, hn::Set(d, -2.12194440e-4F), r);
  FloatVec p = hn::Set(d, 1.9875691500e-4F);
  p = hn::MulAdd(p, r, hn::Set(d, 1.3981999507e-3F));
  p = hn::MulAdd(p, r, hn::Set(d, 8.3334519073e-3F));
  p = hn::MulAdd(p, r, hn::Set(d, 4.1665795894e-2F));
  p = hn::MulAdd(p, r, hn::Set(d, 1.6666665459e-1F));
  p = hn::MulAdd(p, r, hn::Set(d, 5.0000001201e-1F));
  p = hn::Add(hn::MulAdd(p, hn::Mul(r, r), r), hn::Set(d, 1.0F));
  const auto exponent = hn::ShiftLeft<23>(hn::Add(hn::ConvertTo(di, n), hn::Set(di, 127)));
  return hn::Mul(p, hn::BitCast(d, exponent));
}

struct NormalDistribution {
  FloatVec below;    // Phi(x)
  FloatVec density;  // phi(x)
};

// Absolute error of Phi below 1e-7 (Abramowitz and Stegun 7.1.26, halved, without cancellation in either tail).
HWY_INLINE NormalDistribution normal_distribution(FloatVec x) {
  const FloatTag d;
  const FloatVec bell = exp_of(hn::Mul(hn::Mul(x, x), hn::Set(d, -0.5F)));
  const FloatVec t = hn::Div(hn::Set(d, 1.0F), hn::MulAdd(hn::Abs(x), hn::Set(d, 0.231641888F), hn::Set(d, 1.0F)));
  FloatVec p = hn::Set(d, 0.5307027145F);
  p = hn::MulAdd(p, t, hn::Set(d, -0.7265760135F));
  p = hn::MulAdd(p, t, hn::Set(d, 0.7107068705F));
  p = hn::MulAdd(p, t, hn::Set(d, -0.142248368F));
  p = hn::MulAdd(p, t, hn::Set(d, 0.127414796F));
  const FloatVec tail = hn::Mul(hn::Mul(p, t), bell);
  const FloatVec below = hn::IfThenElse(hn::Lt(x, hn::Zero(d)), tail, hn::Sub(hn::Set(d, 1.0F), tail));
  return {below, hn::Mul(bell, hn::Set(d, 0.39894228F))};
}

HWY_INLINE float sum_of(FloatVec x) { return hn::GetLane(hn::SumOfLanes(FloatTag(), x)); }
HWY_INLINE float max_of(FloatVec x) { return hn::GetLane(hn::MaxOfLanes(FloatTag(), x)); }

}  // namespace eureka::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
