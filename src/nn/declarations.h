// What the torch library offers, as JSON text: models and attention rules with their options.
#pragma once

#include <string>

namespace eureka {

std::string torch_declarations();

}  // namespace eureka
