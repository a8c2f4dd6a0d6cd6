// The models that have a fused form, known without torch: what `list` prints of them and a config may say.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/registry.h"

namespace eureka {

// By name.
const std::vector<PluginInfo>& fused_models();
// nullptr: the model has no fused form.
const PluginInfo* find_fused_model(std::string_view name);

// The one line that the reference form of the model says of itself too. Requires: it has a fused form.
const std::string& fused_model_description(std::string_view name);

// The declarations of all fused models and of all attention rules with a kernel.
std::vector<PluginInfo> fused_declarations();

}  // namespace eureka
