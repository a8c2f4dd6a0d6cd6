// Declarations of options and plug-ins as JSON: what `eureka list --json` prints and what the torch library hands over
// at build time.
#pragma once

#include <nlohmann/json.hpp>

#include "base/registry.h"

namespace eureka {

nlohmann::ordered_json to_json(const OptionValue& value);
nlohmann::ordered_json to_json(const OptionInfo& info);
nlohmann::ordered_json to_json(const PluginInfo& info);

// The reverse of to_json(PluginInfo); only ever reads what we wrote ourselves.
PluginInfo plugin_from_json(const nlohmann::ordered_json& json);

}  // namespace eureka
