// The weights of NormSoftmax and of the rules that are it at another strength.
#pragma once

#include "kernels/rules/norm_softmax.h"
#include "nn/attention_rule.h"

namespace eureka {

inline at::Tensor norm_softmax_rows(const NormSoftmaxOptions& options, const at::Tensor& logits,
                                    const AttentionContext& context) {
  // Softmax does not see the mean; taking it out first keeps float32 exact when logits share a large offset.
  const at::Tensor center = centered(logits, context);
  const bool by_sample = options.deviation == NormSoftmaxOptions::Deviation::sample_std;
  const at::Tensor keys = context.visible_keys(logits), degrees = by_sample ? (keys - 1).clamp_min(1) : keys;
  const at::Tensor variance = center.square().sum(-1, /*keepdim=*/true) / degrees + options.epsilon;
  const at::Tensor deviation = options.by_variance() ? variance : variance.sqrt();
  const at::Tensor spread = center * options.spread;
  if (options.cap == NormSoftmaxOptions::Cap::root_width) {
    const at::Tensor divisor = deviation.clamp_max(options.spread / context.scale.inverse_root_width);
    return masked_softmax(context.scale.times_multiple(spread / divisor), context);
  }
  const at::Tensor scale = context.scale.times_scale(at::ones({1}, logits.options()));
  return masked_softmax(spread / at::minimum(deviation, options.spread / scale), context);
}

}  // namespace eureka
