// Softmax of the scaled logits, the usual rule.
#ifndef EUREKA_KERNELS_RULES_SOFTMAX_H_
#define EUREKA_KERNELS_RULES_SOFTMAX_H_

#include "kernels/rule_options.h"

namespace eureka {

struct SoftmaxOptions : RuleOptions {
  static constexpr const char* kDescription = "softmax of the scaled logits";
  static constexpr RowForm kForm = RowForm::softmax;
};

}  // namespace eureka
#endif

#ifdef EUREKA_RULE_KERNELS
HWY_BEFORE_NAMESPACE();
namespace eureka::HWY_NAMESPACE {

template <>
struct RowKernel<SoftmaxOptions> {
  static HWY_INLINE void weights(const SoftmaxOptions&, const AttentionRow& row) { softmax_of(row, row.scale(), 0); }
  static HWY_INLINE float gradient(const SoftmaxOptions&, const AttentionRow& row, float* g, bool learned) {
    softmax_gradient(row, row.scale(), g);
    return learned ? along_logits(row, g, 0) : 0.0F;
  }

  // A few rows side by side.
  struct Block {
    template <std::size_t kRows>
    static HWY_INLINE void weights(const SoftmaxOptions&, const RowBlock& b) {
      softmax_rows<kRows>(b, same_in_all<kRows>(b.scale()));
    }
    template <std::size_t kRows>
    static HWY_INLINE void gradient(const SoftmaxOptions&, const RowBlock& b, float* g) {
      const WideTag d;
      const PerRow<kRows> mean = mean_gradients<kRows>(b, g);
      const WideVec scale = wide::Set(d, b.scale());
      for (std::size_t key = 0; key < b.keys; key += kWideLanes)
        for (std::size_t r = 0; r < kRows; ++r) {
          const std::size_t at = r * b.stride + key;
          const WideVec w = wide::Mul(scale, wide::LoadU(d, b.weights + at));
          wide::StoreU(wide::Mul(w, wide::Sub(wide::LoadU(d, g + at), mean[r])), d, g + at);
        }
    }
  };
};

}  // namespace eureka::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
