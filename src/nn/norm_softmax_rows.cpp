#include "nn/norm_softmax_rows.h"

#include <algorithm>

#include "nn/long_attention.h"

namespace eureka {
namespace {

// Rows at the beginning of a causal sequence that are computed by their logits: with few keys the divisor can be next
// to 0, and float32 then needs logits less their mean before they are divided.
constexpr std::int64_t kFirstRows = 64;

// What a row is divided by, from the sum of squares of its logits about their mean.
at::Tensor divisor_of(const NormSoftmaxOptions& options, const at::Tensor& scatter, const at::Tensor& keys,
                      const AttentionContext& context) {
  const bool by_sample = options.deviation == NormSoftmaxOptions::Deviation::sample_std;
  const at::Tensor variance = scatter / (by_sample ? (keys - 1).clamp_min(1) : keys) + options.epsilon;
  const at::Tensor deviation = options.by_variance() ? variance : variance.sqrt();
  if (options.cap == NormSoftmaxOptions::Cap::root_width)
    return deviation.clamp_max(options.spread / context.scale.inverse_root_width);
  const at::Tensor scale = context.scale.times_scale(at::ones({1}, scatter.options()));
  return at::minimum(deviation, options.spread / scale);
}

// x, logits or the queries they are linear in, at the strength of the rule.
at::Tensor divided(const NormSoftmaxOptions& options, const at::Tensor& x, const at::Tensor& divisor,
                   const AttentionContext& context) {
  const at::Tensor row = x * options.spread / divisor;
  return options.cap == NormSoftmaxOptions::Cap::root_width ? context.scale.times_multiple(row) : row;
}

at::Tensor outputs_by_rows(const NormSoftmaxOptions& options, const AttentionHeads& heads, AttentionContext context,
                           std::int64_t rows) {
  const auto first = [&](const at::Tensor& x) { return x.narrow(-2, 0, rows); };
  context.mask = at::ones({rows, rows}, heads.q.options().dtype(at::kBool)).tril();
  const at::Tensor logits = at::matmul(first(heads.q), first(heads.k).transpose(-2, -1));
  return at::matmul(norm_softmax_rows(options, logits, context), first(heads.v));
}

}  // namespace

at::Tensor norm_softmax_rows(const NormSoftmaxOptions& options, const at::Tensor& logits,
                             const AttentionContext& context) {
  // Softmax does not see the mean; taking it out first keeps float32 exact when logits share a large offset.
  const at::Tensor center = centered(logits, context);
  const at::Tensor scatter = center.square().sum(-1, /*keepdim=*/true);
  const at::Tensor divisor = divisor_of(options, scatter, context.visible_keys(logits), context);
  return masked_softmax(divided(options, center, divisor, context), context);
}

at::Tensor norm_softmax_attention(const NormSoftmaxOptions& options, const AttentionHeads& heads,
                                  const AttentionContext& context) {
  // Deviations in bfloat16 would be no deviations.
  const c10::impl::ExcludeDispatchKeyGuard no_autocast(c10::autocast_dispatch_keyset);
  const at::ScalarType narrow = heads.v.scalar_type(), exact = narrow == at::kDouble ? at::kDouble : at::kFloat;
  const at::Tensor q = heads.q.to(exact);
  at::Tensor k = heads.k.to(exact);
  // Softmax does not feel what all keys have in common, rounding does.
  k = k - k.mean(-2, /*keepdim=*/true).detach();
  const at::Tensor scatter = logit_scatter(q, k, heads.causal).clamp_min(0);
  const at::Tensor divisor = divisor_of(options, scatter, keys_seen(k, heads.causal), context);
  const at::Tensor sharp = divided(options, q, divisor, context).to(narrow);
  if (!heads.causal) return long_softmax_attention(sharp, k.to(narrow), heads.v, false);

  const std::int64_t first = std::min(kFirstRows, q.size(-2)), rest = q.size(-2) - first;
  const at::Tensor later = at::constant_pad_nd(sharp.narrow(-2, first, rest), {0, 0, first, 0});
  const at::Tensor out = long_softmax_attention(later, k.to(narrow), heads.v, true);
  const at::Tensor beginning = outputs_by_rows(options, {q, k, heads.v.to(exact), true}, context, first).to(narrow);
  return at::cat({beginning, out.narrow(-2, first, rest)}, -2);
}

}  // namespace eureka
