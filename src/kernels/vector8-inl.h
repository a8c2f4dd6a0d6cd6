// Vectors of eight floats on every instruction set, for all work in which lanes are added up. A sum over a row runs in
// eight lanes, which are then added in one order; with the width of the processor's vectors the order would change, and
// with it the last bit of a sum, and in the end the run. Included once per instruction set.
//
// Where vectors have eight floats or more, v8 is Highway with eight of them in use. Where they have four, v8 works on
// pairs and has what the kernels use.
#if defined(EUREKA_KERNELS_VECTOR8_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef EUREKA_KERNELS_VECTOR8_INL_H_
#undef EUREKA_KERNELS_VECTOR8_INL_H_
#else
#define EUREKA_KERNELS_VECTOR8_INL_H_
#endif

#include <cstddef>

#include "kernels/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace eureka::HWY_NAMESPACE {

inline constexpr std::size_t kLanes8 = 8;

#if HWY_MAX_BYTES >= 32

namespace v8 = hn;
using Tag8 = hn::CappedTag<float, kLanes8>;
using Vec8 = hn::Vec<Tag8>;
using Mask8 = hn::Mask<Tag8>;
static_assert(hn::MaxLanes(Tag8()) == kLanes8);

#else

inline constexpr std::size_t kParts = kLanes8 / kLanes;

struct Tag8 {};
struct Vec8 {
  FloatVec part[kParts];
};
struct Mask8 {
  FloatMask part[kParts];
};

// A vector or mask whose parts are work(part number).
template <class Result, class Work>
HWY_INLINE Result by_parts(const Work& work) {
  Result result;
  for (std::size_t i = 0; i < kParts; ++i) result.part[i] = work(i);
  return result;
}
#define EUREKA_BY_PARTS(Result, expression) \
  by_parts<Result>([&]([[maybe_unused]] std::size_t i) HWY_ATTR { return expression; })

namespace v8 {

HWY_INLINE Vec8 Set(Tag8, float x) { return EUREKA_BY_PARTS(Vec8, hn::Set(FloatTag(), x)); }
HWY_INLINE Vec8 Zero(Tag8) { return EUREKA_BY_PARTS(Vec8, hn::Zero(FloatTag())); }
HWY_INLINE Vec8 LoadU(Tag8, const float* p) { return EUREKA_BY_PARTS(Vec8, hn::LoadU(FloatTag(), p + i * kLanes)); }
HWY_INLINE void StoreU(Vec8 x, Tag8, float* p) {
  for (std::size_t i = 0; i < kParts; ++i) hn::StoreU(x.part[i], FloatTag(), p + i * kLanes);
}
HWY_INLINE void BlendedStore(Vec8 x, Mask8 m, Tag8, float* p) {
  for (std::size_t i = 0; i < kParts; ++i) hn::BlendedStore(x.part[i], m.part[i], FloatTag(), p + i * kLanes);
}

HWY_INLINE Vec8 Add(Vec8 a, Vec8 b) { return EUREKA_BY_PARTS(Vec8, hn::Add(a.part[i], b.part[i])); }
HWY_INLINE Vec8 Sub(Vec8 a, Vec8 b) { return EUREKA_BY_PARTS(Vec8, hn::Sub(a.part[i], b.part[i])); }
HWY_INLINE Vec8 Mul(Vec8 a, Vec8 b) { return EUREKA_BY_PARTS(Vec8, hn::Mul(a.part[i], b.part[i])); }
HWY_INLINE Vec8 Div(Vec8 a, Vec8 b) { return EUREKA_BY_PARTS(Vec8, hn::Div(a.part[i], b.part[i])); }
HWY_INLINE Vec8 Min(Vec8 a, Vec8 b) { return EUREKA_BY_PARTS(Vec8, lesser(a.part[i], b.part[i])); }
HWY_INLINE Vec8 Max(Vec8 a, Vec8 b) { return EUREKA_BY_PARTS(Vec8, greater(a.part[i], b.part[i])); }
HWY_INLINE Vec8 Neg(Vec8 a) { return EUREKA_BY_PARTS(Vec8, hn::Neg(a.part[i])); }
HWY_INLINE Vec8 Sqrt(Vec8 a) { return EUREKA_BY_PARTS(Vec8, hn::Sqrt(a.part[i])); }
HWY_INLINE Vec8 MulAdd(Vec8 a, Vec8 b, Vec8 c) {
  return EUREKA_BY_PARTS(Vec8, hn::MulAdd(a.part[i], b.part[i], c.part[i]));
}
HWY_INLINE Vec8 MulSub(Vec8 a, Vec8 b, Vec8 c) {
  return EUREKA_BY_PARTS(Vec8, hn::MulSub(a.part[i], b.part[i], c.part[i]));
}
HWY_INLINE Vec8 NegMulAdd(Vec8 a, Vec8 b, Vec8 c) {
  return EUREKA_BY_PARTS(Vec8, hn::NegMulAdd(a.part[i], b.part[i], c.part[i]));
}

HWY_INLINE Mask8 FirstN(Tag8, std::size_t n) {
  return EUREKA_BY_PARTS(Mask8, hn::FirstN(FloatTag(), n > i * kLanes ? HWY_MIN(n - i * kLanes, kLanes) : 0));
}
HWY_INLINE Mask8 And(Mask8 a, Mask8 b) { return EUREKA_BY_PARTS(Mask8, hn::And(a.part[i], b.part[i])); }
HWY_INLINE Mask8 Or(Mask8 a, Mask8 b) { return EUREKA_BY_PARTS(Mask8, hn::Or(a.part[i], b.part[i])); }
HWY_INLINE Mask8 Eq(Vec8 a, Vec8 b) { return EUREKA_BY_PARTS(Mask8, hn::Eq(a.part[i], b.part[i])); }
HWY_INLINE Mask8 Ne(Vec8 a, Vec8 b) { return EUREKA_BY_PARTS(Mask8, hn::Ne(a.part[i], b.part[i])); }
HWY_INLINE Mask8 Lt(Vec8 a, Vec8 b) { return EUREKA_BY_PARTS(Mask8, hn::Lt(a.part[i], b.part[i])); }
HWY_INLINE Mask8 Gt(Vec8 a, Vec8 b) { return EUREKA_BY_PARTS(Mask8, hn::Gt(a.part[i], b.part[i])); }
HWY_INLINE Mask8 Ge(Vec8 a, Vec8 b) { return EUREKA_BY_PARTS(Mask8, hn::Ge(a.part[i], b.part[i])); }
HWY_INLINE bool AllFalse(Tag8, Mask8 m) {
  bool all = true;
  for (std::size_t i = 0; i < kParts; ++i) all = all && hn::AllFalse(FloatTag(), m.part[i]);
  return all;
}
HWY_INLINE Vec8 IfThenElse(Mask8 m, Vec8 a, Vec8 b) {
  return EUREKA_BY_PARTS(Vec8, hn::IfThenElse(m.part[i], a.part[i], b.part[i]));
}
HWY_INLINE Vec8 IfThenElseZero(Mask8 m, Vec8 a) {
  return EUREKA_BY_PARTS(Vec8, hn::IfThenElseZero(m.part[i], a.part[i]));
}
HWY_INLINE Vec8 IfThenZeroElse(Mask8 m, Vec8 a) {
  return EUREKA_BY_PARTS(Vec8, hn::IfThenZeroElse(m.part[i], a.part[i]));
}

// The order of eight lanes: the upper half onto the lower, then half of that onto the other, then two numbers.
template <class Join>
HWY_INLINE Vec8 over_lanes(Vec8 x, const Join& join) {
  for (std::size_t half = kParts / 2; half > 0; half /= 2)
    for (std::size_t i = 0; i < half; ++i) x.part[i] = join(x.part[i + half], x.part[i]);
  FloatVec all = x.part[0];
#if HWY_TARGET != HWY_SCALAR
  all = join(all, hn::Shuffle1032(all));
  all = join(hn::Shuffle2301(all), all);
#endif
  return EUREKA_BY_PARTS(Vec8, all);
}
HWY_INLINE Vec8 SumOfLanes(Tag8, Vec8 x) {
  return over_lanes(x, [](FloatVec a, FloatVec b) HWY_ATTR { return hn::Add(a, b); });
}
HWY_INLINE Vec8 MaxOfLanes(Tag8, Vec8 x) {
  return over_lanes(x, [](FloatVec a, FloatVec b) HWY_ATTR { return greater(a, b); });
}
HWY_INLINE Vec8 MinOfLanes(Tag8, Vec8 x) {
  return over_lanes(x, [](FloatVec a, FloatVec b) HWY_ATTR { return lesser(a, b); });
}
HWY_INLINE float GetLane(Vec8 x) { return hn::GetLane(x.part[0]); }

}  // namespace v8

HWY_INLINE Vec8 exp_of(Vec8 x) { return EUREKA_BY_PARTS(Vec8, exp_of(x.part[i])); }
HWY_INLINE Vec8 log_of(Vec8 x) { return EUREKA_BY_PARTS(Vec8, log_of(x.part[i])); }

template <std::size_t kCount>
HWY_INLINE void power_of_two(Vec8 (&y)[kCount]) {
  for (std::size_t i = 0; i < kCount; ++i) power_of_two(y[i].part);
}

#undef EUREKA_BY_PARTS

#endif

// As wide as there are, but never less than eight: for work on each element alone whose results are then summed.
#if HWY_MAX_BYTES >= 64
namespace wide = hn;
using WideTag = FloatTag;
HWY_INLINE Vec8 add_eights(Vec8 sum, FloatVec x) {
  const Tag8 d;
  return hn::Add(hn::Add(sum, hn::LowerHalf(d, x)), hn::UpperHalf(d, x));
}
HWY_INLINE Vec8 multiply_add_eights(FloatVec x, FloatVec y, Vec8 sum) {
  const Tag8 d;
  sum = hn::MulAdd(hn::LowerHalf(d, x), hn::LowerHalf(d, y), sum);
  return hn::MulAdd(hn::UpperHalf(d, x), hn::UpperHalf(d, y), sum);
}
HWY_INLINE FloatVec sum_in_all_lanes(Vec8 x) { return hn::Set(WideTag(), hn::GetLane(hn::SumOfLanes(Tag8(), x))); }
inline constexpr std::size_t kWideLanes = 2 * kLanes8;
using WideVec = FloatVec;
using WideMask = FloatMask;
#else
namespace wide = v8;
using WideTag = Tag8;
HWY_INLINE Vec8 add_eights(Vec8 sum, Vec8 x) { return v8::Add(sum, x); }
HWY_INLINE Vec8 multiply_add_eights(Vec8 x, Vec8 y, Vec8 sum) { return v8::MulAdd(x, y, sum); }
HWY_INLINE Vec8 sum_in_all_lanes(Vec8 x) { return v8::SumOfLanes(Tag8(), x); }
inline constexpr std::size_t kWideLanes = kLanes8;
using WideVec = Vec8;
using WideMask = Mask8;
#endif

HWY_INLINE float sum_of(Vec8 x) { return v8::GetLane(v8::SumOfLanes(Tag8(), x)); }
HWY_INLINE float max_of(Vec8 x) { return v8::GetLane(v8::MaxOfLanes(Tag8(), x)); }
HWY_INLINE float min_of(Vec8 x) { return v8::GetLane(v8::MinOfLanes(Tag8(), x)); }

}  // namespace eureka::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
