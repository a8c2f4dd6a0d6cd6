#include "nn/resnet.h"

#include <fmt/format.h>

#include <cmath>

#include "base/error.h"

namespace eureka {
namespace {

constexpr int kStages = 4;

}  // namespace

at::Tensor ResNet::Layer::operator()(const at::Tensor& x, const ForwardContext& context) const {
  const at::Tensor y = at::conv2d(x, weight, {}, stride, kernel / 2);
  // Statistics of the batch in training; the running ones are only brought up to date by real steps.
  const double momentum = context.updates_buffers ? 0.1 : 0.0;
  return at::batch_norm(y, gain, bias, running_mean, running_variance, context.training, momentum, 1e-5,
                        /*cudnn_enabled=*/true);
}

template <class Self, class Action>
void ResNet::for_each_layer(Self& self, const Action& action) {
  action(self.stem_);
  for (auto& block : self.blocks_) {
    action(block.first);
    action(block.second);
    if (block.shortcut) action(*block.shortcut);
  }
}

std::vector<ParameterSpec> ResNet::declare(const ModelContext& context) {
  const TaskShape& shape = context.shape;
  if (shape.input() != InputKind::image || shape.every_position)
    throw Error(ErrorKind::config, "a ResNet takes images and answers once per sample", {},
                "use --set model.name=transformer for tokens");
  const bool large = options_.stem == Stem::imagenet;
  stem_ = {.name = "stem",
           .from = shape.image.channels,
           .to = options_.width,
           .kernel = large ? 7 : 3,
           .stride = large ? 2 : 1};
  blocks_.clear();
  std::int64_t channels = options_.width;
  for (int stage = 0; stage < kStages; ++stage) {
    for (int i = 0; i < blocks_per_stage_; ++i) {
      const std::int64_t to = options_.width << stage, stride = stage > 0 && i == 0 ? 2 : 1;
      const std::string name = fmt::format("stages.{}.{}.", stage, i);
      Block block{{.name = name + "conv1", .from = channels, .to = to, .kernel = 3, .stride = stride},
                  {.name = name + "conv2", .from = to, .to = to, .kernel = 3, .stride = 1},
                  {}};
      if (stride != 1 || channels != to)
        block.shortcut = Layer{.name = name + "shortcut", .from = channels, .to = to, .kernel = 1, .stride = stride};
      blocks_.push_back(std::move(block));
      channels = to;
    }
  }
  std::vector<ParameterSpec> specs;
  for_each_layer(*this, [&](const Layer& layer) {
    const double fan_out = static_cast<double>(layer.to * layer.kernel * layer.kernel);
    specs.push_back({layer.name + ".weight",
                     {layer.to, layer.from, layer.kernel, layer.kernel},
                     ParameterGroup::convolution,
                     {Distribution::normal, std::sqrt(2 / fan_out)},
                     true});
    specs.push_back({layer.name + ".norm.weight", {layer.to}, ParameterGroup::norm, Initializer::ones(), false});
    specs.push_back({layer.name + ".norm.bias", {layer.to}, ParameterGroup::norm, Initializer::zeros(), false});
  });
  const Initializer uniform = Initializer::uniform_fan_in(channels);
  specs.push_back({"head.weight", {shape.classes, channels}, ParameterGroup::head, uniform, true});
  specs.push_back({"head.bias", {shape.classes}, ParameterGroup::head, uniform, false});
  return specs;
}

void ResNet::bind(const ParameterSet& parameters) {
  for_each_layer(*this, [&](Layer& layer) {
    layer.weight = parameters[layer.name + ".weight"];
    layer.gain = parameters[layer.name + ".norm.weight"];
    layer.bias = parameters[layer.name + ".norm.bias"];
    layer.running_mean = at::zeros({layer.to}, layer.weight.options().requires_grad(false));
    layer.running_variance = at::ones({layer.to}, layer.weight.options().requires_grad(false));
  });
  head_weight_ = parameters["head.weight"];
  head_bias_ = parameters["head.bias"];
}

std::vector<ModelBuffer> ResNet::buffers() const {
  std::vector<ModelBuffer> all;
  for_each_layer(*this, [&](const Layer& layer) {
    all.push_back({layer.name + ".norm.running_mean", layer.running_mean});
    all.push_back({layer.name + ".norm.running_var", layer.running_variance});
  });
  return all;
}

at::Tensor ResNet::forward(const ModelInputs& inputs, const ForwardContext& context) const {
  at::Tensor x = stem_(inputs.values.permute({0, 3, 1, 2}), context).relu();
  if (options_.stem == Stem::imagenet) x = at::max_pool2d(x, 3, 2, 1);
  for (const Block& block : blocks_) {
    const at::Tensor y = block.second(block.first(x, context).relu(), context);
    x = (y + (block.shortcut ? (*block.shortcut)(x, context) : x)).relu();
  }
  return at::linear(x.mean({2, 3}), head_weight_, head_bias_);
}

}  // namespace eureka
