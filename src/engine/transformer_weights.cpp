#include "engine/transformer_weights.h"

#include <cstring>

#include "base/exact_math.h"

namespace eureka {
namespace {

std::size_t forward_floats(const Slot& slot) { return round_up(slot.rows) * slot.columns; }
std::size_t back_floats(const Slot& slot) { return slot.rows * round_up(slot.columns); }

}  // namespace

std::vector<TransformerWeights::Memory<TransformerWeights>> TransformerWeights::memory(const TransformerModel& m) {
  return {{&TransformerWeights::embed_, m.input() == InputKind::ids ? 0 : forward_floats(m.embed)},
          {&TransformerWeights::head_, forward_floats(m.head)},
          {&TransformerWeights::head_back_, back_floats(m.head)},
          {&TransformerWeights::table_, m.tokens * m.stride}};
}

std::vector<TransformerWeights::Memory<TransformerWeights::Block>> TransformerWeights::memory_of_block(
    const TransformerModel& m, const TransformerBlock& block) {
  const std::size_t joint = 3 * m.padded_width * m.padded_width;
  return {{&Block::qkv, joint},
          {&Block::qkv_back, joint},
          {&Block::qkv_bias, 3 * m.padded_width},
          {&Block::proj, forward_floats(block.proj)},
          {&Block::proj_back, back_floats(block.proj)},
          {&Block::fc1, forward_floats(block.fc1)},
          {&Block::fc1_back, back_floats(block.fc1)},
          {&Block::fc2, forward_floats(block.fc2)},
          {&Block::fc2_back, back_floats(block.fc2)}};
}

std::size_t TransformerWeights::bytes(const TransformerModel& model) {
  std::size_t total = 0;
  for (const auto& part : memory(model)) total += Buffer::bytes(part.floats);
  for (const TransformerBlock& block : model.blocks)
    for (const auto& part : memory_of_block(model, block)) total += Buffer::bytes(part.floats);
  return total;
}

TransformerWeights::TransformerWeights(const TransformerModel& model) : model_(model), blocks_(model.blocks.size()) {
  if (model.options.positions == Positions::sinusoidal)
    fixed_positions_ = sinusoidal_positions(static_cast<std::int64_t>(model.tokens), model.options.width);
  if (model.options.positions == Positions::rotary)
    rotary_ = rotary_angles(static_cast<std::int64_t>(model.tokens), model.options.head_width());
  for (Block& block : blocks_) {
    block.scales.resize(model.heads);
    block.multiples.resize(model.heads);
    block.factors.resize(model.heads);
  }
}

void TransformerWeights::allocate() {
  for (const auto& [buffer, floats] : memory(model_)) this->*buffer = Buffer(floats);
  for (std::size_t i = 0; i < blocks_.size(); ++i)
    for (const auto& [buffer, floats] : memory_of_block(model_, model_.blocks[i])) blocks_[i].*buffer = Buffer(floats);
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
