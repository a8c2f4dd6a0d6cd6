#include "engine/fused_models.h"

#include <algorithm>

#include "base/error.h"
#include "engine/mlp_network.h"
#include "engine/resnet_network.h"
#include "engine/transformer_network.h"
#include "kernels/fused_rules.h"

namespace eureka {
namespace {

template <class Network, class Options>
FusedModelInfo model(const char* name, bool attends, const char* description) {
  return {
      {"model", name, description, describe<Options>()},
      attends,
      [](const EngineConfig& config) -> std::unique_ptr<FusedNetwork> { return std::make_unique<Network>(config); }};
}

template <class Options>
FusedModelInfo transformer(const char* name, const char* description) {
  return model<TransformerNetwork, Options>(name, true, description);
}

}  // namespace

const std::vector<FusedModelInfo>& fused_models() {
  static const std::vector<FusedModelInfo> all = {
      transformer<TransformerOptions>("decoder", "causal decoder: every token sees those before it and answers"),
      model<MlpNetwork, MlpOptions>("mlp", false,
                                    "multilayer perceptron on all tokens at once: no attention, no plateau"),
      model<ResNetNetwork, ResNetOptions>("resnet18", false,
                                          "convolutional baseline on images: four stages of two basic blocks"),
      model<ResNetNetwork, ResNetOptions>("resnet9", false,
                                          "convolutional baseline on images: four stages of one basic block"),
      transformer<TransformerOptions>(
          "transformer", "pre-norm encoder: a cls token answers, or every token where the task looks ahead"),
      transformer<VitOptions>("vit", "vision transformer: an image cut into patches, a cls token answers"),
  };
  return all;
}

const FusedModelInfo* find_fused_model(std::string_view name) {
  const auto found =
      std::ranges::find_if(fused_models(), [&](const FusedModelInfo& info) { return info.plugin.name == name; });
  return found == fused_models().end() ? nullptr : &*found;
}

const std::string& fused_model_description(std::string_view name) {
  const FusedModelInfo* info = find_fused_model(name);
  EUREKA_CHECK(info != nullptr, "no fused model " + std::string(name));
  return info->plugin.description;
}

std::vector<PluginInfo> fused_declarations() {
  std::vector<PluginInfo> all;
  for (const FusedModelInfo& info : fused_models()) all.push_back(info.plugin);
  for (const FusedRuleInfo& rule : fused_rules())
    all.push_back({"attention", std::string(rule.name), std::string(rule.description), rule.options});
  return all;
}

}  // namespace eureka
