#include "nn/attention_rule.h"

#include "base/error.h"

namespace eureka {
namespace {

// Low enough that exp gives 0 next to any real logit, finite so that a row without visible keys stays free of NaN.
double hidden_logit(const at::Tensor& logits) { return logits.scalar_type() == at::kHalf ? -3e4 : -1e30; }

}  // namespace

at::Tensor AttentionScale::times_multiple(const at::Tensor& x) const {
  if (learned_multiple.defined()) return x * learned_multiple;
  return multiple == 1 ? x : x * multiple;
}

at::Tensor AttentionScale::times_scale(const at::Tensor& x) const {
  if (learned_multiple.defined()) return x * (learned_multiple * inverse_root_width);
  return x * (multiple * inverse_root_width);
}

at::Tensor AttentionContext::visible_keys(const at::Tensor& logits) const {
  if (!masked()) return at::full({1}, static_cast<double>(logits.size(-1)), logits.options());
  return mask.to(logits.scalar_type()).sum(-1, /*keepdim=*/true).clamp_min(1);
}

at::Tensor AttentionRule::outputs(const AttentionHeads&, const AttentionContext&) const {
  EUREKA_CHECK(false, "outputs() is asked of rules that spare their weights");
  return {};
}

at::Tensor masked_softmax(const at::Tensor& logits, const AttentionContext& context) {
  if (!context.masked()) return at::softmax(logits, -1);
  return context.hide(at::softmax(logits.masked_fill(~context.mask, hidden_logit(logits)), -1));
}

at::Tensor centered(const at::Tensor& logits, const AttentionContext& context) {
  if (!context.masked()) return logits - logits.mean(-1, /*keepdim=*/true);
  const at::Tensor mean = context.hide(logits).sum(-1, /*keepdim=*/true) / context.visible_keys(logits);
  return context.hide(logits - mean);
}

}  // namespace eureka
