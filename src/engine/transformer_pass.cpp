#include "engine/transformer_pass.h"

#include <cstring>

#include "base/work_part.h"
#include "kernels/elementwise.h"

namespace eureka {

std::vector<TransformerPass::Memory<TransformerPass::Block>> TransformerPass::memory_of_block(const TransformerModel& m,
                                                                                              int layer) {
  const bool last = m.cls_only && layer == m.last();
  const std::size_t rows = m.microbatch * m.tokens, own_rows = last ? m.microbatch : rows;
  const std::size_t mlp_rows = m.hidden > 0 ? own_rows : 0;
  const std::size_t qkv = last && m.absorbed ? 0 : rows * m.qkv_stride;
  const std::size_t weights = keeps(m, layer) ? own_rows * m.heads * round_up(m.tokens) : 0;
  const std::size_t noise = m.noisy(m.blocks[static_cast<std::size_t>(layer)]) ? own_rows * m.stride : 0;
  return {{&Block::x, rows * m.stride},
          {&Block::n1, rows * m.stride},
          {&Block::mean1, rows},
          {&Block::scale1, rows},
          {&Block::qkv, qkv},
          {&Block::raw, m.prepared ? qkv : 0},
          {&Block::logits, m.keeps_logits ? weights : 0},
          {&Block::weights, weights},
          {&Block::heads, own_rows * m.stride},
          {&Block::x1, mlp_rows * m.stride},
          {&Block::n2, mlp_rows * m.stride},
          {&Block::mean2, mlp_rows},
          {&Block::scale2, mlp_rows},
          {&Block::h, mlp_rows * m.hidden_stride},
          {&Block::slope, mlp_rows * m.hidden_stride},
          {&Block::attention_noise, noise},
          {&Block::mlp_noise, noise}};
}

std::vector<TransformerPass::Memory<TransformerPass>> TransformerPass::memory(const TransformerModel& m) {
  const std::size_t n = m.microbatch, rows = n * m.tokens, per_head = n * m.heads, answers = n * m.answers;
  return {{&TransformerPass::inputs_, rows * m.input_stride},
          {&TransformerPass::visible_, n * round_up(m.tokens)},
          {&TransformerPass::embed_noise_, m.options.dropout > 0 ? rows * m.stride : 0},
          {&TransformerPass::asked_x_, m.asked_only ? rows * m.stride : 0},
          {&TransformerPass::x_last_, (m.cls_only ? n : rows) * m.stride},
          {&TransformerPass::n_last_, answers * m.stride},
          {&TransformerPass::mean_last_, answers},
          {&TransformerPass::scale_last_, answers},
          {&TransformerPass::logits_, answers * m.class_stride},
          {&TransformerPass::d_logits_, answers * m.class_stride},
          {&TransformerPass::cls_q_, n * m.stride},
          {&TransformerPass::cls_raw_, m.rule.head_norm ? n * m.stride : 0},
          {&TransformerPass::u_, per_head * m.stride},
          {&TransformerPass::z_, per_head * m.stride},
          {&TransformerPass::logit_offsets_, per_head},
          {&TransformerPass::dx_, rows * m.stride},
          {&TransformerPass::dn_, rows * m.stride},
          {&TransformerPass::dqkv_, rows * m.qkv_stride},
          {&TransformerPass::dh_, rows * m.hidden_stride},
          {&TransformerPass::d_heads_, rows * m.stride},
          {&TransformerPass::dy_, rows * m.stride},
          {&TransformerPass::cls_dx_, n * m.stride},
          {&TransformerPass::cls_dq_, n * m.stride},
          {&TransformerPass::du_, per_head * m.stride},
          {&TransformerPass::dz_, per_head * m.stride},
          {&TransformerPass::weight_offsets_, per_head},
          {&TransformerPass::d_logit_sums_, per_head},
          {&TransformerPass::d_multiples_, m.heads},
          {&TransformerPass::scratch_, m.attention_shape().scratch_floats()}};
}

TransformerPass::TransformerPass(const TransformerModel& model, const TransformerWeights& weights)
    : model_(model), weights_(weights) {
  for (int layer = 0; layer < model.options.depth; ++layer) {
    Block& block = blocks_.emplace_back();
    for (const auto& [buffer, floats] : memory_of_block(model, layer)) block.*buffer = Buffer(floats);
  }
  for (const auto& [buffer, floats] : memory(model)) this->*buffer = Buffer(floats);
  if (model.asked_only) asked_.reserve(model.microbatch * model.tokens);
}

std::size_t TransformerPass::bytes(const TransformerModel& model) {
  std::size_t total = 0;
  for (const auto& part : memory(model)) total += Buffer::bytes(part.floats);
  for (int layer = 0; layer < model.options.depth; ++layer)
    for (const auto& part : memory_of_block(model, layer)) total += Buffer::bytes(part.floats);
  return total;
}

std::size_t TransformerPass::bytes_to_show_rows(const TransformerModel& model) {
  return model.keeps_attention ? 0 : 2 * Buffer::bytes(model.attention_shape().weight_floats());
}

HeadRules TransformerPass::head_rules(int layer) const {
  return {.row = model_.rule.row,
          .inverse_root_width = model_.inverse_root_width,
          .multiples = weights_.block(layer).multiples.data(),
          .learned = model_.learned_multiples,
          .mask = {.causal = model_.plan.causal,
                   .visible = all_visible_ ? nullptr : visible_.data(),
                   .stride = round_up(model_.tokens)},
          .fixed = {.heads = weights_.block(layer).fixed.empty() ? nullptr : weights_.block(layer).fixed.data(),
                    .wanted = wanted_,
                    .wanted_keys = model_.given,
                    .first_wanted = model_.first_given(),
                    .per_query = !model_.plan.has_cls()}};
}

void TransformerPass::begin_showing(TransformerObserver& observer) {
  observer.begin({first_, count_}, all_visible_ ? nullptr : visible_.data(), round_up(model_.tokens));
}

TransformerObserver::Attention TransformerPass::attention_values(int layer, AttentionKept rows) {
  const Block& b = block(layer);
  const std::size_t p = model_.padded_width, ld = model_.qkv_stride;
  const bool prepared = model_.prepared;
  const float* values = prepared ? b.raw.data() : b.qkv.data();
  return {.q = {b.qkv.data(), ld},
          .k = {b.qkv.data() + p, ld},
          .v = {values + 2 * p, ld},
          .head_output = {b.heads.data(), model_.stride},
          .logits = rows.logits,
          .weights = rows.weights,
          .scales = weights_.block(layer).scales.data(),
          .multiples = weights_.block(layer).multiples.data(),
          .q_raw = {prepared ? b.raw.data() : nullptr, ld},
          .k_raw = {prepared ? b.raw.data() + p : nullptr, ld}};
}

AttentionKept TransformerPass::shown(int layer, const TransformerObserver& observer) {
  if (keeps(model_, layer) || !observer.wants_rows(layer)) return kept(layer);
  for (Buffer* buffer : {&seen_logits_, &seen_weights_})
    if (buffer->empty()) *buffer = Buffer(model_.attention_shape().weight_floats());
  const AttentionKept rows{seen_logits_.data(), seen_weights_.data()};
  attend(layer, rows);
  return rows;
}

void TransformerPass::show(TransformerObserver& observer) {
  begin_showing(observer);
  for (int layer = 0; layer < model_.options.depth; ++layer) {
    observer.residual(layer, block(layer).x.data(), nullptr);
    observer.attention(layer, attention_values(layer, shown(layer, observer)));
  }
  observer.residual(model_.options.depth, x_last_.data(), nullptr);
}

NormShape TransformerPass::norm_shape(std::size_t rows) const {
  return {rows, model_.width, static_cast<float>(model_.options.norm_epsilon), model_.options.norm == NormKind::layer};
}

void TransformerPass::normalize(const Slot& gain, const Slot& bias, std::size_t rows, const float* x,
                                std::size_t x_stride, float* y, float* mean, float* scale) {
  const InPart part(WorkPart::layer_norm);
  if (model_.options.norm != NormKind::none) {
    layer_norm(norm_shape(rows), x, x_stride, weights_.at(gain), weights_.at(bias), y, model_.stride, mean, scale);
    return;
  }
  for (std::size_t row = 0; row < rows; ++row)
    std::memcpy(y + row * model_.stride, x + row * x_stride, model_.width * sizeof(float));
}

void TransformerPass::normalize_backward(const Slot& gain, const Slot& bias, std::size_t rows, MatrixA x,
                                         const float* mean, const float* scale, const float* dy, const float* residual,
                                         MatrixC dx, float* gradient) {
  const InPart part(WorkPart::layer_norm);
  if (model_.options.norm != NormKind::none) {
    layer_norm_backward(norm_shape(rows), x.data, x.stride, weights_.at(gain), mean, scale, dy, model_.stride, residual,
                        dx.data, dx.stride, gradient + gain.offset, gradient + bias.offset);
    return;
  }
  for (std::size_t row = 0; row < rows; ++row) {
    float* to = dx.data + row * dx.stride;
    if (residual == nullptr)
      std::memcpy(to, dy + row * model_.stride, model_.width * sizeof(float));
    else  // which is dx itself wherever a norm has one
      add_to(dy + row * model_.stride, model_.width, to);
  }
}

MatrixA TransformerPass::residual(int layer) {
  if (only_asked(layer)) return {asked_x_.data(), model_.stride};
  return {block(layer).x.data(), only_cls(layer) ? model_.tokens * model_.stride : model_.stride};
}

}  // namespace eureka
