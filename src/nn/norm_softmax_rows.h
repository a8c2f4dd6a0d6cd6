// The weights of NormSoftmax and of the rules that are it at another strength.
#pragma once

#include "kernels/rules/norm_softmax.h"
#include "nn/attention_rule.h"

namespace eureka {

inline at::Tensor norm_softmax_rows(const NormSoftmaxOptions& options, const at::Tensor& logits,
                                    const AttentionContext& context) {
  // Softmax does not see the mean; taking it out first keeps float32 exact when logits share a large offset.
  const at::Tensor center = centered(logits, context);
  const at::Tensor variance =
      center.square().sum(-1, /*keepdim=*/true) / context.visible_keys(logits) + options.epsilon;
  const at::Tensor deviation = options.by_variance() ? variance : variance.sqrt();
  const at::Tensor divisor = deviation.clamp_max(options.spread / context.scale.inverse_root_width);
  return masked_softmax(context.scale.times_multiple(center * options.spread / divisor), context);
}

}  // namespace eureka
