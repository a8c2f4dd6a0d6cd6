// Attention over long sequences in memory linear in the tokens: nobody keeps a matrix of queries by keys.
// q, k, v: samples x heads x tokens x width. causal: query i sees keys 0 to i; otherwise every query sees all.
#pragma once

#include "nn/torch.h"

namespace eureka {

// softmax(q k') v. Differentiable once.
at::Tensor long_softmax_attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, bool causal);

// How many keys each query sees, tokens x 1 or 1 x 1.
at::Tensor keys_seen(const at::Tensor& k, bool causal);

// The sum of squares of a query's logits q.k about their mean over the keys that it sees, from the scatter matrix of
// these keys: samples x heads x tokens x 1.
at::Tensor logit_scatter(const at::Tensor& q, const at::Tensor& k, bool causal);

}  // namespace eureka
