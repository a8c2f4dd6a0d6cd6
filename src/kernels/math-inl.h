// exp, log and the normal distribution on vectors of any width: the same bits in every lane. Included once per
// instruction set.
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

// For work on each element alone: as many lanes as there are, but never more than a panel has columns.
using FloatTag = hn::CappedTag<float, 16>;
using FloatVec = hn::Vec<FloatTag>;
using FloatMask = hn::Mask<FloatTag>;
inline constexpr std::size_t kLanes = hn::MaxLanes(FloatTag());

// Minimum and maximum as x86 has them, on every set: the second argument where either is not a number.
template <class V>
HWY_INLINE V lesser(V a, V b) {
  return HWY_ARCH_X86 ? hn::Min(a, b) : hn::IfThenElse(hn::Lt(a, b), a, b);
}
template <class V>
HWY_INLINE V greater(V a, V b) {
  return HWY_ARCH_X86 ? hn::Max(a, b) : hn::IfThenElse(hn::Gt(a, b), a, b);
}

// exp(x) to about one unit in the last place; x below -87.3 gives 1e-38 rather than 0.
template <class V>
HWY_INLINE V exp_of(V x) {
  const hn::DFromV<V> d;
  const hn::RebindToSigned<hn::DFromV<V>> di;
  x = lesser(greater(x, hn::Set(d, -87.3F)), hn::Set(d, 88.3F));
  const V n = hn::Round(hn::Mul(x, hn::Set(d, 1.44269504F)));
  // ln 2 in two parts: the first is exact in a product with n.
  V r = hn::NegMulAdd(n, hn::Set(d, 0.693359375F), x);
  r = hn::NegMulAdd(n, hn::Set(d, -2.12194440e-4F), r);
  V p = hn::Set(d, 1.9875691500e-4F);
  p = hn::MulAdd(p, r, hn::Set(d, 1.3981999507e-3F));
  p = hn::MulAdd(p, r, hn::Set(d, 8.3334519073e-3F));
  p = hn::MulAdd(p, r, hn::Set(d, 4.1665795894e-2F));
  p = hn::MulAdd(p, r, hn::Set(d, 1.6666665459e-1F));
  p = hn::MulAdd(p, r, hn::Set(d, 5.0000001201e-1F));
  p = hn::Add(hn::MulAdd(p, hn::Mul(r, r), r), hn::Set(d, 1.0F));
  const auto exponent = hn::ShiftLeft<23>(hn::Add(hn::ConvertTo(di, n), hn::Set(di, 127)));
  return hn::Mul(p, hn::BitCast(d, exponent));
}

// ln(x) for x > 0, denormal ones included, to about two units in the last place.
template <class V>
HWY_INLINE V log_of(V x) {
  const hn::DFromV<V> d;
  const hn::RebindToSigned<hn::DFromV<V>> di;
  const auto tiny = hn::Lt(x, hn::Set(d, 1.17549435e-38F));
  x = hn::IfThenElse(tiny, hn::Mul(x, hn::Set(d, 33554432.0F)), x);  // 2^25
  // Subtracting the bits of sqrt(1/2) makes the exponent round so that the mantissa lies between sqrt(1/2) and sqrt(2).
  const auto bits = hn::Sub(hn::BitCast(di, x), hn::Set(di, 0x3f3504f3));
  const auto exponent = hn::ShiftRight<23>(bits);
  const V mantissa = hn::BitCast(d, hn::Sub(hn::BitCast(di, x), hn::ShiftLeft<23>(exponent)));
  const V e = hn::Sub(hn::ConvertTo(d, exponent), hn::IfThenElseZero(tiny, hn::Set(d, 25.0F)));
  // ln m = 2 atanh(s), s = (m - 1)/(m + 1), |s| < 0.172: five terms of the series.
  const V one = hn::Set(d, 1.0F);
  const V s = hn::Div(hn::Sub(mantissa, one), hn::Add(mantissa, one));
  const V s2 = hn::Mul(s, s);
  V p = hn::Set(d, 2.0F / 9.0F);
  p = hn::MulAdd(p, s2, hn::Set(d, 2.0F / 7.0F));
  p = hn::MulAdd(p, s2, hn::Set(d, 2.0F / 5.0F));
  p = hn::MulAdd(p, s2, hn::Set(d, 2.0F / 3.0F));
  const V ln_m = hn::MulAdd(hn::Mul(p, s2), s, hn::Add(s, s));
  return hn::MulAdd(e, hn::Set(d, 0.693359375F), hn::MulAdd(e, hn::Set(d, -2.12194440e-4F), ln_m));
}

// 2^y of a few vectors side by side: one alone would wait for its own results most of the time. About one unit in the
// last place for -126 <= y <= 127.
template <class V, std::size_t kCount>
HWY_INLINE void power_of_two(V (&y)[kCount]) {
  const hn::DFromV<V> d;
  const hn::RebindToSigned<hn::DFromV<V>> di;
  // Adding 1.5 * 2^23 rounds to a whole number, which then stands in the low bits.
  const V magic = hn::Set(d, 12582912.0F);
  V shifted[kCount], p[kCount];
  for (std::size_t i = 0; i < kCount; ++i) shifted[i] = hn::Add(y[i], magic);
  for (std::size_t i = 0; i < kCount; ++i) y[i] = hn::Sub(y[i], hn::Sub(shifted[i], magic));
  for (std::size_t i = 0; i < kCount; ++i) p[i] = hn::Set(d, 1.53458122e-4F);
  for (const float c : {1.33999315e-3F, 9.61848896e-3F, 5.55032878e-2F, 2.40226469e-1F, 6.93147206e-1F, 1.0F})
    for (std::size_t i = 0; i < kCount; ++i) p[i] = hn::MulAdd(p[i], y[i], hn::Set(d, c));
  for (std::size_t i = 0; i < kCount; ++i) {
    const auto exponent = hn::ShiftLeft<23>(hn::BitCast(di, shifted[i]));
    y[i] = hn::BitCast(d, hn::Add(hn::BitCast(di, p[i]), exponent));
  }
}

// Phi(x) and phi(x) of a few vectors side by side. Absolute error of Phi below 1e-7 (the form of Abramowitz and Stegun
// 26.2.17, without cancellation in either tail).
template <std::size_t kCount>
HWY_INLINE void normal_distribution(const FloatVec (&x)[kCount], FloatVec (&below)[kCount],
                                    FloatVec (&density)[kCount]) {
  const FloatTag d;
  FloatVec t[kCount], p[kCount];
  for (std::size_t i = 0; i < kCount; ++i) {
    // Further out the tail is zero in any sum.
    const FloatVec away = lesser(hn::Abs(x[i]), hn::Set(d, 13.0F));
    t[i] = hn::MulAdd(away, hn::Set(d, 0.231641888F), hn::Set(d, 1.0F));
    // Base-two logarithms of exp(-1/2) and of 1 / sqrt(2 pi).
    density[i] = hn::MulAdd(hn::Mul(away, away), hn::Set(d, -0.72134752F), hn::Set(d, -1.32574806F));
  }
  for (std::size_t i = 0; i < kCount; ++i) t[i] = hn::Div(hn::Set(d, 1.0F), t[i]);
  power_of_two(density);
  for (std::size_t i = 0; i < kCount; ++i) p[i] = hn::Set(d, 1.330274429F);
  for (const float c : {-1.821255978F, 1.781477937F, -0.356563782F, 0.319381530F})
    for (std::size_t i = 0; i < kCount; ++i) p[i] = hn::MulAdd(p[i], t[i], hn::Set(d, c));
  for (std::size_t i = 0; i < kCount; ++i) {
    const FloatVec tail = hn::Mul(hn::Mul(p[i], t[i]), density[i]);
    below[i] = hn::IfNegativeThenElse(x[i], tail, hn::Sub(hn::Set(d, 1.0F), tail));
  }
}

}  // namespace eureka::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
