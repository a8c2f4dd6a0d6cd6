#include "engine/fused_models.h"

#include <algorithm>

#include "base/error.h"
#include "engine/transformer_layout.h"
#include "kernels/fused_rules.h"

namespace eureka {
namespace {

template <class Options>
PluginInfo model(const char* name, const char* description) {
  return {"model", name, description, describe<Options>()};
}

}  // namespace

const std::vector<PluginInfo>& fused_models() {
  static const std::vector<PluginInfo> all = {
      model<TransformerOptions>("decoder", "causal decoder: every token sees those before it and answers"),
      model<TransformerOptions>("transformer", "pre-LayerNorm encoder with a cls token"),
      model<VitOptions>("vit", "vision transformer: an image cut into patches, a cls token answers"),
  };
  return all;
}

const PluginInfo* find_fused_model(std::string_view name) {
  const auto found = std::ranges::find(fused_models(), name, &PluginInfo::name);
  return found == fused_models().end() ? nullptr : &*found;
}

const std::string& fused_model_description(std::string_view name) {
  const PluginInfo* info = find_fused_model(name);
  EUREKA_CHECK(info != nullptr, "no fused model " + std::string(name));
  return info->description;
}

std::vector<PluginInfo> fused_declarations() {
  std::vector<PluginInfo> all = fused_models();
  for (const FusedRuleInfo& rule : fused_rules())
    all.push_back({"attention", std::string(rule.name), std::string(rule.description), rule.options});
  return all;
}

}  // namespace eureka
