// Declarations of options and plug-ins as JSON: what `eureka list --json` prints and what the torch library hands over
// at build time.
#pragma once

#include "base/registry.h"
#include "io/json.h"

namespace eureka {

Json to_json(const OptionValue& value);
Json to_json(const OptionInfo& info);
Json to_json(const PluginInfo& info);

// The reverse of to_json(PluginInfo); only ever reads what we wrote ourselves.
PluginInfo plugin_from_json(const Json& json);

}  // namespace eureka
