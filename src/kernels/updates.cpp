#include "kernels/updates.h"

#include <cfloat>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/updates.cpp"
#include "hwy/foreach_target.h"
// After foreach_target.
#include "kernels/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace eureka::HWY_NAMESPACE {
namespace {

void adam(const AdamStep& step, std::size_t count, float* values, float* gradient, float* m, float* v) {
  const FloatTag d;
  const FloatVec beta1 = hn::Set(d, step.beta1), rest1 = hn::Set(d, step.rest1);
  const FloatVec beta2 = hn::Set(d, step.beta2), rest2 = hn::Set(d, step.rest2);
  const FloatVec root = hn::Set(d, step.inverse_root_bias), epsilon = hn::Set(d, step.epsilon);
  const FloatVec shrink = hn::Set(d, step.shrink), decay = hn::Set(d, step.decay), rate = hn::Set(d, step.rate);
  const FloatVec scale = hn::Set(d, step.gradient_scale);
  for (std::size_t i = 0; i < count; i += kLanes) {
    const FloatVec x = hn::LoadU(d, values + i);
    const FloatVec g = hn::MulAdd(decay, x, hn::Mul(hn::LoadU(d, gradient + i), scale));
    const FloatVec mean = hn::MulAdd(beta1, hn::LoadU(d, m + i), hn::Mul(rest1, g));
    const FloatVec square = hn::MulAdd(beta2, hn::LoadU(d, v + i), hn::Mul(rest2, hn::Mul(g, g)));
    // Never 0 / 0 in the padding, whose moments stay zero.
    const FloatVec size = hn::Max(hn::MulAdd(hn::Sqrt(square), root, epsilon), hn::Set(d, FLT_MIN));
    hn::StoreU(hn::NegMulAdd(rate, hn::Div(mean, size), hn::Mul(x, shrink)), d, values + i);
    hn::StoreU(mean, d, m + i);
    hn::StoreU(square, d, v + i);
    hn::StoreU(hn::Zero(d), d, gradient + i);
  }
}

void sgd(const SgdStep& step, std::size_t count, float* values, float* gradient, float* momentum) {
  const FloatTag d;
  const FloatVec keep = hn::Set(d, step.first ? 0.0F : step.momentum);
  const FloatVec decay = hn::Set(d, step.decay), rate = hn::Set(d, step.rate);
  const FloatVec scale = hn::Set(d, step.gradient_scale);
  for (std::size_t i = 0; i < count; i += kLanes) {
    const FloatVec x = hn::LoadU(d, values + i);
    const FloatVec g = hn::MulAdd(decay, x, hn::Mul(hn::LoadU(d, gradient + i), scale));
    const FloatVec speed = hn::MulAdd(keep, hn::LoadU(d, momentum + i), g);
    hn::StoreU(speed, d, momentum + i);
    hn::StoreU(hn::NegMulAdd(rate, speed, x), d, values + i);
    hn::StoreU(hn::Zero(d), d, gradient + i);
  }
}

}  // namespace
}  // namespace eureka::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace eureka {

HWY_EXPORT(adam);
HWY_EXPORT(sgd);

void adam_update(const AdamStep& step, std::size_t count, float* values, float* gradient, float* m, float* v) {
  HWY_DYNAMIC_DISPATCH(adam)(step, count, values, gradient, m, v);
}

void sgd_update(const SgdStep& step, std::size_t count, float* values, float* gradient, float* momentum) {
  HWY_DYNAMIC_DISPATCH(sgd)(step, count, values, gradient, momentum);
}

}  // namespace eureka
#endif
