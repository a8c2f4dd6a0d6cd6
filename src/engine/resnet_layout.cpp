#include "engine/resnet_layout.h"

#include <fmt/format.h>

#include <cmath>

#include "base/error.h"

namespace eureka {

std::vector<ConvolutionPlan> ResNetPlan::convolutions() const {
  std::vector<ConvolutionPlan> all = {stem};
  for (const ResidualBlockPlan& block : blocks) {
    all.push_back(block.first);
    all.push_back(block.second);
    if (block.shortcut) all.push_back(*block.shortcut);
  }
  return all;
}

ResNetPlan plan_resnet(const ResNetOptions& options, int blocks_per_stage, const TaskShape& shape) {
  constexpr int kStages = 4;
  if (shape.input() != InputKind::image || shape.every_position)
    throw Error(ErrorKind::config, "a ResNet takes images and answers once per sample", {},
                "use --set model.name=transformer for tokens");
  const bool large = options.stem == Stem::imagenet;
  ResNetPlan plan{.stem = {"stem", shape.image.channels, options.width, large ? 7 : 3, large ? 2 : 1},
                  .pools = large,
                  .blocks = {},
                  .channels = options.width,
                  .classes = shape.classes};
  for (int stage = 0; stage < kStages; ++stage) {
    for (int i = 0; i < blocks_per_stage; ++i) {
      const std::int64_t from = plan.channels, to = static_cast<std::int64_t>(options.width) << stage;
      const std::int64_t step = stage > 0 && i == 0 ? 2 : 1;
      const std::string name = fmt::format("stages.{}.{}.", stage, i);
      ResidualBlockPlan block{{name + "conv1", from, to, 3, step}, {name + "conv2", to, to, 3, 1}, {}};
      if (step != 1 || from != to) block.shortcut = ConvolutionPlan{name + "shortcut", from, to, 1, step};
      plan.blocks.push_back(std::move(block));
      plan.channels = to;
    }
  }
  return plan;
}

std::vector<ParameterSpec> resnet_parameters(const ResNetPlan& plan) {
  std::vector<ParameterSpec> specs;
  for (const ConvolutionPlan& layer : plan.convolutions()) {
    const double fan_out = static_cast<double>(layer.to * layer.side * layer.side);
    specs.push_back({layer.name + ".weight",
                     {layer.to, layer.from, layer.side, layer.side},
                     ParameterGroup::convolution,
                     {Distribution::normal, std::sqrt(2 / fan_out)},
                     true});
    specs.push_back({layer.name + ".norm.weight", {layer.to}, ParameterGroup::norm, Initializer::ones(), false});
    specs.push_back({layer.name + ".norm.bias", {layer.to}, ParameterGroup::norm, Initializer::zeros(), false});
  }
  const Initializer uniform = Initializer::uniform_fan_in(plan.channels);
  specs.push_back({"head.weight", {plan.classes, plan.channels}, ParameterGroup::head, uniform, true});
  specs.push_back({"head.bias", {plan.classes}, ParameterGroup::head, uniform, false});
  return specs;
}

}  // namespace eureka
