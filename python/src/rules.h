// Attention rules by name and options, as Python gives them.
#pragma once

#include <nanobind/nanobind.h>

#include <string>

#include "kernels/fused_rules.h"

namespace eureka::python {

// Throws Error(config), with a suggestion, for a rule or an option that there is not.
FusedRule rule_of(const std::string& name, const nanobind::dict& options);

}  // namespace eureka::python
