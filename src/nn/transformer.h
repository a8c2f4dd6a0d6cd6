// The pre-norm transformer on libtorch: x + attention(norm(x)), x + mlp(norm(x)), then norm and a linear map of the
// tokens that answer: the cls token, or all tokens where the task asks at every position.
//
//   EUREKA_MODEL("transformer", Encoder, TransformerOptions, "...")      see models/
#pragma once

#include "engine/transformer_layout.h"
#include "nn/model.h"

namespace eureka {

class Transformer : public Model {
 public:
  // `patch` matters for a vit only.
  Transformer(TransformerKind kind, const TransformerOptions& options, int patch);

  std::vector<ParameterSpec> declare(const ModelContext& context) override;
  void bind(const ParameterSet& parameters) override;
  at::Tensor forward(const ModelInputs& inputs, const ForwardContext& context) const override;

 private:
  struct Affine {
    at::Tensor weight, bias;
    at::Tensor operator()(const at::Tensor& x) const { return at::linear(x, weight, bias); }
  };
  struct Norm {
    NormKind kind;
    at::Tensor weight, bias;
    double epsilon;
    at::Tensor operator()(const at::Tensor& x) const;
  };
  struct Block {
    Norm norm1, norm2;
    Affine q, k, v, proj, fc1, fc2;
    at::Tensor log_scale;
    std::vector<at::Tensor> rule_parameters;
  };

  std::vector<ParameterSpec> rule_parameters() const;
  at::Tensor embedded(const at::Tensor& values) const;
  // Which keys each query sees, broadcast over samples and heads; undefined: all.
  at::Tensor mask_of(const ModelInputs& inputs) const;
  // What one forward pass gives to the attention of all blocks.
  struct Sight {
    at::Tensor mask;  // as of mask_of()
    at::Tensor
        fixed;  // the weights of heads that are fixed, broadcast over samples, heads and queries; undefined: none is
    bool spares_weights = false;  // no mask is made then: the causal one, or none, is meant
  };
  // Whether a long sequence goes without matrices of queries by keys: nobody looks at them, changes them or
  // differentiates twice, and the rule can.
  bool spares_weights(const ModelInputs& inputs, const ForwardContext& context) const;
  at::Tensor fixed_weights(const ModelInputs& inputs, const at::Tensor& mask, const ForwardContext& context) const;
  AttentionScale scale_of(const Block& block, int layer, const ForwardContext& context) const;
  // 1 for each head of `layer` that is fixed, shaped to broadcast over weights.
  at::Tensor fixed_heads(int layer, const at::Tensor& like) const;
  at::Tensor attention(const at::Tensor& x, const Block& block, int layer, const Sight& sight,
                       const ForwardContext& context) const;
  at::Tensor split_heads(const at::Tensor& x) const;
  // Rotary positions on queries or keys: samples x heads x tokens x head width.
  at::Tensor turned(const at::Tensor& x) const;
  // Dropout, then stochastic depth, on the output of one branch of block `layer`.
  at::Tensor branch_noise(at::Tensor y, const char* branch, int layer, const ForwardContext& context) const;

  TransformerKind kind_;
  TransformerOptions options_;
  int patch_;
  TransformerPlan plan_;
  ModelContext context_;
  Affine embed_, head_;
  Norm norm_;
  at::Tensor cls_, positions_, cosines_, sines_;
  std::vector<Block> blocks_;
};

}  // namespace eureka
