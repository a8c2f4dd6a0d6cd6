// The kernels of all rules in rules/, and the choice of one. Included once per instruction set.
#if defined(EUREKA_KERNELS_ATTENTION_RULES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef EUREKA_KERNELS_ATTENTION_RULES_INL_H_
#undef EUREKA_KERNELS_ATTENTION_RULES_INL_H_
#else
#define EUREKA_KERNELS_ATTENTION_RULES_INL_H_
#endif

#include "kernels/attention_blocks-inl.h"
#include "kernels/attention_rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace eureka::HWY_NAMESPACE {

// A rule on one row. Every rule with rows of its own specializes it:
//
//   static HWY_INLINE void weights(const Options& options, const AttentionRow& row);
//   static HWY_INLINE float gradient(const Options& options, const AttentionRow& row, float* g, bool learned);
//
// The gradient turns d loss / d weights into d loss / d logits, in place, and returns d loss / d ln(multiple), which is
// asked for only where `learned`; `logits` holds them still where that or the rule's own gradient needs them. A struct
// Block with weights<kRows>(options, block) and gradient<kRows>(options, block, g) does kRows rows side by side.
template <class Options>
struct RowKernel;

template <class Kernel>
inline constexpr bool has_block = requires {
  typename Kernel::Block;
};

}  // namespace eureka::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#define EUREKA_RULE_KERNELS
#include "kernels/rule_list.h"
#undef EUREKA_RULE_KERNELS

HWY_BEFORE_NAMESPACE();
namespace eureka::HWY_NAMESPACE {

// Calls action(kernel, options) for the rule at hand.
template <std::size_t kIndex = 0, class Action>
HWY_INLINE void with_rule(const RowRule& rule, const Action& action) {
  if constexpr (kIndex < std::variant_size_v<RowRule>) {
    using Options = std::variant_alternative_t<kIndex, RowRule>;
    if constexpr (has_own_rows<Options>)
      if (rule.index() == kIndex) return action(RowKernel<Options>(), *std::get_if<kIndex>(&rule));
    with_rule<kIndex + 1>(rule, action);
  }
}

}  // namespace eureka::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
