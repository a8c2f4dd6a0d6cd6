// The parameters that an intervention is about: those of some groups, in some blocks.
//
//   std::vector<std::size_t> chosen = chosen_parameters(engine.parameters(), "query_key, value", "0", "freeze");
#pragma once

#include <string>
#include <vector>

#include "engine/parameters.h"

namespace eureka {

// Every group, and besides: query and key, which together are query_key; all.
std::vector<std::string> choosable_groups();

// Indices into `specs`, ascending. `intervention` names the table of [intervene] in errors. Throws Error(config) when a
// group has no parameter in these blocks of this model.
std::vector<std::size_t> chosen_parameters(const std::vector<ParameterSpec>& specs, const std::string& groups,
                                           const std::string& layers, const std::string& intervention);

}  // namespace eureka
