// What the last step of an optimizer added to its parameters, worked out from what it left: so it is known after a
// resume too, and steps at which nobody looks pay nothing.
#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/optimizer_options.h"

namespace eureka {

struct UpdateLeft {
  double rate = 0;           // learning rate of these parameters in that step
  double decay = 0;          // weight decay of these parameters
  std::int64_t updates = 0;  // done, that one included
};

// first, second: the optimizer's state (m and v of Adam; momentum, nullptr). Requires: updates > 0.
void last_update(const OptimizerOptions& optimizer, const UpdateLeft& left, std::size_t count, const float* values,
                 const float* first, const float* second, float* out);

}  // namespace eureka
