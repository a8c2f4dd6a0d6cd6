// Scalable softmax: the scale grows with the logarithm of the number of visible keys, so that attention does not fade
// in long rows (Nakanishi 2025).
#ifndef EUREKA_KERNELS_RULES_SCALABLE_SOFTMAX_H_
#define EUREKA_KERNELS_RULES_SCALABLE_SOFTMAX_H_

#include "base/exact_math.h"
#include "kernels/rule_options.h"

namespace eureka {

struct ScalableSoftmaxOptions : RuleOptions {
  static constexpr const char* kDescription = "softmax with a scale that grows as ln(visible keys)";
  static constexpr RowForm kForm = RowForm::softmax;

  double strength = 0.43;
  bool learnable = true;

  template <class V>
  void visit(V& v) {
    v("strength", strength, Range{1e-6, 1e3}, "factor on ln(visible keys); where a learnable one starts");
    v("learnable", learnable, "learn the strength per head");
  }

  std::vector<RuleParameter> parameters() const {
    if (!learnable) return {};
    return {{RuleParameterRole::scale_factor, "strength", strength}};
  }
  double scale_factor() const { return strength; }
  RowLaw law(const RowFacts& row) const { return {.sharpness = row.scale() * exact::log(row.keys)}; }
};

}  // namespace eureka
#endif

#ifdef EUREKA_RULE_KERNELS
HWY_BEFORE_NAMESPACE();
namespace eureka::HWY_NAMESPACE {

template <>
struct RowKernel<ScalableSoftmaxOptions> {
  static HWY_INLINE float scale(const AttentionRow& row) { return row.scale() * log_of_count(visible_keys(row)); }
  static HWY_INLINE void weights(const ScalableSoftmaxOptions&, const AttentionRow& row) {
    softmax_of(row, scale(row), 0);
  }
  static HWY_INLINE float gradient(const ScalableSoftmaxOptions&, const AttentionRow& row, float* g, bool learned) {
    softmax_gradient(row, scale(row), g);
    return learned ? along_logits(row, g, 0) : 0.0F;
  }
};

}  // namespace eureka::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
