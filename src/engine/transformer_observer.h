// Shows what passes through a TransformerPass to those who asked for it: as views of the pass's own memory, microbatch
// by microbatch.
#pragma once

#include "engine/observation.h"
#include "engine/transformer_model.h"
#include "kernels/attention.h"

namespace eureka {

class TransformerObserver {
 public:
  // Requires: a model of Extent::whole.
  explicit TransformerObserver(const TransformerModel& model)
      : model_(model), scale_(model.heads), strength_(model.heads) {}

  // What it takes up for such a request.
  static std::size_t bytes(const TransformerModel& model, const ObservationRequest& request);

  // Both outlive all that follows, up to the next start().
  void start(const ObservationRequest& request, ObservationSink& sink);

  // The samples that the calls below are about; visible: 1 or 0 per key, samples x `stride`, nullptr: all are.
  void begin(SampleRange samples, const float* visible, std::size_t stride);

  // Whether anybody asked for logits or weights.
  bool wants_rows(int layer) const {
    return request_->wants(Point::weights, layer) || request_->wants(Point::logits, layer);
  }

  // Where the backward pass through the attention of block `layer` leaves its inner gradients, if anybody asked.
  AttentionTaps taps(int layer);

  // One block's attention; rows of q, k, v, the heads' outputs and the gradients are tokens. Gradients of nullptr: the
  // backward pass was not run.
  struct Attention {
    MatrixA q, k, v, head_output;
    const float *logits, *weights;
    const float* scales;     // multiples of 1/sqrt(head width), per head
    const float* multiples;  // and these times the rule's own strength
    MatrixA dq = {nullptr, 0}, dk = {nullptr, 0}, dv = {nullptr, 0}, d_head_output = {nullptr, 0};
    MatrixA q_raw = {nullptr, 0}, k_raw = {nullptr, 0};  // nullptr: nothing is done to queries and keys
    MatrixA dq_raw = {nullptr, 0}, dk_raw = {nullptr, 0};
  };
  void attention(int layer, const Attention& seen);
  // Memory of so many floats for a copy of the gradients by normalized queries and keys, which the pass turns into
  // those by raw ones in place; nullptr: nobody asked for both.
  float* kept_qk_gradient(int layer, std::size_t floats);

  // The residual stream entering block `layer`, or behind the last one; dx may be nullptr.
  void residual(int layer, const float* x, const float* dx);

 private:
  ObservationView view_of(int layer) const;
  TensorView heads(MatrixA from) const;
  TensorView rows_of_keys(const float* from) const;
  TensorView tokens(const float* from) const;
  void put(ObservationView& view, Point point, const TensorView& value, const TensorView& gradient) const;
  void make_mask(const float* visible, std::size_t stride);

  const TransformerModel& model_;
  const ObservationRequest* request_ = nullptr;
  ObservationSink* sink_ = nullptr;
  SampleRange samples_{0, 0};
  Buffer d_weights_, d_logits_, d_qk_;  // made when first asked for
  std::vector<float> scale_, strength_;
  std::vector<std::uint8_t> mask_bytes_;
  MaskView mask_;
};

}  // namespace eureka
