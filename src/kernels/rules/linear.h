// Linear attention: the scaled logits themselves are the weights.
#ifndef EUREKA_KERNELS_RULES_LINEAR_H_
#define EUREKA_KERNELS_RULES_LINEAR_H_

#include "kernels/rule_options.h"

namespace eureka {

struct LinearOptions : RuleOptions {
  static constexpr const char* kDescription = "the scaled logits themselves, no softmax";

  bool mean = true;

  template <class V>
  void visit(V& v) {
    v("mean", mean, "divide by the number of visible keys");
  }
};

}  // namespace eureka
#endif

#ifdef EUREKA_RULE_KERNELS
HWY_BEFORE_NAMESPACE();
namespace eureka::HWY_NAMESPACE {

template <>
struct RowKernel<LinearOptions> {
  static HWY_INLINE float scale(const LinearOptions& options, const AttentionRow& row) {
    const float plain = row.scale();
    return options.mean ? plain / visible_keys(row) : plain;
  }
  static HWY_INLINE void times_scale(const LinearOptions& options, const AttentionRow& row, const float* from,
                                     float* to) {
    const Tag8 d;
    const Vec8 s = v8::Set(d, scale(options, row));
    for_keys(row, [&](std::size_t key, auto show)
                      HWY_ATTR { v8::StoreU(show.or_zero(v8::Mul(s, v8::LoadU(d, from + key))), d, to + key); });
  }
  static HWY_INLINE void weights(const LinearOptions& options, const AttentionRow& row) {
    times_scale(options, row, row.logits, row.weights);
  }
  static HWY_INLINE float gradient(const LinearOptions& options, const AttentionRow& row, float* g, bool learned) {
    times_scale(options, row, g, g);
    return learned ? along_logits(row, g, 0) : 0.0F;
  }
};

}  // namespace eureka::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
