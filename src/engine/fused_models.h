// The models that have a fused form, known without torch: what `list` prints of them, what a config may say, and the
// network that trains.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/registry.h"
#include "engine/fused_network.h"

namespace eureka {

struct FusedModelInfo {
  PluginInfo plugin;
  bool attends;  // has an attention rule
  std::unique_ptr<FusedNetwork> (*make)(const EngineConfig& config);
};

// By name.
const std::vector<FusedModelInfo>& fused_models();
// nullptr: the model has no fused form.
const FusedModelInfo* find_fused_model(std::string_view name);

// The one line that the reference form of the model says of itself too. Requires: it has a fused form.
const std::string& fused_model_description(std::string_view name);

// The declarations of all fused models and of all attention rules with a kernel.
std::vector<PluginInfo> fused_declarations();

}  // namespace eureka
