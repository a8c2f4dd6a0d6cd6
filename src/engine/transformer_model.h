// The transformer as the fused engine sees it: sizes, and where each parameter lies in the flat buffer.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "engine/fused_network.h"
#include "engine/transformer_layout.h"
#include "kernels/attention.h"
#include "kernels/buffer.h"
#include "kernels/fused_rules.h"

namespace eureka {

struct TransformerBlock {
  Slot norm1_gain, norm1_bias, norm2_gain, norm2_bias;
  Slot q, k, v, q_bias, k_bias, v_bias;
  Slot proj, proj_bias, fc1, fc1_bias, fc2, fc2_bias;
  Slot log_scale;
  Slot q_gain, k_gain, log_factor, scale_factor;                         // of the rule, by their roles
  std::string attention_dropout, mlp_dropout, attention_path, mlp_path;  // names of random streams
  double path_rate = 0;

  Slot& of(RuleParameterRole role);
};

// How much of the model is computed: what training needs, or all of it, for those who look inside.
enum class Extent { needed, whole };

struct TransformerModel {
  explicit TransformerModel(const EngineConfig& config, Extent extent = Extent::needed);

  TransformerPlan plan;
  TransformerOptions options;
  ScaleOptions scale;
  std::int64_t total_steps;
  HeadInterventions interventions;
  FusedRule rule;
  bool learned_scale;
  bool learned_factor;  // on the scale of each head: a parameter of the rule
  bool
      learned_multiples;  // somebody wants the gradient by the factors on the logits: a learned scale, a learned factor
  bool keeps_logits;      // the backward pass needs them beside the weights
  bool keeps_attention;   // logits and weights are kept for it; else it computes them again from queries and keys
  bool prepared;          // queries and keys are normed or turned between their projection and where they meet
  bool cls_only;          // the last block computes the cls row alone
  bool asked_only;        // it computes what follows attention for the tokens alone that are asked to answer
  bool absorbed;          // and forms no keys and values
  std::uint64_t seed;

  std::size_t tokens;   // with the cls token
  std::size_t given;    // without it
  std::size_t answers;  // predictions per sample
  std::size_t width, padded_width, stride;
  std::size_t hidden, hidden_stride;
  std::size_t heads, head_width;
  float inverse_root_width;  // 1 / sqrt(head width)
  std::size_t qkv_stride;
  std::size_t inputs, input_stride;
  std::size_t classes, class_stride;
  std::size_t microbatch;  // samples that go through the net together

  FlatLayout layout;
  Slot embed, embed_bias, cls, positions, norm_gain, norm_bias, head, head_bias;
  std::vector<TransformerBlock> blocks;
  std::string embedding_dropout = "dropout embedding", no_path;  // names of random streams

  int last() const { return options.depth - 1; }
  InputKind input() const { return plan.shape.input(); }
  // Row of the first given token.
  std::size_t first_given() const { return tokens - given; }
  // Of a microbatch, where every token is a query.
  AttentionShape attention_shape() const { return {microbatch, tokens, tokens, heads, head_width}; }
  bool noisy(const TransformerBlock& block) const { return options.dropout > 0 || block.path_rate > 0; }
};

}  // namespace eureka
