// Sigmoid attention: each key is weighed on its own; the bias -ln(visible keys) starts rows near a sum of one
// (Ramapuram 2024).
#ifndef EUREKA_KERNELS_RULES_SIGMOID_H_
#define EUREKA_KERNELS_RULES_SIGMOID_H_

#include "base/exact_math.h"
#include "kernels/rule_options.h"

namespace eureka {

struct SigmoidOptions : RuleOptions {
  static constexpr const char* kDescription = "a sigmoid per key, no competition between keys";
  static constexpr RowForm kForm = RowForm::sigmoid;

  enum class Bias { log_keys, none };
  friend constexpr auto enum_names(Bias) { return std::array{"log-keys", "none"}; }

  Bias bias = Bias::log_keys;

  template <class V>
  void visit(V& v) {
    v("bias", bias, "subtract the logarithm of the number of visible keys, or nothing");
  }

  RowLaw law(const RowFacts& row) const {
    return {.sharpness = row.scale(), .shift = bias == Bias::log_keys ? exact::log(row.keys) : 0.0};
  }
};

}  // namespace eureka
#endif

#ifdef EUREKA_RULE_KERNELS
HWY_BEFORE_NAMESPACE();
namespace eureka::HWY_NAMESPACE {

template <>
struct RowKernel<SigmoidOptions> {
  static HWY_INLINE void weights(const SigmoidOptions& options, const AttentionRow& row) {
    const Tag8 d;
    const Vec8 scale = v8::Set(d, -row.scale());
    const bool log_keys = options.bias == SigmoidOptions::Bias::log_keys;
    const Vec8 shift = v8::Set(d, log_keys ? log_of_count(visible_keys(row)) : 0.0F);
    const Vec8 one = v8::Set(d, 1.0F);
    for_keys(row, [&](std::size_t key, auto show) HWY_ATTR {
      const Vec8 e = exp_of(v8::MulAdd(v8::LoadU(d, row.logits + key), scale, shift));
      v8::StoreU(show.or_zero(v8::Div(one, v8::Add(one, e))), d, row.weights + key);
    });
  }
  static HWY_INLINE float gradient(const SigmoidOptions&, const AttentionRow& row, float* g, bool learned) {
    const Tag8 d;
    const Vec8 scale = v8::Set(d, row.scale());
    for (std::size_t key = 0; key < row.keys; key += kLanes8) {
      const Vec8 w = v8::LoadU(d, row.weights + key);
      v8::StoreU(v8::Mul(v8::Mul(scale, v8::LoadU(d, g + key)), v8::NegMulAdd(w, w, w)), d, g + key);
    }
    return learned ? along_logits(row, g, 0) : 0.0F;
  }
};

}  // namespace eureka::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
