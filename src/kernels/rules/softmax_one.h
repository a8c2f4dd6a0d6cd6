// Softmax with one added to its denominator: a head may attend to nothing (Miller 2023).
#ifndef EUREKA_KERNELS_RULES_SOFTMAX_ONE_H_
#define EUREKA_KERNELS_RULES_SOFTMAX_ONE_H_

#include "kernels/rule_options.h"

namespace eureka {

struct SoftmaxOneOptions : RuleOptions {
  static constexpr const char* kDescription = "softmax with 1 added to the denominator: may attend to nothing";
  static constexpr RowForm kForm = RowForm::softmax_one;
};

}  // namespace eureka
#endif

#ifdef EUREKA_RULE_KERNELS
HWY_BEFORE_NAMESPACE();
namespace eureka::HWY_NAMESPACE {

// A further key of logit 0, whose weight is dropped, takes part in the sum.
template <>
struct RowKernel<SoftmaxOneOptions> {
  static HWY_INLINE void weights(const SoftmaxOneOptions&, const AttentionRow& row) {
    const Tag8 d;
    const Vec8 scale = v8::Set(d, row.scale());
    Vec8 top = v8::Zero(d), sum = v8::Zero(d);
    for_keys(row, [&](std::size_t key, auto show)
                      HWY_ATTR { top = v8::Max(top, show.or_zero(v8::Mul(v8::LoadU(d, row.logits + key), scale))); });
    top = v8::MaxOfLanes(d, top);
    for_keys(row, [&](std::size_t key, auto show) HWY_ATTR {
      const Vec8 e = show.or_zero(exp_of(v8::Sub(v8::Mul(v8::LoadU(d, row.logits + key), scale), top)));
      sum = v8::Add(sum, e);
      v8::StoreU(e, d, row.weights + key);
    });
    const Vec8 share = v8::Div(v8::Set(d, 1.0F), v8::Add(v8::SumOfLanes(d, sum), exp_of(v8::Neg(top))));
    for (std::size_t key = 0; key < row.keys; key += kLanes8)
      v8::StoreU(v8::Mul(v8::LoadU(d, row.weights + key), share), d, row.weights + key);
  }
  static HWY_INLINE float gradient(const SoftmaxOneOptions&, const AttentionRow& row, float* g, bool learned) {
    softmax_gradient(row, row.scale(), g);
    return learned ? along_logits(row, g, 0) : 0.0F;
  }
};

}  // namespace eureka::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
