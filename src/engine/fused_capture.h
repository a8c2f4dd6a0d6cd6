// Gathers what passes through a FusedPass into an Observation: microbatch by microbatch, out of padded rows into plain
// tensors.
#pragma once

#include "engine/fused_model.h"
#include "engine/observation.h"
#include "kernels/attention.h"

namespace eureka {

struct SampleRange {
  std::size_t first;
  std::size_t count;
};

class PassCapture {
 public:
  // Requires: a model of Extent::whole.
  PassCapture(const FusedModel& model, std::size_t samples);

  // The samples that the calls below are about.
  void begin(SampleRange samples) { samples_ = samples; }

  // Where the way back through attention leaves its inner gradients.
  AttentionTaps taps() { return {d_weights_.data(), d_logits_.data()}; }

  // One block's attention after its way back, taps filled. Rows of q, k, v and their gradients are tokens.
  struct Attention {
    MatrixA q, k, v, dq, dk, dv;
    const float *logits, *weights;
    MatrixA head_output, d_head_output;
  };
  void attention(int layer, const Attention& seen);

  // The residual stream entering block `layer`, or behind the last one.
  void residual(int layer, const float* x, const float* dx);

  Observation take() { return std::move(result_); }

 private:
  void copy_heads(MatrixA from, std::vector<float>& to) const;
  void copy_weights(const float* from, std::vector<float>& to) const;
  void copy_tokens(const float* from, std::vector<float>& to) const;

  const FusedModel& model_;
  SampleRange samples_{0, 0};
  Buffer d_weights_, d_logits_;
  Observation result_;
};

}  // namespace eureka
