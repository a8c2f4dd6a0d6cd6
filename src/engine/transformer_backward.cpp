// The backward pass. dx_ (cls_dx_ in the last block) is the gradient by the residual stream, from block to block.
#include <cstring>

#include "base/work_part.h"
#include "engine/transformer_pass.h"
#include "kernels/elementwise.h"
#include "kernels/layer_norm.h"

namespace eureka {

void TransformerPass::backward(float* gradient, TransformerObserver* observer) {
  const TransformerModel& m = model_;
  if (answers() == 0) return;
  observer_ = observer;
  if (observer_ != nullptr) begin_showing(*observer_);
  if (some_asked_) gather_asked(d_logits_.data(), m.class_stride);
  add_weight_gradient(m.head, m.head_bias, {d_logits_.data(), m.class_stride}, {n_last_.data(), m.stride}, answers(),
                      gradient);
  InPart part(WorkPart::products);
  multiply({answers(), m.width, m.classes}, {d_logits_.data(), m.class_stride}, weights_.head_back(),
           {dy_.data(), m.stride});
  float* dx = m.cls_only ? cls_dx_.data() : dx_.data();
  // Rows that answer nothing get no gradient from the head.
  if (!m.cls_only && m.plan.has_cls()) std::memset(dx, 0, rows_ * m.stride * sizeof(float));
  normalize_backward(m.norm_gain, m.norm_bias, answers(), {x_last_.data(), answer_stride()}, mean_last_.data(),
                     scale_last_.data(), dy_.data(), nullptr, {dx, answer_stride()}, gradient);
  part.next(WorkPart::rest);
  for (int layer = m.last(); layer >= 0; --layer) {
    if (observer_ != nullptr) observer_->residual(layer + 1, stream_behind(layer), dx_.data());
    branches_backward(layer, gradient);
    if (only_asked(layer)) {
      spread_asked(dx_.data(), m.stride);
      spread_asked(d_heads_.data(), m.stride);
    }
    if (only_cls(layer))
      last_attention_backward(layer, gradient);
    else
      attention_backward(layer, gradient);
  }
  if (observer_ != nullptr) observer_->residual(0, block(0).x.data(), dx_.data());
  embed_backward(gradient);
}

void TransformerPass::add_weight_gradient(const Slot& weight, const Slot& bias, MatrixA dy, MatrixA x, std::size_t rows,
                                          float* gradient) {
  const InPart part(WorkPart::weight_gradients);
  multiply_transposed_accumulate({weight.rows, weight.columns, rows}, dy, MatrixB::plain(x.data, x.stride),
                                 {gradient + weight.offset, weight.stride});
  if (bias.exists()) add_column_sums(dy.data, rows, weight.rows, dy.stride, gradient + bias.offset);
}

// Backward through both branches of a block down to the outputs of its heads, which get their gradient in d_heads_.
void TransformerPass::branches_backward(int layer, float* gradient) {
  const TransformerModel& m = model_;
  Block& b = block(layer);
  const TransformerBlock& w = slots(layer);
  const TransformerWeights::Block& packed = weights_.block(layer);
  const std::size_t rows = rows_of(layer);
  float* dx = only_cls(layer) ? cls_dx_.data() : dx_.data();
  const auto after_noise = [&](const Buffer& mask) {
    if (noise_step_ < 0 || !m.noisy(w)) return dx;
    multiply_elements(rows, m.width, dx, m.stride, mask.data(), m.stride, dy_.data(), m.stride);
    return dy_.data();
  };
  InPart part(WorkPart::products);
  if (m.hidden > 0) mlp_backward(layer, after_noise(b.mlp_noise), dx, gradient);
  const float* dy = after_noise(b.attention_noise);
  add_weight_gradient(w.proj, w.proj_bias, {dy, m.stride}, {b.heads.data(), m.stride}, rows, gradient);
  multiply({rows, m.width, m.width}, {dy, m.stride}, MatrixB::packed(packed.proj_back.data(), m.width),
           {d_heads_.data(), m.stride});
}

// Adds to dx, the gradient behind the branch, what passes through it from dy, which is dx after the noise.
void TransformerPass::mlp_backward(int layer, const float* dy, float* dx, float* gradient) {
  const TransformerModel& m = model_;
  Block& b = block(layer);
  const TransformerBlock& w = slots(layer);
  const TransformerWeights::Block& packed = weights_.block(layer);
  const std::size_t rows = rows_of(layer);
  const InPart part(WorkPart::products);
  add_weight_gradient(w.fc2, w.fc2_bias, {dy, m.stride}, {b.h.data(), m.hidden_stride}, rows, gradient);
  multiply_by_slope({rows, m.hidden, m.width}, {dy, m.stride}, MatrixB::packed(packed.fc2_back.data(), m.width),
                    b.slope.data(), {dh_.data(), m.hidden_stride});
  add_weight_gradient(w.fc1, w.fc1_bias, {dh_.data(), m.hidden_stride}, {b.n2.data(), m.stride}, rows, gradient);
  multiply({rows, m.width, m.hidden}, {dh_.data(), m.hidden_stride}, MatrixB::packed(packed.fc1_back.data(), m.hidden),
           {dn_.data(), m.stride});
  normalize_backward(w.norm2_gain, w.norm2_bias, rows, {b.x1.data(), m.stride}, b.mean2.data(), b.scale2.data(),
                     dn_.data(), dx, {dx, m.stride}, gradient);
}

void TransformerPass::heads_normalize_backward(int layer, MatrixA from, std::size_t rows, bool keys, MatrixC g,
                                               float* gradient) {
  const TransformerModel& m = model_;
  const TransformerBlock& w = slots(layer);
  const InPart part(WorkPart::layer_norm);
  const Slot& gain = keys ? w.k_gain : w.q_gain;
  const bool factor = w.log_factor.exists() && !keys;
  head_norm_backward(*m.rule.head_norm, {rows, m.heads, m.head_width}, from.data, from.stride,
                     gain.exists() ? weights_.at(gain) : nullptr,
                     factor ? weights_.block(layer).factors.data() : nullptr, g.data, g.stride, gradient + gain.offset,
                     gradient + w.log_factor.offset);
}

void TransformerPass::prepare_backward(int layer, MatrixA from, std::size_t rows, bool keys, MatrixC g,
                                       float* gradient) {
  if (weights_.cosines() != nullptr) turn(Turn::back, rows, {g.data, g.stride}, g);
  if (model_.rule.head_norm) heads_normalize_backward(layer, from, rows, keys, g, gradient);
}

float* TransformerPass::multiples_gradient(int layer, float* gradient) {
  if (!model_.learned_factor) return gradient + slots(layer).log_scale.offset;
  std::memset(d_multiples_.data(), 0, model_.heads * sizeof(float));
  return d_multiples_.data();
}

void TransformerPass::pass_on_multiples_gradient(int layer, float* gradient) {
  if (!model_.learned_factor) return;
  const TransformerBlock& w = slots(layer);
  for (std::size_t head = 0; head < model_.heads; ++head) {
    gradient[w.scale_factor.offset + head] += d_multiples_.data()[head] / weights_.at(w.scale_factor)[head];
    if (model_.learned_scale) gradient[w.log_scale.offset + head] += d_multiples_.data()[head];
  }
}

void TransformerPass::attention_backward(int layer, float* gradient) {
  const TransformerModel& m = model_;
  Block& b = block(layer);
  const TransformerBlock& w = slots(layer);
  const std::size_t p = m.padded_width, ld = m.qkv_stride;
  const float* values = m.prepared ? b.raw.data() : b.qkv.data();
  float* d = dqkv_.data();
  InPart part(WorkPart::attention);
  const AttentionKept rows = observer_ != nullptr ? shown(layer, *observer_) : kept(layer);
  eureka::attention_backward({count_, m.tokens, m.tokens, m.heads, m.head_width}, head_rules(layer), {b.qkv.data(), ld},
                             {b.qkv.data() + p, ld}, {values + 2 * p, ld}, rows, {d_heads_.data(), m.stride}, {d, ld},
                             {d + p, ld}, {d + 2 * p, ld}, multiples_gradient(layer, gradient), scratch_.data(),
                             observer_ != nullptr ? observer_->taps(layer) : AttentionTaps());
  pass_on_multiples_gradient(layer, gradient);
  const float* met = d;  // gradients by queries and keys as they meet
  if (m.prepared) {
    if (observer_ != nullptr)
      if (float* kept = observer_->kept_qk_gradient(layer, m.microbatch * m.tokens * ld)) {
        std::memcpy(kept, d, rows_ * ld * sizeof(float));
        met = kept;
      }
    prepare_backward(layer, {b.raw.data(), ld}, rows_, false, {d, ld}, gradient);
    prepare_backward(layer, {b.raw.data() + p, ld}, rows_, true, {d + p, ld}, gradient);
  }
  if (observer_ != nullptr) {
    TransformerObserver::Attention seen = attention_values(layer, rows);
    seen.dq = {met, ld};
    seen.dk = {met + p, ld};
    seen.dv = {d + 2 * p, ld};
    if (m.prepared) {
      seen.dq_raw = {d, ld};
      seen.dk_raw = {d + p, ld};
    }
    seen.d_head_output = {d_heads_.data(), m.stride};
    observer_->attention(layer, seen);
  }
  const MatrixA n1{b.n1.data(), m.stride};
  add_weight_gradient(w.q, w.q_bias, {d, ld}, n1, rows_, gradient);
  add_weight_gradient(w.k, w.k_bias, {d + p, ld}, n1, rows_, gradient);
  add_weight_gradient(w.v, w.v_bias, {d + 2 * p, ld}, n1, rows_, gradient);
  part.next(WorkPart::products);
  multiply({rows_, m.width, 3 * p}, {d, ld}, weights_.qkv_back(layer, 0), {dn_.data(), m.stride});
  normalize_backward(w.norm1_gain, w.norm1_bias, rows_, {b.x.data(), m.stride}, b.mean1.data(), b.scale1.data(),
                     dn_.data(), dx_.data(), {dx_.data(), m.stride}, gradient);
}

void TransformerPass::last_attention_backward(int layer, float* gradient) {
  const TransformerModel& m = model_;
  Block& b = block(layer);
  const TransformerBlock& w = slots(layer);
  const std::size_t p = m.padded_width, ld = m.qkv_stride;
  InPart part(WorkPart::attention);
  if (m.absorbed) {
    absorbed_backward(layer, gradient);
  } else {
    const float* values = m.prepared ? b.raw.data() : b.qkv.data();
    float* d = dqkv_.data();
    eureka::attention_backward({count_, 1, m.tokens, m.heads, m.head_width}, head_rules(layer),
                               {cls_q_.data(), m.stride}, {b.qkv.data() + p, ld}, {values + 2 * p, ld}, kept(layer),
                               {d_heads_.data(), m.stride}, {cls_dq_.data(), m.stride}, {d + p, ld}, {d + 2 * p, ld},
                               multiples_gradient(layer, gradient), scratch_.data());
    if (m.rule.head_norm)
      heads_normalize_backward(layer, {cls_raw_.data(), m.stride}, count_, false, {cls_dq_.data(), m.stride}, gradient);
    if (m.prepared) prepare_backward(layer, {b.raw.data() + p, ld}, rows_, true, {d + p, ld}, gradient);
    const MatrixA n1{b.n1.data(), m.stride};
    add_weight_gradient(w.k, w.k_bias, {d + p, ld}, n1, rows_, gradient);
    add_weight_gradient(w.v, w.v_bias, {d + 2 * p, ld}, n1, rows_, gradient);
    part.next(WorkPart::products);
    multiply({rows_, m.width, 2 * p}, {d + p, ld}, weights_.qkv_back(layer, 1), {dn_.data(), m.stride});
  }
  pass_on_multiples_gradient(layer, gradient);
  const std::size_t every = m.tokens * m.stride;
  add_weight_gradient(w.q, w.q_bias, {cls_dq_.data(), m.stride}, {b.n1.data(), every}, count_, gradient);
  part.next(WorkPart::products);
  multiply_accumulate({count_, m.width, m.width}, {cls_dq_.data(), m.stride}, weights_.qkv_back(layer, 0),
                      {dn_.data(), every});
  normalize_backward(w.norm1_gain, w.norm1_bias, rows_, {b.x.data(), m.stride}, b.mean1.data(), b.scale1.data(),
                     dn_.data(), nullptr, {dx_.data(), m.stride}, gradient);
  part.next(WorkPart::rest);
  for (std::size_t s = 0; s < count_; ++s) add_to(cls_dx_.data() + s * m.stride, m.width, dx_.data() + s * every);
}

void TransformerPass::absorbed_backward(int layer, float* gradient) {
  const TransformerModel& m = model_;
  Block& b = block(layer);
  const TransformerBlock& w = slots(layer);
  const bool biased = m.options.qkv_bias;
  const std::size_t per_sample = m.heads * m.stride, ld = round_up(m.tokens), d = m.head_width;
  const float* out = d_heads_.data();
  InPart part(WorkPart::products);
  for (std::size_t head = 0; head < m.heads; ++head) {
    const std::size_t column = head * d;
    part.next(WorkPart::products);
    multiply({count_, m.width, d}, {out + column, m.stride},
             MatrixB::plain(weights_.at(w.v) + column * w.v.stride, w.v.stride),
             {dz_.data() + head * m.stride, per_sample});
    part.next(WorkPart::weight_gradients);
    multiply_transposed_accumulate({d, m.width, count_}, {out + column, m.stride},
                                   MatrixB::plain(z_.data() + head * m.stride, per_sample),
                                   {gradient + w.v.offset + column * w.v.stride, w.v.stride});
    if (!biased) continue;
    for (std::size_t s = 0; s < count_; ++s) {
      float sum = 0, offset = 0;
      for (std::size_t key = 0; key < m.tokens; ++key) sum += b.weights.data()[(s * m.heads + head) * ld + key];
      for (std::size_t i = column; i < column + d; ++i) {
        offset += out[s * m.stride + i] * weights_.at(w.v_bias)[i];
        gradient[w.v_bias.offset + i] += sum * out[s * m.stride + i];
      }
      weight_offsets_.data()[s * m.heads + head] = offset;
    }
  }
  part.next(WorkPart::attention);
  absorbed_attention_backward({count_, m.tokens, m.heads, m.width}, head_rules(layer), {u_.data(), m.stride},
                              {b.n1.data(), m.stride}, kept(layer).logits, b.weights.data(), {dz_.data(), m.stride},
                              biased ? weight_offsets_.data() : nullptr, {du_.data(), m.stride}, {dn_.data(), m.stride},
                              biased ? d_logit_sums_.data() : nullptr, multiples_gradient(layer, gradient),
                              scratch_.data());
  for (std::size_t head = 0; head < m.heads; ++head) {
    const std::size_t column = head * d;
    part.next(WorkPart::attention);
    multiply_rows(count_, d, m.width, {du_.data() + head * m.stride, per_sample},
                  {weights_.at(w.k) + column * w.k.stride, w.k.stride}, {cls_dq_.data() + column, m.stride});
    part.next(WorkPart::weight_gradients);
    multiply_transposed_accumulate({d, m.width, count_}, {cls_q_.data() + column, m.stride},
                                   MatrixB::plain(du_.data() + head * m.stride, per_sample),
                                   {gradient + w.k.offset + column * w.k.stride, w.k.stride});
    if (!biased) continue;
    for (std::size_t s = 0; s < count_; ++s) {
      const float sum = d_logit_sums_.data()[s * m.heads + head];
      for (std::size_t i = column; i < column + d; ++i) {
        cls_dq_.data()[s * m.stride + i] += sum * weights_.at(w.k_bias)[i];
        gradient[w.k_bias.offset + i] += sum * cls_q_.data()[s * m.stride + i];
      }
    }
  }
}

void TransformerPass::embed_backward(float* gradient) {
  const TransformerModel& m = model_;
  const InPart part(WorkPart::weight_gradients);
  if (noise_step_ >= 0 && m.options.dropout > 0)
    multiply_elements(rows_, m.width, dx_.data(), m.stride, embed_noise_.data(), m.stride, dx_.data(), m.stride);
  if (m.input() == InputKind::ids)
    ids_backward(gradient);
  else  // Rows of cls tokens meet inputs of zero.
    add_weight_gradient(m.embed, {}, {dx_.data(), m.stride}, {inputs_.data(), m.input_stride}, rows_, gradient);
  for (std::size_t s = 0; s < count_; ++s) {
    const float* rows = dx_.data() + s * m.tokens * m.stride;
    if (m.cls.exists()) add_to(rows, m.width, gradient + m.cls.offset);
    if (m.embed_bias.exists())
      add_column_sums(rows + m.first_given() * m.stride, m.given, m.width, m.stride, gradient + m.embed_bias.offset);
    if (!m.positions.exists()) continue;
    for (std::size_t token = 0; token < m.tokens; ++token)
      add_to(rows + token * m.stride, m.width, gradient + m.positions.offset + token * m.positions.stride);
  }
}

void TransformerPass::ids_backward(float* gradient) {
  const TransformerModel& m = model_;
  for (std::size_t s = 0; s < count_; ++s)
    for (std::size_t token = 0; token < m.given; ++token) {
      const auto id = static_cast<std::size_t>(ids_[s * m.given + token]);
      add_to(dx_.data() + (s * m.tokens + m.first_given() + token) * m.stride, m.width,
             gradient + m.embed.offset + id * m.embed.stride);
    }
}

}  // namespace eureka
