#include "engine/fused_pass.h"

namespace eureka {

std::vector<FusedPass::Memory<FusedPass::Block>> FusedPass::memory_of_block(const FusedModel& m, int layer) {
  const bool last = m.cls_only && layer == m.last();
  const std::size_t rows = m.microbatch * m.tokens, own_rows = last ? m.microbatch : rows;
  const std::size_t qkv = last && m.absorbed ? 0 : rows * m.qkv_stride;
  const std::size_t weights = m.microbatch * m.heads * (last ? 1 : m.tokens) * round_up(m.tokens);
  const std::size_t noise = m.noisy(m.blocks[static_cast<std::size_t>(layer)]) ? own_rows * m.stride : 0;
  return {{&Block::x, rows * m.stride},
          {&Block::n1, rows * m.stride},
          {&Block::mean1, rows},
          {&Block::scale1, rows},
          {&Block::qkv, qkv},
          {&Block::raw, m.rule.head_norm ? qkv : 0},
          {&Block::logits, m.keeps_logits ? weights : 0},
          {&Block::weights, weights},
          {&Block::heads, own_rows * m.stride},
          {&Block::x1, own_rows * m.stride},
          {&Block::n2, own_rows * m.stride},
          {&Block::mean2, own_rows},
          {&Block::scale2, own_rows},
          {&Block::h, own_rows * m.hidden_stride},
          {&Block::slope, own_rows * m.hidden_stride},
          {&Block::attention_noise, noise},
          {&Block::mlp_noise, noise}};
}

std::vector<FusedPass::Memory<FusedPass>> FusedPass::memory(const FusedModel& m) {
  const std::size_t n = m.microbatch, rows = n * m.tokens, per_head = n * m.heads, answers = n * m.answers;
  return {{&FusedPass::inputs_, rows * m.input_stride},
          {&FusedPass::visible_, n * round_up(m.tokens)},
          {&FusedPass::embed_noise_, m.options.dropout > 0 ? rows * m.stride : 0},
          {&FusedPass::x_last_, (m.cls_only ? n : rows) * m.stride},
          {&FusedPass::n_last_, answers * m.stride},
          {&FusedPass::mean_last_, answers},
          {&FusedPass::scale_last_, answers},
          {&FusedPass::logits_, answers * m.class_stride},
          {&FusedPass::d_logits_, answers * m.class_stride},
          {&FusedPass::cls_q_, n * m.stride},
          {&FusedPass::cls_raw_, m.rule.head_norm ? n * m.stride : 0},
          {&FusedPass::u_, per_head * m.stride},
          {&FusedPass::z_, per_head * m.stride},
          {&FusedPass::logit_offsets_, per_head},
          {&FusedPass::dx_, rows * m.stride},
          {&FusedPass::dn_, rows * m.stride},
          {&FusedPass::dqkv_, rows * m.qkv_stride},
          {&FusedPass::dh_, rows * m.hidden_stride},
          {&FusedPass::d_heads_, rows * m.stride},
          {&FusedPass::dy_, rows * m.stride},
          {&FusedPass::cls_dx_, n * m.stride},
          {&FusedPass::cls_dq_, n * m.stride},
          {&FusedPass::du_, per_head * m.stride},
          {&FusedPass::dz_, per_head * m.stride},
          {&FusedPass::weight_offsets_, per_head},
          {&FusedPass::d_logit_sums_, per_head},
          {&FusedPass::d_multiples_, m.heads},
          {&FusedPass::scratch_, AttentionShape{n, m.tokens, m.tokens, m.heads, m.head_width}.scratch_floats()}};
}

FusedPass::FusedPass(const FusedModel& model, const FusedWeights& weights) : model_(model), weights_(weights) {
  for (int layer = 0; layer < model.options.depth; ++layer) {
    Block& block = blocks_.emplace_back();
    for (const auto& [buffer, floats] : memory_of_block(model, layer)) block.*buffer = Buffer(floats);
  }
  for (const auto& [buffer, floats] : memory(model)) this->*buffer = Buffer(floats);
}

std::size_t FusedPass::floats(const FusedModel& model) {
  std::size_t total = 0;
  for (const auto& part : memory(model)) total += part.floats;
  for (int layer = 0; layer < model.options.depth; ++layer)
    for (const auto& part : memory_of_block(model, layer)) total += part.floats;
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

void FusedPass::begin_showing(FusedObserver& observer) {
  observer.begin({first_, count_}, all_visible_ ? nullptr : visible_.data(), round_up(model_.tokens));
}

FusedObserver::Attention FusedPass::attention_values(int layer) {
  const Block& b = block(layer);
  const std::size_t p = model_.padded_width, ld = model_.qkv_stride;
  const float* values = model_.rule.head_norm ? b.raw.data() : b.qkv.data();
  return {.q = {b.qkv.data(), ld},
          .k = {b.qkv.data() + p, ld},
          .v = {values + 2 * p, ld},
          .head_output = {b.heads.data(), model_.stride},
          .logits = b.logits.data(),
          .weights = b.weights.data(),
          .multiples = weights_.block(layer).scales.data()};
}

void FusedPass::show(FusedObserver& observer) {
  begin_showing(observer);
  for (int layer = 0; layer < model_.options.depth; ++layer) {
    observer.residual(layer, block(layer).x.data(), nullptr);
    observer.attention(layer, attention_values(layer));
  }
  observer.residual(model_.options.depth, x_last_.data(), nullptr);
}

NormShape FusedPass::norm_shape(std::size_t rows) const {
  return {rows, model_.width, static_cast<float>(model_.options.norm_epsilon)};
}

MatrixA FusedPass::residual(int layer) {
  return {block(layer).x.data(), only_cls(layer) ? model_.tokens * model_.stride : model_.stride};
}

}  // namespace eureka
