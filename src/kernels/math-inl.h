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

// Phi(x) and phi(x) of a few vectors side by side: one alone would wait for its own results most of the time.
// Absolute error of Phi below 1e-7 (the form of Abramowitz and Stegun 26.2.17, without cancellation in either tail).
template <std::size_t kCount>
HWY_INLINE void normal_distribution(const FloatVec (&x)[kCount], FloatVec (&below)[kCount],
                                    FloatVec (&density)[kCount]) {
  const FloatTag d;
  const hn::RebindToSigned<FloatTag> di;
  const auto each = [](auto&& action) HWY_ATTR {
    for (std::size_t i = 0; i < kCount; ++i) action(i);
  };
  FloatVec t[kCount], r[kCount], shifted[kCount], p[kCount], q[kCount];
  const auto times_plus = [&](FloatVec(&sum)[kCount], const FloatVec(&factor)[kCount], float constant) HWY_ATTR {
    each([&](std::size_t i) HWY_ATTR { sum[i] = hn::MulAdd(sum[i], factor[i], hn::Set(d, constant)); });
  };
  // phi as a power of two: adding 1.5 * 2^23 rounds to a whole number, which then stands in the low bits.
  const FloatVec magic = hn::Set(d, 12582912.0F);
  each([&](std::size_t i) HWY_ATTR {
    // Further out the tail is zero in any sum.
    const FloatVec away = hn::Min(hn::Abs(x[i]), hn::Set(d, 13.0F));
    t[i] = hn::MulAdd(away, hn::Set(d, 0.231641888F), hn::Set(d, 1.0F));
    r[i] = hn::Mul(hn::Mul(away, away), hn::Set(d, -0.72134752F));
  });
  each([&](std::size_t i) HWY_ATTR { t[i] = hn::Div(hn::Set(d, 1.0F), t[i]); });
  each([&](std::size_t i) HWY_ATTR { shifted[i] = hn::Add(r[i], magic); });
  each([&](std::size_t i) HWY_ATTR { r[i] = hn::Sub(r[i], hn::Sub(shifted[i], magic)); });
  each([&](std::size_t i)
           HWY_ATTR { p[i] = hn::MulAdd(hn::Set(d, 6.12209331e-05F), r[i], hn::Set(d, 0.000534579923F)); });
  times_plus(p, r, 0.00383722192F);
  times_plus(p, r, 0.0221426082F);
  times_plus(p, r, 0.0958364954F);
  times_plus(p, r, 0.276525727F);
  times_plus(p, r, 0.39894228F);
  each([&](std::size_t i) HWY_ATTR { q[i] = hn::MulAdd(hn::Set(d, 1.330274429F), t[i], hn::Set(d, -1.821255978F)); });
  times_plus(q, t, 1.781477937F);
  times_plus(q, t, -0.356563782F);
  times_plus(q, t, 0.319381530F);
  each([&](std::size_t i) HWY_ATTR {
    density[i] = hn::BitCast(d, hn::Add(hn::BitCast(di, p[i]), hn::ShiftLeft<23>(hn::BitCast(di, shifted[i]))));
    const FloatVec tail = hn::Mul(hn::Mul(q[i], t[i]), density[i]);
    below[i] = hn::IfNegativeThenElse(x[i], tail, hn::Sub(hn::Set(d, 1.0F), tail));
  });
}

HWY_INLINE float sum_of(FloatVec x) { return hn::GetLane(hn::SumOfLanes(FloatTag(), x)); }
HWY_INLINE float max_of(FloatVec x) { return hn::GetLane(hn::MaxOfLanes(FloatTag(), x)); }

}  // namespace eureka::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
