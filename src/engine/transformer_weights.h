// What all threads read during a step: the weights, packed for the products, and small tables made of them. Made anew
// from the flat values before every step.
#pragma once

#include "engine/transformer_model.h"
#include "kernels/gemm.h"

namespace eureka {

class TransformerWeights {
 public:
  explicit TransformerWeights(const TransformerModel& model);
  static std::size_t bytes(const TransformerModel& model);
  void allocate();

  // step: decides the scale of attention, and what is done to its heads.
  void pack_from(const float* values, std::int64_t step);

  struct Block {
    // Factors of x W^T (forward) and of dy W (backward). Queries, keys and values lie side by side in padded columns.
    Buffer qkv, qkv_back, qkv_bias;
    Buffer proj, proj_back, fc1, fc1_back, fc2, fc2_back;
    std::vector<float> scales;        // fixed, scheduled or learned multiples of 1/sqrt(head width), per head
    std::vector<float> multiples;     // and these times the rule's own strength
    std::vector<float> factors;       // of QK-norm, per head
    std::vector<std::uint8_t> fixed;  // per head: 1 where attention is fixed; empty: nowhere in this block
  };

  const float* values() const { return values_; }
  // Whether the attention of any head is fixed at this step.
  bool fixes_attention() const { return fixes_attention_; }
  const float* at(const Slot& slot) const { return values_ + slot.offset; }
  const Block& block(int layer) const { return blocks_[static_cast<std::size_t>(layer)]; }

  MatrixB embed() const { return MatrixB::packed(embed_.data(), model_.inputs); }
  MatrixB head() const { return MatrixB::packed(head_.data(), model_.width); }
  MatrixB head_back() const { return MatrixB::packed(head_back_.data(), model_.classes); }
  // Columns of the joint projection from `part` on: 0 queries, 1 keys, 2 values.
  MatrixB qkv(int layer, std::size_t part) const;
  MatrixB qkv_back(int layer, std::size_t part) const;
  // Of rotary positions, tokens x (head width / 2); nullptr without them.
  const float* cosines() const { return rotary_.empty() ? nullptr : rotary_.data(); }
  const float* sines() const { return rotary_.empty() ? nullptr : rotary_.data() + rotary_.size() / 2; }
  // tokens x width: embedding bias (or cls token) plus position.
  const float* table() const { return table_.data(); }

 private:
  // A buffer and its size: one list serves both who makes them and who only counts.
  template <class Owner>
  struct Memory {
    Buffer Owner::*buffer;
    std::size_t floats;
  };
  static std::vector<Memory<TransformerWeights>> memory(const TransformerModel& model);
  static std::vector<Memory<Block>> memory_of_block(const TransformerModel& model, const TransformerBlock& block);

  void pack_block(int layer);
  void pack_heads(int layer, std::int64_t step);

  const TransformerModel& model_;
  const float* values_ = nullptr;
  bool fixes_attention_ = false;
  std::vector<Block> blocks_;
  Buffer embed_, head_, head_back_, table_;
  std::vector<float> fixed_positions_, rotary_;
};

}  // namespace eureka
