// What only the torch library has, as JSON text: models and attention rules without a fused form, with their options.
#pragma once

#include <string>

namespace eureka {

std::string torch_declarations();

}  // namespace eureka
