// The parameters that an attention rule with a kernel declares, as parameters of a model: one list for both engines.
#pragma once

#include <vector>

#include "engine/parameters.h"
#include "kernels/rule_options.h"

namespace eureka {

// Of one block; names are to be completed with "blocks.N.attn.".
std::vector<ParameterSpec> rule_parameters(const std::vector<RuleParameter>& declared, std::int64_t heads,
                                           std::int64_t head_width);

}  // namespace eureka
