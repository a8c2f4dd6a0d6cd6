// A forward and a backward pass of a few samples, on memory of its own: one per thread. Activations of the forward pass
// stay in the cache for the backward pass.
//
//   TransformerPass pass(model, weights);
//   pass.forward(batch, {first, count}, noise, Wanted::asked);      predictions in pass.predictions()
//   pass.backward(gradient);                                        adds to a flat gradient
#pragma once

#include <vector>

#include "engine/samplewise_network.h"
#include "engine/transformer_model.h"
#include "engine/transformer_observer.h"
#include "engine/transformer_weights.h"
#include "kernels/attention.h"
#include "kernels/layer_norm.h"
#include "kernels/rotary.h"

namespace eureka {

class TransformerPass final : public SamplePass {
 public:
  TransformerPass(const TransformerModel& model, const TransformerWeights& weights);

  void forward(const Batch& batch, SampleRange samples, std::int64_t noise_step, Wanted wanted) override;

  void backward(float* gradient) override { backward(gradient, nullptr); }
  // The pass is shown to `observer`, if there is one.
  void backward(float* gradient, TransformerObserver* observer);

  // Shows what forward() computed, without a backward pass.
  void show(TransformerObserver& observer);

  // One per sample, or one per token of every sample.
  const float* predictions() const override { return logits_.data(); }
  float* d_predictions() override { return d_logits_.data(); }

  // What a pass of this model takes up, without making one; and what comes with looking at logits and weights.
  static std::size_t bytes(const TransformerModel& model);
  static std::size_t bytes_to_show_rows(const TransformerModel& model);

 private:
  // Rows behind the last block that answer something: of all tokens, of those that are asked, or of cls tokens.
  std::size_t answers() const { return some_asked_ ? asked_.size() : count_ * model_.answers; }

  // Kept by one block between the forward and the backward pass. In the last block only the rows that answer have an
  // x1 and what follows it; where some of the tokens do, they lie behind each other.
  struct Block {
    Buffer x, n1, mean1, scale1;
    Buffer qkv, raw, logits, weights, heads;
    Buffer x1, n2, mean2, scale2, h, slope;
    Buffer attention_noise, mlp_noise;
  };

  // A buffer and its size: one list serves both who makes them and who only counts.
  template <class Owner>
  struct Memory {
    Buffer Owner::*buffer;
    std::size_t floats;
  };
  static std::vector<Memory<Block>> memory_of_block(const TransformerModel& model, int layer);
  static std::vector<Memory<TransformerPass>> memory(const TransformerModel& model);

  const TransformerBlock& slots(int layer) const { return model_.blocks[static_cast<std::size_t>(layer)]; }
  Block& block(int layer) { return blocks_[static_cast<std::size_t>(layer)]; }
  HeadRules head_rules(int layer) const;
  void begin_showing(TransformerObserver& observer);
  // The values of block `layer` that its attention leaves in memory.
  TransformerObserver::Attention attention_values(int layer, AttentionKept rows);
  // What a block's attention leaves for the backward pass: logits in memory of their own where that needs them.
  AttentionKept kept(int layer) {
    if (!keeps(model_, layer)) return {};
    Block& b = block(layer);
    return {model_.keeps_logits ? b.logits.data() : b.weights.data(), b.weights.data()};
  }
  // One row per head and sample is kept in any case.
  static bool keeps(const TransformerModel& model, int layer) {
    return model.keeps_attention || (model.cls_only && layer == model.last());
  }
  // The same for those who look at it: if it was not kept, it is computed again, for one block at a time.
  AttentionKept shown(int layer, const TransformerObserver& observer);
  void attend(int layer, AttentionKept into);
  // The norm of the options: y from x, or dx from dy. Without a norm y is x.
  void normalize(const Slot& gain, const Slot& bias, std::size_t rows, const float* x, std::size_t x_stride, float* y,
                 float* mean, float* scale);
  void normalize_backward(const Slot& gain, const Slot& bias, std::size_t rows, MatrixA x, const float* mean,
                          const float* scale, const float* dy, const float* residual, MatrixC dx, float* gradient);
  NormShape norm_shape(std::size_t rows) const;
  bool only_cls(int layer) const { return model_.cls_only && layer == model_.last(); }
  bool only_asked(int layer) const { return some_asked_ && layer == model_.last(); }
  std::size_t rows_of(int layer) const {
    if (only_asked(layer)) return asked_.size();
    return only_cls(layer) ? count_ : rows_;
  }
  // x, or the rows of it that answer in the last block.
  MatrixA residual(int layer);
  // The rows of x_last_ that answer.
  std::size_t answer_stride() const {
    return model_.cls_only || !model_.plan.has_cls() ? model_.stride : model_.tokens * model_.stride;
  }
  float* stream_behind(int layer) { return layer == model_.last() ? x_last_.data() : block(layer + 1).x.data(); }

  void embed(const Batch& batch);
  void embed_ids(const Batch& batch, float* x);
  void gather_inputs(const Batch& batch);
  void gather_patches(const float* image, float* rows) const;
  void take_visible(const Batch& batch);
  // The rows that are asked to answer, where that is not all of them or the cls tokens.
  void take_asked(const Batch& batch, Wanted wanted);
  // Rows that are asked move to the front of a matrix, or from there back to their places, with zeros between them.
  void gather_asked(float* rows, std::size_t stride) const;
  void spread_asked(float* rows, std::size_t stride) const;
  void gather_asked_rows(int layer);
  // The keys that heads of fixed attention go to, if there are any.
  void take_wanted(const Batch& batch);
  void draw_noise(int layer);
  void draw_mask(const std::string& dropout, const std::string& path, double path_rate, bool cls_only, float* mask);
  void attention_forward(int layer);
  void last_attention_forward(int layer);
  void absorbed_forward(int layer);
  void branches_forward(int layer, float* out);

  void branches_backward(int layer, float* gradient);
  void mlp_backward(int layer, const float* dy, float* dx, float* gradient);
  void attention_backward(int layer, float* gradient);
  void last_attention_backward(int layer, float* gradient);
  void absorbed_backward(int layer, float* gradient);
  // Where the backward pass adds the gradients by ln(multiple), and from there to the parameters they are made of.
  float* multiples_gradient(int layer, float* gradient);
  void pass_on_multiples_gradient(int layer, float* gradient);
  void embed_backward(float* gradient);
  void ids_backward(float* gradient);
  void add_weight_gradient(const Slot& weight, const Slot& bias, MatrixA dy, MatrixA x, std::size_t rows,
                           float* gradient);
  // Queries (or keys) as they meet, from their projections: normed by the rule, then turned by their positions.
  void prepare(int layer, MatrixA from, std::size_t rows, bool keys, MatrixC to);
  // Turns gradients by queries (or keys) as they meet into those by their projections, in place.
  void prepare_backward(int layer, MatrixA from, std::size_t rows, bool keys, MatrixC g, float* gradient);
  void turn(Turn turn, std::size_t rows, MatrixA from, MatrixC to) const;
  void heads_normalize(int layer, MatrixA from, std::size_t rows, bool keys, float* to, std::size_t to_stride);
  void heads_normalize_backward(int layer, MatrixA from, std::size_t rows, bool keys, MatrixC g, float* gradient);

  const TransformerModel& model_;
  const TransformerWeights& weights_;
  std::vector<Block> blocks_;
  std::size_t first_ = 0, count_ = 0, rows_ = 0;
  std::int64_t noise_step_ = -1;
  bool all_visible_ = true;
  bool some_asked_ = false;
  std::vector<std::size_t> asked_;        // rows of the samples at hand, in order
  const std::int32_t* ids_ = nullptr;     // of the samples at hand
  const std::uint8_t* wanted_ = nullptr;  // likewise
  TransformerObserver* observer_ = nullptr;

  Buffer inputs_, embed_noise_, visible_;
  Buffer asked_x_, x_last_, n_last_, mean_last_, scale_last_, logits_, d_logits_;
  Buffer cls_q_, cls_raw_, u_, z_, logit_offsets_;
  Buffer dx_, dn_, dqkv_, dh_, d_heads_, dy_;
  Buffer cls_dx_, cls_dq_, du_, dz_, weight_offsets_, d_logit_sums_, d_multiples_;
  Buffer scratch_;
  Buffer seen_logits_, seen_weights_;  // made when first asked for
};

}  // namespace eureka
