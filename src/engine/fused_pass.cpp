#include "engine/fused_pass.h"

#include <algorithm>
#include <utility>

namespace eureka {
namespace {

// Floats of one block's buffers, in one place so that they can be counted before they are made.
struct BlockSizes {
  std::size_t x, n1, rows, qkv, raw, logits, weights, heads, cls, cls_rows, hidden, noise;

  BlockSizes(const FusedModel& m, int layer) {
    const bool last = m.cls_only && layer == m.last();
    rows = m.microbatch * m.tokens;
    cls_rows = last ? m.microbatch : rows;
    x = n1 = rows * m.stride;
    qkv = last && m.absorbed ? 0 : rows * m.qkv_stride;
    raw = m.rule.head_norm ? qkv : 0;
    weights = m.microbatch * m.heads * (last ? 1 : m.tokens) * round_up(m.tokens);
    logits = m.keeps_logits ? weights : 0;
    heads = cls = cls_rows * m.stride;
    hidden = cls_rows * m.hidden_stride;
    noise = m.noisy(m.blocks[static_cast<std::size_t>(layer)]) ? cls : 0;
  }
  std::size_t total() const {
    return x + n1 + 2 * rows + qkv + raw + logits + weights + heads + 2 * cls + 2 * cls_rows + 2 * hidden + 2 * noise;
  }
};

}  // namespace

FusedPass::FusedPass(const FusedModel& model, const FusedWeights& weights) : model_(model), weights_(weights) {
  const FusedModel& m = model;
  for (int layer = 0; layer < m.options.depth; ++layer) {
    const BlockSizes size(m, layer);
    Block b;
    b.x = Buffer(size.x);
    b.n1 = Buffer(size.n1);
    b.mean1 = Buffer(size.rows);
    b.scale1 = Buffer(size.rows);
    b.qkv = Buffer(size.qkv);
    b.raw = Buffer(size.raw);
    b.logits = Buffer(size.logits);
    b.weights = Buffer(size.weights);
    b.heads = Buffer(size.heads);
    b.x1 = Buffer(size.cls);
    b.n2 = Buffer(size.cls);
    b.mean2 = Buffer(size.cls_rows);
    b.scale2 = Buffer(size.cls_rows);
    b.h = Buffer(size.hidden);
    b.slope = Buffer(size.hidden);
    b.attention_noise = Buffer(size.noise);
    b.mlp_noise = Buffer(size.noise);
    blocks_.push_back(std::move(b));
  }
  const std::size_t n = m.microbatch, rows = n * m.tokens, per_head = n * m.heads, answers = n * m.answers;
  inputs_ = Buffer(rows * m.input_stride);
  visible_ = Buffer(n * round_up(m.tokens));
  embed_noise_ = Buffer(m.options.dropout > 0 ? rows * m.stride : 0);
  x_last_ = Buffer((m.cls_only ? n : rows) * m.stride);
  n_last_ = Buffer(answers * m.stride);
  mean_last_ = Buffer(answers);
  scale_last_ = Buffer(answers);
  logits_ = Buffer(answers * m.class_stride);
  d_logits_ = Buffer(answers * m.class_stride);
  cls_q_ = Buffer(n * m.stride);
  cls_raw_ = Buffer(m.rule.head_norm ? n * m.stride : 0);
  u_ = Buffer(per_head * m.stride);
  z_ = Buffer(per_head * m.stride);
  logit_offsets_ = Buffer(per_head);
  dx_ = Buffer(rows * m.stride);
  dn_ = Buffer(rows * m.stride);
  dqkv_ = Buffer(rows * m.qkv_stride);
  dh_ = Buffer(rows * m.hidden_stride);
  d_heads_ = Buffer(rows * m.stride);
  dy_ = Buffer(rows * m.stride);
  cls_dx_ = Buffer(n * m.stride);
  cls_dq_ = Buffer(n * m.stride);
  du_ = Buffer(per_head * m.stride);
  dz_ = Buffer(per_head * m.stride);
  weight_offsets_ = Buffer(per_head);
  d_logit_sums_ = Buffer(per_head);
  d_multiples_ = Buffer(m.heads);
  scratch_ = Buffer(AttentionShape{n, m.tokens, m.tokens, m.heads, m.head_width}.scratch_floats());
}

std::size_t FusedPass::floats(const FusedModel& m) {
  const std::size_t n = m.microbatch, rows = n * m.tokens;
  std::size_t total = rows * (m.input_stride + 5 * m.stride + m.qkv_stride + m.hidden_stride) +
                      n * (3 + 4 * m.heads + m.answers) * m.stride + (m.cls_only ? n : rows) * m.stride +
                      2 * n * m.answers * m.class_stride + n * round_up(m.tokens) +
                      AttentionShape{n, m.tokens, m.tokens, m.heads, m.head_width}.scratch_floats();
  for (int layer = 0; layer < m.options.depth; ++layer) total += BlockSizes(m, layer).total();
  return total;
}

HeadRules FusedPass::head_rules(int layer) const {
  return {.row = model_.rule.row,
          .inverse_root_width = model_.inverse_root_width,
          .multiples = weights_.block(layer).multiples.data(),
          .learned = model_.learned_multiples,
          .mask = {.causal = model_.plan.causal,
                   .visible = all_visible_ ? nullptr : visible_.data(),
                   .stride = round_up(model_.tokens)}};
}

NormShape FusedPass::norm_shape(std::size_t rows) const {
  return {rows, model_.width, static_cast<float>(model_.options.norm_epsilon)};
}

MatrixA FusedPass::residual(int layer) {
  return {block(layer).x.data(), only_cls(layer) ? model_.tokens * model_.stride : model_.stride};
}

}  // namespace eureka
