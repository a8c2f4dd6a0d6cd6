// The forward pass.
#include <cstring>

#include "base/error.h"
#include "base/random.h"
#include "base/work_part.h"
#include "engine/transformer_pass.h"
#include "kernels/elementwise.h"
#include "kernels/layer_norm.h"

namespace eureka {

void TransformerPass::forward(const Batch& batch, SampleRange samples, std::int64_t noise_step, Wanted wanted) {
  const TransformerModel& m = model_;
  first_ = samples.first;
  count_ = samples.count;
  rows_ = samples.count * m.tokens;
  noise_step_ = noise_step;
  take_visible(batch);
  take_wanted(batch);
  take_asked(batch, wanted);
  if (answers() == 0) return;
  embed(batch);
  for (int layer = 0; layer < m.options.depth; ++layer) {
    draw_noise(layer);
    if (only_cls(layer))
      last_attention_forward(layer);
    else
      attention_forward(layer);
    if (only_asked(layer)) gather_asked_rows(layer);
    branches_forward(layer, stream_behind(layer));
  }
  normalize(m.norm_gain, m.norm_bias, answers(), x_last_.data(), answer_stride(), n_last_.data(), mean_last_.data(),
            scale_last_.data());
  const InPart part(WorkPart::products);
  multiply_add_bias({answers(), m.classes, m.width}, {n_last_.data(), m.stride}, weights_.head(),
                    weights_.at(m.head_bias), {logits_.data(), m.class_stride});
  if (some_asked_) spread_asked(logits_.data(), m.class_stride);
}

void TransformerPass::take_asked(const Batch& batch, Wanted wanted) {
  some_asked_ = model_.asked_only && wanted == Wanted::asked && !batch.asked.empty();
  if (!some_asked_) return;
  asked_.clear();
  for (std::size_t row = 0; row < rows_; ++row)
    if (batch.asks(first_ * model_.tokens + row)) asked_.push_back(row);
}

void TransformerPass::gather_asked(float* rows, std::size_t stride) const {
  for (std::size_t i = 0; i < asked_.size(); ++i)
    if (asked_[i] != i) std::memcpy(rows + i * stride, rows + asked_[i] * stride, stride * sizeof(float));
}

void TransformerPass::spread_asked(float* rows, std::size_t stride) const {
  std::size_t end = rows_;
  const auto clear = [&](std::size_t from, std::size_t to) {
    std::memset(rows + from * stride, 0, (to - from) * stride * sizeof(float));
  };
  for (std::size_t i = asked_.size(); i-- > 0; end = asked_[i]) {
    if (asked_[i] != i) std::memcpy(rows + asked_[i] * stride, rows + i * stride, stride * sizeof(float));
    clear(asked_[i] + 1, end);
  }
  clear(0, end);
}

void TransformerPass::gather_asked_rows(int layer) {
  const TransformerModel& m = model_;
  Block& b = block(layer);
  for (std::size_t i = 0; i < asked_.size(); ++i)
    std::memcpy(asked_x_.data() + i * m.stride, b.x.data() + asked_[i] * m.stride, m.stride * sizeof(float));
  gather_asked(b.heads.data(), m.stride);
  if (noise_step_ < 0 || !m.noisy(slots(layer))) return;
  gather_asked(b.attention_noise.data(), m.stride);
  gather_asked(b.mlp_noise.data(), m.stride);
}

void TransformerPass::take_visible(const Batch& batch) {
  const TransformerModel& m = model_;
  all_visible_ = batch.visible.empty();
  if (all_visible_) return;
  for (std::size_t s = 0; s < count_; ++s) {
    float* row = visible_.data() + s * round_up(m.tokens);
    for (std::size_t token = 0; token < m.first_given(); ++token) row[token] = 1;
    for (std::size_t token = 0; token < m.given; ++token)
      row[m.first_given() + token] = batch.visible[(first_ + s) * m.given + token] != 0 ? 1.0F : 0.0F;
  }
}

void TransformerPass::take_wanted(const Batch& batch) {
  const TransformerModel& m = model_;
  wanted_ = nullptr;
  if (!weights_.fixes_attention() || m.interventions.attention.kind != FixedKind::wanted) return;
  EUREKA_CHECK(batch.wanted.size() == static_cast<std::size_t>(batch.samples) * m.answers * m.given,
               "a batch names the keys that fixed attention wants");
  wanted_ = batch.wanted.data() + first_ * m.answers * m.given;
}

void TransformerPass::embed(const Batch& batch) {
  const TransformerModel& m = model_;
  const InPart part(WorkPart::embedding);
  float* x = block(0).x.data();
  for (std::size_t s = 0; s < count_; ++s)
    std::memcpy(x + s * m.tokens * m.stride, weights_.table(), m.tokens * m.stride * sizeof(float));
  if (m.input() == InputKind::ids) {
    embed_ids(batch, x);
  } else {
    gather_inputs(batch);
    multiply_accumulate({rows_, m.width, m.inputs}, {inputs_.data(), m.input_stride}, weights_.embed(), {x, m.stride});
  }
  if (noise_step_ >= 0 && m.options.dropout > 0) {
    draw_mask(m.embedding_dropout, m.no_path, 0, false, embed_noise_.data());
    multiply_elements(rows_, m.width, x, m.stride, embed_noise_.data(), m.stride, x, m.stride);
  }
}

void TransformerPass::embed_ids(const Batch& batch, float* x) {
  const TransformerModel& m = model_;
  ids_ = batch.ids.data() + first_ * m.given;
  for (std::size_t s = 0; s < count_; ++s)
    for (std::size_t token = 0; token < m.given; ++token) {
      const auto id = static_cast<std::size_t>(ids_[s * m.given + token]);
      add_to(weights_.at(m.embed) + id * m.embed.stride, m.width,
             x + (s * m.tokens + m.first_given() + token) * m.stride);
    }
}

// Rows of cls tokens stay zero: those come from the table alone.
void TransformerPass::gather_inputs(const Batch& batch) {
  const TransformerModel& m = model_;
  const auto values = static_cast<std::size_t>(m.plan.shape.values());
  for (std::size_t s = 0; s < count_; ++s) {
    const float* from = batch.inputs.data() + (first_ + s) * values;
    float* to = inputs_.data() + (s * m.tokens + m.first_given()) * m.input_stride;
    if (m.input() == InputKind::image) {
      gather_patches(from, to);
      continue;
    }
    for (std::size_t token = 0; token < m.given; ++token)
      std::memcpy(to + token * m.input_stride, from + token * m.inputs, m.inputs * sizeof(float));
  }
}

void TransformerPass::gather_patches(const float* image, float* rows) const {
  const ImageShape& shape = model_.plan.shape.image;
  const auto side = static_cast<std::size_t>(model_.plan.patch);
  const auto line = static_cast<std::size_t>(shape.width * shape.channels);
  const std::size_t part = side * static_cast<std::size_t>(shape.channels);
  const std::size_t across = line / part;
  for (std::size_t y = 0; y < static_cast<std::size_t>(shape.height); ++y, image += line) {
    float* to = rows + (y / side) * across * model_.input_stride + (y % side) * part;
    for (std::size_t x = 0; x < line; x += part, to += model_.input_stride)
      std::memcpy(to, image + x, part * sizeof(float));
  }
}

void TransformerPass::draw_noise(int layer) {
  const TransformerBlock& names = slots(layer);
  if (noise_step_ < 0 || !model_.noisy(names)) return;
  const bool cls = only_cls(layer);
  draw_mask(names.attention_dropout, names.attention_path, names.path_rate, cls, block(layer).attention_noise.data());
  draw_mask(names.mlp_dropout, names.mlp_path, names.path_rate, cls, block(layer).mlp_noise.data());
}

// The same numbers as a mask drawn for the whole batch at once: streams are entered in the middle.
void TransformerPass::draw_mask(const std::string& dropout, const std::string& path, double path_rate, bool cls_only,
                                float* mask) {
  const TransformerModel& m = model_;
  const auto step = static_cast<std::uint64_t>(noise_step_);
  const double rate = m.options.dropout;
  const auto kept = static_cast<float>(1 / (1 - rate));
  const auto path_kept = static_cast<float>(1 / (1 - path_rate));
  RandomStream paths(m.seed, path, step);
  paths.skip(first_);
  const std::size_t rows = cls_only ? 1 : m.tokens;
  for (std::size_t s = 0; s < count_; ++s) {
    const float whole = path_rate > 0 ? (paths.uniform_float() < path_rate ? 0.0F : path_kept) : 1.0F;
    RandomStream random(m.seed, dropout, step);
    random.skip((first_ + s) * m.tokens * m.width);
    for (std::size_t row = 0; row < rows; ++row) {
      float* to = mask + (s * rows + row) * m.stride;
      for (std::size_t i = 0; i < m.width; ++i) {
        to[i] = whole;
        if (rate > 0) to[i] *= random.uniform_float() < rate ? 0.0F : kept;
      }
    }
  }
}

void TransformerPass::heads_normalize(int layer, MatrixA from, std::size_t rows, bool keys, float* to,
                                      std::size_t to_stride) {
  const TransformerModel& m = model_;
  const InPart part(WorkPart::layer_norm);
  const Slot& gain = keys ? slots(layer).k_gain : slots(layer).q_gain;
  head_norm(*m.rule.head_norm, {rows, m.heads, m.head_width}, from.data, from.stride,
            gain.exists() ? weights_.at(gain) : nullptr,
            slots(layer).log_factor.exists() && !keys ? weights_.block(layer).factors.data() : nullptr, to, to_stride);
}

void TransformerPass::turn(Turn turn, std::size_t rows, MatrixA from, MatrixC to) const {
  const InPart part(WorkPart::attention);
  turn_heads({rows, model_.tokens, model_.heads, model_.head_width}, turn, weights_.cosines(), weights_.sines(),
             from.data, from.stride, to.data, to.stride);
}

void TransformerPass::prepare(int layer, MatrixA from, std::size_t rows, bool keys, MatrixC to) {
  if (model_.rule.head_norm) {
    heads_normalize(layer, from, rows, keys, to.data, to.stride);
    from = {to.data, to.stride};
  }
  if (weights_.cosines() != nullptr) turn(Turn::forward, rows, from, to);
}

void TransformerPass::attention_forward(int layer) {
  const TransformerModel& m = model_;
  Block& b = block(layer);
  normalize(slots(layer).norm1_gain, slots(layer).norm1_bias, rows_, b.x.data(), m.stride, b.n1.data(), b.mean1.data(),
            b.scale1.data());
  float* projected = m.prepared ? b.raw.data() : b.qkv.data();
  InPart part(WorkPart::products);
  multiply_add_bias({rows_, 3 * m.padded_width, m.width}, {b.n1.data(), m.stride}, weights_.qkv(layer, 0),
                    weights_.block(layer).qkv_bias.data(), {projected, m.qkv_stride});
  if (m.prepared) {
    prepare(layer, {b.raw.data(), m.qkv_stride}, rows_, false, {b.qkv.data(), m.qkv_stride});
    prepare(layer, {b.raw.data() + m.padded_width, m.qkv_stride}, rows_, true,
            {b.qkv.data() + m.padded_width, m.qkv_stride});
  }
  part.next(WorkPart::attention);
  attend(layer, kept(layer));
}

void TransformerPass::attend(int layer, AttentionKept into) {
  const TransformerModel& m = model_;
  Block& b = block(layer);
  const float* values = m.prepared ? b.raw.data() : b.qkv.data();
  attention({count_, m.tokens, m.tokens, m.heads, m.head_width}, head_rules(layer), {b.qkv.data(), m.qkv_stride},
            {b.qkv.data() + m.padded_width, m.qkv_stride}, {values + 2 * m.padded_width, m.qkv_stride}, into,
            {b.heads.data(), m.stride}, scratch_.data());
}

void TransformerPass::last_attention_forward(int layer) {
  const TransformerModel& m = model_;
  Block& b = block(layer);
  const float* bias = weights_.block(layer).qkv_bias.data();
  normalize(slots(layer).norm1_gain, slots(layer).norm1_bias, rows_, b.x.data(), m.stride, b.n1.data(), b.mean1.data(),
            b.scale1.data());
  float* query = m.rule.head_norm ? cls_raw_.data() : cls_q_.data();
  InPart part(WorkPart::products);
  multiply_add_bias({count_, m.width, m.width}, {b.n1.data(), m.tokens * m.stride}, weights_.qkv(layer, 0), bias,
                    {query, m.stride});
  if (m.absorbed) return absorbed_forward(layer);
  float* projected = m.prepared ? b.raw.data() : b.qkv.data();
  multiply_add_bias({rows_, 2 * m.padded_width, m.width}, {b.n1.data(), m.stride}, weights_.qkv(layer, 1),
                    bias + m.padded_width, {projected + m.padded_width, m.qkv_stride});
  // The cls token stands first, where rotary positions turn nothing.
  if (m.rule.head_norm) heads_normalize(layer, {query, m.stride}, count_, false, cls_q_.data(), m.stride);
  if (m.prepared)
    prepare(layer, {projected + m.padded_width, m.qkv_stride}, rows_, true,
            {b.qkv.data() + m.padded_width, m.qkv_stride});
  part.next(WorkPart::attention);
  attention({count_, 1, m.tokens, m.heads, m.head_width}, head_rules(layer), {cls_q_.data(), m.stride},
            {b.qkv.data() + m.padded_width, m.qkv_stride}, {projected + 2 * m.padded_width, m.qkv_stride}, kept(layer),
            {b.heads.data(), m.stride}, scratch_.data());
}

void TransformerPass::absorbed_forward(int layer) {
  const TransformerModel& m = model_;
  Block& b = block(layer);
  const Slot &k = slots(layer).k, &v = slots(layer).v;
  const bool biased = m.options.qkv_bias;
  const std::size_t per_sample = m.heads * m.stride, ld = round_up(m.tokens);
  InPart part(WorkPart::products);
  for (std::size_t head = 0; head < m.heads; ++head) {
    const std::size_t column = head * m.head_width;
    multiply({count_, m.width, m.head_width}, {cls_q_.data() + column, m.stride},
             MatrixB::plain(weights_.at(k) + column * k.stride, k.stride), {u_.data() + head * m.stride, per_sample});
    if (!biased) continue;
    for (std::size_t s = 0; s < count_; ++s) {
      float offset = 0;
      for (std::size_t i = column; i < column + m.head_width; ++i)
        offset += cls_q_.data()[s * m.stride + i] * weights_.at(slots(layer).k_bias)[i];
      logit_offsets_.data()[s * m.heads + head] = offset;
    }
  }
  part.next(WorkPart::attention);
  absorbed_attention({count_, m.tokens, m.heads, m.width}, head_rules(layer), {u_.data(), m.stride},
                     {b.n1.data(), m.stride}, biased ? logit_offsets_.data() : nullptr, kept(layer).logits,
                     b.weights.data(), {z_.data(), m.stride});
  for (std::size_t head = 0; head < m.heads; ++head) {
    const std::size_t column = head * m.head_width;
    multiply_rows(count_, m.head_width, m.width, {z_.data() + head * m.stride, per_sample},
                  {weights_.at(v) + column * v.stride, v.stride}, {b.heads.data() + column, m.stride});
    if (!biased) continue;
    for (std::size_t s = 0; s < count_; ++s) {
      float sum = 0;
      for (std::size_t key = 0; key < m.tokens; ++key) sum += b.weights.data()[(s * m.heads + head) * ld + key];
      for (std::size_t i = column; i < column + m.head_width; ++i)
        b.heads.data()[s * m.stride + i] += sum * weights_.at(slots(layer).v_bias)[i];
    }
  }
}

void TransformerPass::branches_forward(int layer, float* out) {
  const TransformerModel& m = model_;
  Block& b = block(layer);
  const TransformerBlock& w = slots(layer);
  const TransformerWeights::Block& packed = weights_.block(layer);
  const std::size_t rows = rows_of(layer);
  const bool noisy = noise_step_ >= 0 && m.noisy(w);
  const auto noise = [&](const Buffer& mask) { return MatrixA{noisy ? mask.data() : nullptr, m.stride}; };
  const InPart part(WorkPart::products);
  multiply_add_branch({rows, m.width, m.width}, {b.heads.data(), m.stride},
                      MatrixB::packed(packed.proj.data(), m.width), weights_.at(w.proj_bias), residual(layer),
                      noise(b.attention_noise), {m.hidden > 0 ? b.x1.data() : out, m.stride});
  if (m.hidden == 0) return;
  normalize(w.norm2_gain, w.norm2_bias, rows, b.x1.data(), m.stride, b.n2.data(), b.mean2.data(), b.scale2.data());
  const auto activated = m.options.activation == Activation::gelu ? multiply_gelu : multiply_relu;
  activated({rows, m.hidden, m.width}, {b.n2.data(), m.stride}, MatrixB::packed(packed.fc1.data(), m.width),
            weights_.at(w.fc1_bias), {b.h.data(), m.hidden_stride}, b.slope.data());
  multiply_add_branch({rows, m.width, m.hidden}, {b.h.data(), m.hidden_stride},
                      MatrixB::packed(packed.fc2.data(), m.hidden), weights_.at(w.fc2_bias), {b.x1.data(), m.stride},
                      noise(b.mlp_noise), {out, m.stride});
}

}  // namespace eureka
