// An attention rule: how the logits of a query become the weights on its keys.
//
//   logits = q.k (unscaled), rows of keys; mask true where a key is visible
//   weights = rule.weights(logits, context)
//
// Ensures: a hidden key gets weight exactly 0 and no gradient flows to it; statistics of a row count its visible keys
// only; a row with one visible key, equal logits or no visible key at all has finite weights and finite gradients;
// differentiable twice. row_sum() says what the weights of a row add up to.
//
// One rule is one file in attention/, registered by EUREKA_ATTENTION_RULE.
#pragma once

#include <optional>
#include <vector>

#include "base/registry.h"
#include "engine/parameters.h"
#include "nn/torch.h"

namespace eureka {

// The scale in force: a multiple of 1/sqrt(head width), the same for all heads or one per head (shape heads x 1 x 1).
struct AttentionScale {
  double multiple = 1;
  double inverse_root_width = 1;
  at::Tensor learned_multiple;

  // x * multiple, and x * multiple / sqrt(head width)
  at::Tensor times_multiple(const at::Tensor& x) const;
  at::Tensor times_scale(const at::Tensor& x) const;
};

struct AttentionContext {
  AttentionScale scale;
  at::Tensor mask;                     // bool, broadcasts to the logits; undefined: all keys visible
  std::vector<at::Tensor> parameters;  // those the rule declared, in that order

  bool masked() const { return mask.defined(); }
  // How many keys each query sees, shaped to broadcast over its row.
  at::Tensor visible_keys(const at::Tensor& logits) const;
  // Weights with hidden keys set to 0.
  at::Tensor hide(const at::Tensor& weights) const { return masked() ? weights.masked_fill(~mask, 0) : weights; }
};

// What meets in attention, each samples x heads x tokens x width. causal: query i sees keys 0 to i, otherwise all.
struct AttentionHeads {
  at::Tensor q, k, v;
  bool causal = false;
};

enum class RowSum { one, at_most_one, any };

struct HeadShape {
  std::int64_t heads = 1;
  std::int64_t width = 1;  // of one head
};

class AttentionRule {
 public:
  virtual ~AttentionRule() = default;

  virtual RowSum row_sum() const { return RowSum::one; }

  // Parameters of the rule in one block; names are completed with "blocks.N.attn.".
  virtual std::vector<ParameterSpec> parameters(const HeadShape&) const { return {}; }

  // Changes queries and keys (batch x heads x tokens x width) before they meet.
  virtual void prepare(at::Tensor& /*q*/, at::Tensor& /*k*/, const AttentionContext&) const {}

  virtual at::Tensor weights(const at::Tensor& logits, const AttentionContext& context) const = 0;

  // Whether the rule has outputs(): those of weights(), to rounding, in memory linear in the tokens. No mask but the
  // causal one; differentiable once.
  virtual bool spares_weights() const { return false; }
  virtual at::Tensor outputs(const AttentionHeads& heads, const AttentionContext& context) const;
};

// Softmax over the visible keys; rows that see nothing are all 0.
at::Tensor masked_softmax(const at::Tensor& logits, const AttentionContext& context);

// Mean over the visible keys of each row, and the logits minus it (0 at hidden keys).
at::Tensor centered(const at::Tensor& logits, const AttentionContext& context);

}  // namespace eureka

#define EUREKA_ATTENTION_RULE(name, Class, Options, description) \
  EUREKA_REGISTER(::eureka::AttentionRule, "attention", name, Class, Options, description)
