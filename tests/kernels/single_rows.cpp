#include "kernels/single_rows.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/single_rows.cpp"
#include "hwy/foreach_target.h"
// After foreach_target.
#include "kernels/attention_rules-inl.h"

HWY_BEFORE_NAMESPACE();
namespace eureka::HWY_NAMESPACE {
namespace {

void weights_now(const RowRule& rule, const AttentionRow& row) {
  with_rule(rule, [&](auto kernel, const auto& options) HWY_ATTR { decltype(kernel)::weights(options, row); });
}

float gradient_now(const RowRule& rule, const AttentionRow& row, float* gradient) {
  float by_multiple = 0;
  with_rule(rule, [&](auto kernel, const auto& options) HWY_ATTR {
    by_multiple = decltype(kernel)::gradient(options, row, gradient, row.logits != nullptr);
  });
  return by_multiple;
}

}  // namespace
}  // namespace eureka::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace eureka {

HWY_EXPORT(weights_now);
HWY_EXPORT(gradient_now);

void row_weights(const RowRule& rule, const AttentionRow& row) { HWY_DYNAMIC_DISPATCH(weights_now)(rule, row); }

float row_gradient(const RowRule& rule, const AttentionRow& row, float* gradient) {
  return HWY_DYNAMIC_DISPATCH(gradient_now)(rule, row, gradient);
}

}  // namespace eureka
#endif
