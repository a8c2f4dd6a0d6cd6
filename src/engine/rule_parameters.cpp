#include "engine/rule_parameters.h"

namespace eureka {
namespace {

bool is_per_head(RuleParameterRole role) {
  return role == RuleParameterRole::log_query_factor || role == RuleParameterRole::scale_factor;
}

}  // namespace

std::vector<ParameterSpec> rule_parameters(const std::vector<RuleParameter>& declared, std::int64_t heads,
                                           std::int64_t head_width) {
  std::vector<ParameterSpec> specs;
  for (const RuleParameter& parameter : declared)
    specs.push_back({.name = parameter.name,
                     .shape = {is_per_head(parameter.role) ? heads : head_width},
                     .group = ParameterGroup::rule,
                     .init = Initializer::constant(parameter.initial),
                     .decays = false});
  return specs;
}

}  // namespace eureka
