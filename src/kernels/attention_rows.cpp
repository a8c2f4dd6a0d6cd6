#include "kernels/attention_rows.h"

#include <array>

#include "base/exact_math.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/attention_rows.cpp"
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

float log_of_count(float count) {
  constexpr std::size_t kKnown = 1024;
  static const std::array<float, kKnown> known = [] {
    std::array<float, kKnown> logs;
    for (std::size_t n = 0; n < kKnown; ++n) logs[n] = exact::log(static_cast<float>(n));
    return logs;
  }();
  return count < kKnown ? known[static_cast<std::size_t>(count)] : exact::log(count);
}

}  // namespace eureka
#endif
