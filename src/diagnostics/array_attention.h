// The diagnostics of attention on arrays that no engine of ours made: anybody's queries, keys and values, with the
// gradient by what their attention gave, where that is known.
//
//   ArrayAttention given{.q = q, .k = k, .v = v, .d_out = d_out, .scale = {0.125F, 0.125F}, .causal = true};
//   const ArrayLook look = look_at_arrays(given, make_fused_rule("softmax"), 3);
//   look.numbers                  "attention/entropy/layer3/head0", 0.93; ...
//   look.tensors.d_q              what the numbers were worked out from
//
// Products are in float32, what is done to a row of logits in double. Numbers that need d_out are left out without it.
#pragma once

#include <cstdint>
#include <vector>

#include "diagnostics/diagnostic.h"
#include "kernels/fused_rules.h"

namespace eureka {

// One number for every head, query and key of every sample; a stride of 0 says that there is one for all of them. Keys
// lie side by side, unless one stands for all.
template <class T>
struct PairView {
  const T* data = nullptr;
  std::int64_t sample_stride = 0, head_stride = 0, query_stride = 0, key_stride = 1;

  bool exists() const { return data != nullptr; }
  T at(std::int64_t sample, std::int64_t head, std::int64_t query, std::int64_t key) const {
    return data[sample * sample_stride + head * head_stride + query * query_stride + key * key_stride];
  }
};

// samples x heads x tokens x width. Keys may be others than queries (cross-attention), and values of another width;
// keys and values may have fewer heads, each then shared by as many neighboring heads of queries.
struct ArrayAttention {
  TensorView q, k, v;
  TensorView d_out = {};
  std::vector<float> scale = {};  // per head of queries: multiplies q.k
  bool causal = false;            // query i sees keys 0 to i
  PairView<std::uint8_t> visible = {};
  PairView<float> bias = {};  // added to the scaled logits; below kHiddenBias it hides the key
};
inline constexpr float kHiddenBias = -1e4F;

// As the diagnostics were shown them, laid out in full, with a head of keys and values for each of queries. Empty:
// there was no d_out.
struct ArrayTensors {
  std::vector<float> weights, out, d_weights, d_scaled_logits, d_q, d_k, d_v;
};

struct ArrayLook {
  NamedNumbers numbers;
  ArrayTensors tensors;
};

// Throws Error(input) for shapes that do not fit each other, or a rule whose weights are no known function of a row.
ArrayLook look_at_arrays(const ArrayAttention& given, const FusedRule& rule, int layer);

}  // namespace eureka
