// Residual convolutional networks on libtorch: the baseline on images that shows no plateau.
#pragma once

#include "engine/resnet_layout.h"
#include "nn/model.h"

namespace eureka {

class ResNet : public Model {
 public:
  ResNet(const ResNetOptions& options, int blocks_per_stage) : options_(options), blocks_per_stage_(blocks_per_stage) {}

  std::vector<ParameterSpec> declare(const ModelContext& context) override;
  void bind(const ParameterSet& parameters) override;
  at::Tensor forward(const ModelInputs& inputs, const ForwardContext& context) const override;
  std::vector<ModelBuffer> buffers() const override;

 private:
  // A convolution followed by batch normalization.
  struct Layer {
    ConvolutionPlan plan;
    at::Tensor weight, gain, bias, running_mean, running_variance;

    at::Tensor operator()(const at::Tensor& x, const ForwardContext& context) const;
  };

  ResNetOptions options_;
  int blocks_per_stage_;
  ResNetPlan plan_;
  std::vector<Layer> layers_;  // in the order of the plan
  at::Tensor head_weight_, head_bias_;
};

}  // namespace eureka
