// NormSoftmax, and the rules that are it at another strength.
#pragma once

#include "kernels/rules/norm_softmax.h"
#include "nn/attention_rule.h"

namespace eureka {

at::Tensor norm_softmax_rows(const NormSoftmaxOptions& options, const at::Tensor& logits,
                             const AttentionContext& context);

// The same without the logits (docs/flash-norm-softmax.md).
at::Tensor norm_softmax_attention(const NormSoftmaxOptions& options, const AttentionHeads& heads,
                                  const AttentionContext& context);

}  // namespace eureka
