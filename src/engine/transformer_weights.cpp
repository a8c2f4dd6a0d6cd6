#include "engine/transformer_weights.h"

#include <cstring>

#include "base/exact_math.h"

namespace eureka {
namespace {

Buffer forward_buffer(const Slot& slot) { return Buffer(round_up(slot.rows) * slot.columns); }
Buffer back_buffer(const Slot& slot) { return Buffer(slot.rows * round_up(slot.columns)); }

}  // namespace

TransformerWeights::TransformerWeights(const TransformerModel& model)
    : model_(model),
      embed_(model.input() == InputKind::ids ? Buffer() : forward_buffer(model.embed)),
      head_(forward_buffer(model.head)),
      head_back_(back_buffer(model.head)),
      table_(model.tokens * model.stride) {
  if (model.options.positions == Positions::sinusoidal)
    fixed_positions_ = sinusoidal_positions(static_cast<std::int64_t>(model.tokens), model.options.width);
  if (model.options.positions == Positions::rotary)
    rotary_ = rotary_angles(static_cast<std::int64_t>(model.tokens), model.options.head_width());
  for (const TransformerBlock& block : model.blocks) {
    Block packed;
    const std::size_t joint = 3 * model.padded_width * model.padded_width;
    packed.qkv = Buffer(joint);
    packed.qkv_back = Buffer(joint);
    packed.qkv_bias = Buffer(3 * model.padded_width);
    packed.proj = forward_buffer(block.proj);
    packed.proj_back = back_buffer(block.proj);
    packed.fc1 = forward_buffer(block.fc1);
    packed.fc1_back = back_buffer(block.fc1);
    packed.fc2 = forward_buffer(block.fc2);
    packed.fc2_back = back_buffer(block.fc2);
    packed.scales.resize(model.heads);
    packed.multiples.resize(model.heads);
    packed.factors.resize(model.heads);
    blocks_.push_back(std::move(packed));
  }
}

MatrixB TransformerWeights::qkv(int layer, std::size_t part) const {
  MatrixB b = MatrixB::packed(block(layer).qkv.data(), model_.width);
  b.data += part * (model_.padded_width / kPanel) * b.panel_stride;
  return b;
}

MatrixB TransformerWeights::qkv_back(int layer, std::size_t part) const {
  MatrixB b = MatrixB::packed(block(layer).qkv_back.data(), 3 * model_.padded_width);
  b.data += part * model_.padded_width * kPanel;
  return b;
}

void TransformerWeights::pack_from(const float* values, std::int64_t step) {
  values_ = values;
  fixes_attention_ = model_.interventions.attention.holds(step);
  const TransformerModel& m = model_;
  if (m.input() != InputKind::ids)
    pack_transposed(at(m.embed), m.embed.rows, m.embed.columns, m.embed.stride, embed_.data());
  pack_transposed(at(m.head), m.head.rows, m.head.columns, m.head.stride, head_.data());
  pack(at(m.head), m.head.rows, m.head.columns, m.head.stride, 0, m.head.rows, head_back_.data());
  for (int layer = 0; layer < m.options.depth; ++layer) {
    pack_block(layer);
    pack_heads(layer, step);
  }

  for (std::size_t token = 0; token < m.tokens; ++token) {
    float* row = table_.data() + token * m.stride;
    const Slot& own = token < m.first_given() ? m.cls : m.embed_bias;
    for (std::size_t i = 0; i < m.width; ++i) {
      float position = 0;
      if (m.positions.exists()) position = at(m.positions)[token * m.positions.stride + i];
      if (!fixed_positions_.empty()) position = fixed_positions_[token * m.width + i];
      row[i] = own.exists() ? at(own)[i] + position : position;
    }
  }
}

void TransformerWeights::pack_block(int layer) {
  const TransformerModel& m = model_;
  const TransformerBlock& slots = m.blocks[static_cast<std::size_t>(layer)];
  Block& packed = blocks_[static_cast<std::size_t>(layer)];
  const Slot* parts[] = {&slots.q, &slots.k, &slots.v};
  const Slot* biases[] = {&slots.q_bias, &slots.k_bias, &slots.v_bias};
  for (std::size_t i = 0; i < 3; ++i) {
    const Slot& w = *parts[i];
    pack_transposed(at(w), w.rows, w.columns, w.stride, packed.qkv.data() + i * m.padded_width * m.width);
    pack(at(w), w.rows, w.columns, w.stride, i * m.padded_width, 3 * m.padded_width, packed.qkv_back.data());
    if (biases[i]->exists())
      std::memcpy(packed.qkv_bias.data() + i * m.padded_width, at(*biases[i]), m.width * sizeof(float));
  }
  const auto both = [&](const Slot& w, Buffer& forward, Buffer& back) {
    pack_transposed(at(w), w.rows, w.columns, w.stride, forward.data());
    pack(at(w), w.rows, w.columns, w.stride, 0, w.rows, back.data());
  };
  both(slots.proj, packed.proj, packed.proj_back);
  if (m.hidden == 0) return;
  both(slots.fc1, packed.fc1, packed.fc1_back);
  both(slots.fc2, packed.fc2, packed.fc2_back);
}

void TransformerWeights::pack_heads(int layer, std::int64_t step) {
  const TransformerModel& m = model_;
  const TransformerBlock& slots = m.blocks[static_cast<std::size_t>(layer)];
  Block& packed = blocks_[static_cast<std::size_t>(layer)];
  const FixedAttention& attention = m.interventions.attention;
  packed.fixed.clear();
  if (fixes_attention_ && attention.of.has_layer(layer))
    for (int head = 0; head < m.options.heads; ++head) packed.fixed.push_back(attention.of.has(layer, head) ? 1 : 0);
  const double multiple = scale_multiple(m.scale, step, m.total_steps);
  for (std::size_t head = 0; head < m.heads; ++head) {
    const double factor = m.interventions.scale.at(step, layer, static_cast<int>(head));
    packed.scales[head] = m.learned_scale ? static_cast<float>(factor) * exact::exp(at(slots.log_scale)[head])
                                          : static_cast<float>(factor * multiple);
    packed.multiples[head] =
        packed.scales[head] * (slots.scale_factor.exists() ? at(slots.scale_factor)[head] : m.rule.scale_factor);
    packed.factors[head] = slots.log_factor.exists() ? exact::exp(at(slots.log_factor)[head]) : 1.0F;
  }
}

}  // namespace eureka
