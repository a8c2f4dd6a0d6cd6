// The roles in a two-step task, symbolic or of images: indicators decide which target carries the label.
#pragma once

#include "tasks/task.h"

namespace eureka {

enum class TwoStepRole : std::uint8_t { target, distractor, indicator };

// In the order of TwoStepRole.
inline std::vector<Role> two_step_roles() {
  return {{"target", "may carry the label", true},
          {"distractor", "means nothing", false},
          {"indicator", "decides which target carries the label", true}};
}

}  // namespace eureka
