#include "engine/transformer_observer.h"

namespace eureka {

void TransformerObserver::start(const ObservationRequest& request, ObservationSink& sink) {
  request_ = &request;
  sink_ = &sink;
}

std::size_t TransformerObserver::bytes(const TransformerModel& model, const ObservationRequest& request) {
  if (!request.gradients) return 0;
  const std::size_t rows = Buffer::bytes(model.attention_shape().weight_floats());
  const auto wanted = [&](Point point) { return request.points.has(point); };
  const bool raw = wanted(Point::q_raw) || wanted(Point::k_raw), met = wanted(Point::q) || wanted(Point::k);
  return (wanted(Point::weights) ? rows : 0) + (wanted(Point::logits) ? rows : 0) +
         (model.prepared && raw && met ? Buffer::bytes(model.microbatch * model.tokens * model.qkv_stride) : 0);
}

void TransformerObserver::begin(SampleRange samples, const float* visible, std::size_t stride) {
  samples_ = samples;
  make_mask(visible, stride);
}

void TransformerObserver::make_mask(const float* visible, std::size_t stride) {
  const bool causal = model_.plan.causal;
  mask_ = {};
  if (visible == nullptr && !causal) return;
  const std::size_t keys = model_.tokens, queries = causal ? keys : 1,
                    samples = visible != nullptr ? samples_.count : 1;
  mask_bytes_.resize(samples * queries * keys);
  for (std::size_t s = 0; s < samples; ++s)
    for (std::size_t query = 0; query < queries; ++query)
      for (std::size_t key = 0; key < keys; ++key) {
        const bool shown = visible == nullptr || visible[s * stride + key] != 0;
        mask_bytes_[(s * queries + query) * keys + key] = shown && (!causal || key <= query) ? 1 : 0;
      }
  mask_ = {.data = mask_bytes_.data(),
           .sample_stride = visible != nullptr ? static_cast<std::int64_t>(queries * keys) : 0,
           .query_stride = causal ? static_cast<std::int64_t>(keys) : 0};
}

AttentionTaps TransformerObserver::taps(int layer) {
  const auto tap = [&](Point point, Buffer& buffer) -> float* {
    if (!request_->gradients || !request_->wants(point, layer)) return nullptr;
    if (buffer.data() == nullptr) buffer = Buffer(model_.attention_shape().weight_floats());
    return buffer.data();
  };
  return {tap(Point::weights, d_weights_), tap(Point::logits, d_logits_)};
}

float* TransformerObserver::kept_qk_gradient(int layer, std::size_t floats) {
  const auto wanted = [&](Point point) { return request_->wants(point, layer); };
  const bool raw = wanted(Point::q_raw) || wanted(Point::k_raw), met = wanted(Point::q) || wanted(Point::k);
  if (!request_->gradients || !raw || !met) return nullptr;
  if (d_qk_.data() == nullptr) d_qk_ = Buffer(floats);
  return d_qk_.data();
}

ObservationView TransformerObserver::view_of(int layer) const {
  ObservationView view;
  view.layer = layer;
  view.first_sample = static_cast<std::int64_t>(samples_.first);
  view.samples = static_cast<std::int64_t>(samples_.count);
  return view;
}

TensorView TransformerObserver::heads(MatrixA from) const {
  const auto stride = static_cast<std::int64_t>(from.stride), tokens = static_cast<std::int64_t>(model_.tokens),
             width = static_cast<std::int64_t>(model_.head_width);
  return {from.data,
          {static_cast<std::int64_t>(samples_.count), static_cast<std::int64_t>(model_.heads), tokens, width},
          {tokens * stride, width, stride}};
}

TensorView TransformerObserver::rows_of_keys(const float* from) const {
  const auto stride = static_cast<std::int64_t>(round_up(model_.tokens)),
             tokens = static_cast<std::int64_t>(model_.tokens), heads = static_cast<std::int64_t>(model_.heads);
  return {from,
          {static_cast<std::int64_t>(samples_.count), heads, tokens, tokens},
          {heads * tokens * stride, tokens * stride, stride}};
}

TensorView TransformerObserver::tokens(const float* from) const {
  const auto stride = static_cast<std::int64_t>(model_.stride), tokens = static_cast<std::int64_t>(model_.tokens);
  return {from,
          {static_cast<std::int64_t>(samples_.count), 1, tokens, static_cast<std::int64_t>(model_.width)},
          {tokens * stride, 0, stride}};
}

void TransformerObserver::put(ObservationView& view, Point point, const TensorView& value,
                              const TensorView& gradient) const {
  if (!request_->points.has(point)) return;
  if (request_->values) view.values[static_cast<std::size_t>(point)] = value;
  if (request_->gradients) view.gradients[static_cast<std::size_t>(point)] = gradient;
}

void TransformerObserver::attention(int layer, const Attention& seen) {
  if (!request_->wants(layer)) return;
  ObservationView view = view_of(layer);
  put(view, Point::q, heads(seen.q), heads(seen.dq));
  put(view, Point::k, heads(seen.k), heads(seen.dk));
  put(view, Point::v, heads(seen.v), heads(seen.dv));
  put(view, Point::q_raw, heads(seen.q_raw), heads(seen.dq_raw));
  put(view, Point::k_raw, heads(seen.k_raw), heads(seen.dk_raw));
  put(view, Point::head_output, heads(seen.head_output), heads(seen.d_head_output));
  put(view, Point::logits, rows_of_keys(seen.logits), rows_of_keys(d_logits_.data()));
  put(view, Point::weights, rows_of_keys(seen.weights), rows_of_keys(d_weights_.data()));
  for (std::size_t head = 0; head < scale_.size(); ++head) {
    scale_[head] = seen.scales[head] * model_.inverse_root_width;
    strength_[head] = seen.multiples[head] / seen.scales[head];
  }
  view.mask = mask_;
  view.scale = scale_;
  view.inverse_root_width = model_.inverse_root_width;
  view.rule = &model_.rule;
  view.strength = strength_;
  sink_->see(view);
}

void TransformerObserver::residual(int layer, const float* x, const float* dx) {
  if (!request_->wants(Point::residual, layer)) return;
  ObservationView view = view_of(layer);
  put(view, Point::residual, tokens(x), tokens(dx));
  sink_->see(view);
}

}  // namespace eureka
