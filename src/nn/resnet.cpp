#include "nn/resnet.h"

namespace eureka {

at::Tensor ResNet::Layer::operator()(const at::Tensor& x, const ForwardContext& context) const {
  const at::Tensor y = at::conv2d(x, weight, {}, plan.step, plan.side / 2);
  // Statistics of the batch in training; the running ones are only brought up to date by real steps.
  const double share = context.updates_buffers ? kRunningShare : 0.0;
  return at::batch_norm(y, gain, bias, running_mean, running_variance, context.training, share, kVarianceEpsilon,
                        /*cudnn_enabled=*/true);
}

std::vector<ParameterSpec> ResNet::declare(const ModelContext& context) {
  plan_ = plan_resnet(options_, blocks_per_stage_, context.shape);
  return resnet_parameters(plan_);
}

void ResNet::bind(const ParameterSet& parameters) {
  layers_.clear();
  for (const ConvolutionPlan& plan : plan_.convolutions()) {
    const at::Tensor weight = parameters[plan.name + ".weight"];
    const at::TensorOptions options = weight.options().requires_grad(false);
    layers_.push_back({plan, weight, parameters[plan.name + ".norm.weight"], parameters[plan.name + ".norm.bias"],
                       at::zeros({plan.to}, options), at::ones({plan.to}, options)});
  }
  head_weight_ = parameters["head.weight"];
  head_bias_ = parameters["head.bias"];
}

std::vector<ModelBuffer> ResNet::buffers() const {
  std::vector<ModelBuffer> all;
  for (const Layer& layer : layers_) {
    all.push_back({layer.plan.name + ".norm.running_mean", layer.running_mean});
    all.push_back({layer.plan.name + ".norm.running_var", layer.running_variance});
  }
  return all;
}

at::Tensor ResNet::forward(const ModelInputs& inputs, const ForwardContext& context) const {
  auto layer = layers_.begin();
  at::Tensor x = (*layer++)(inputs.values.permute({0, 3, 1, 2}), context).relu();
  if (plan_.pools) x = at::max_pool2d(x, 3, 2, 1);
  for (const ResidualBlockPlan& block : plan_.blocks) {
    const Layer &first = *layer++, &second = *layer++;
    const at::Tensor y = second(first(x, context).relu(), context);
    x = (y + (block.shortcut ? (*layer++)(x, context) : x)).relu();
  }
  return at::linear(x.mean({2, 3}), head_weight_, head_bias_);
}

}  // namespace eureka
