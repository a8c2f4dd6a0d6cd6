// Attention of a few samples, forward and backward: products of queries, keys and values with a row rule between them.
#pragma once

#include <cstdint>

#include "kernels/attention_rows.h"
#include "kernels/gemm.h"

namespace eureka {

struct AttentionShape {
  std::size_t samples;
  std::size_t queries;  // per sample
  std::size_t keys;     // per sample
  std::size_t heads;
  std::size_t head_width;

  std::size_t weight_stride() const { return round_up(keys); }
  // Floats of all weights: samples x heads x queries rows.
  std::size_t weight_floats() const { return samples * heads * queries * weight_stride(); }
  // Heads of samples whose rows are worked on together: about 70 rows stay in the first-level cache.
  std::size_t units_at_once() const { return queries < 36 ? 72 / queries : 1; }
  // Rows of one of them that are, where it has many. Pieces end at whole cache lines.
  std::size_t rows_at_once() const {
    constexpr std::size_t kRows = 96;
    const std::size_t pieces = (queries + kRows - 1) / kRows;
    return queries < kRows + kPanel ? queries : round_up((queries + pieces - 1) / pieces);
  }
  // Floats of scratch memory the functions below need, whatever the number of samples: linear in the tokens.
  std::size_t scratch_floats() const { return 2 * transposed_floats() + 3 * piece_floats() + kPanel; }
  std::size_t transposed_floats() const { return head_width * row_stride(keys); }
  std::size_t piece_floats() const {
    const std::size_t rows = units_at_once() * rows_at_once();
    return (rows > heads ? rows : heads) * weight_stride();
  }
};

// Which keys a query sees.
struct AttentionMask {
  bool causal = false;             // query i sees keys 0 to i
  const float* visible = nullptr;  // 1 or 0 per key, samples x `stride` with room up to weight_stride(); nullptr: all
  std::size_t stride = 0;
};

// Heads whose weights are given instead of computed: no gradient passes from them to queries and keys. They are the
// same on all keys that a query sees and wants; on all it sees where it wants none of them.
struct FixedWeights {
  const std::uint8_t* heads = nullptr;   // 1 for each that is fixed; nullptr: none is
  const std::uint8_t* wanted = nullptr;  // 1 or 0 for so many keys, from the first on; nullptr: all are
  std::size_t wanted_keys = 0, first_wanted = 0;
  bool per_query = false;  // `wanted` has a row for every query, not one for every sample

  bool has(std::size_t head) const { return heads != nullptr && heads[head] != 0; }
};

struct HeadRules {
  RowRule row;
  float inverse_root_width;  // 1 / sqrt(head width)
  const float* multiples;    // of it, one per head
  bool learned = false;      // somebody wants the gradient by the multiples
  AttentionMask mask = {};
  FixedWeights fixed = {};
};

// Where gradients that are otherwise passed on and forgotten are kept, laid out as the weights; nullptr: nowhere.
// Gradients by weights have a meaning only for keys that are seen.
struct AttentionTaps {
  float* d_weights = nullptr;
  float* d_logits = nullptr;
};

// What the forward pass leaves for the backward pass: weight_floats() of each, zero at first, since nothing is written
// where a causal mask hides all keys. `logits` is `weights` itself where the backward pass needs the weights alone.
// Without memory nothing is left, and the backward pass computes both again, to the same bits.
struct AttentionKept {
  float* logits = nullptr;
  float* weights = nullptr;

  bool exists() const { return weights != nullptr; }
};

// out = weights(q k^T) v. Rows of q, k, v and out are tokens; heads lie side by side in a row.
void attention(const AttentionShape& shape, const HeadRules& rule, MatrixA q, MatrixA k, MatrixA v, AttentionKept kept,
               MatrixC out, float* scratch);

// Gradients by q, k, v from d_out, and by ln(multiple) of every head (added). Of what is kept it only reads.
void attention_backward(const AttentionShape& shape, const HeadRules& rule, MatrixA q, MatrixA k, MatrixA v,
                        AttentionKept kept, MatrixA d_out, MatrixC dq, MatrixC dk, MatrixC dv, float* d_log_multiples,
                        float* scratch, AttentionTaps taps = {});

// Attention of one query per sample (the cls token) with the key and value projections absorbed: with u = W_K^T q and
// z = sum of weights * token, logits are u.token and the head's output is W_V z. No key or value is ever formed.
// u, z, du, dz: samples x heads rows of `width`; tokens, d_tokens: samples x keys rows of `width`.
struct AbsorbedShape {
  std::size_t samples;
  std::size_t keys;
  std::size_t heads;
  std::size_t width;  // of a token

  std::size_t weight_stride() const { return round_up(keys); }
};

// logit_offsets (q.b_K per sample and head): nullptr for none.
void absorbed_attention(const AbsorbedShape& shape, const HeadRules& rule, MatrixA u, MatrixA tokens,
                        const float* logit_offsets, float* logits, float* weights, MatrixC z);

// weight_offsets (d_out.b_V per sample and head): nullptr for none. d_logit_sums: sum over keys of d logits, per sample
// and head, nullptr if not wanted. Overwrites du and d_tokens.
void absorbed_attention_backward(const AbsorbedShape& shape, const HeadRules& rule, MatrixA u, MatrixA tokens,
                                 const float* logits, const float* weights, MatrixA dz, const float* weight_offsets,
                                 MatrixC du, MatrixC d_tokens, float* d_logit_sums, float* d_log_multiples,
                                 float* scratch);

}  // namespace eureka
