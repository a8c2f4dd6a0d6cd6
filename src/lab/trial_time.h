// How long a trial will take on this machine.
#pragma once

#include "train/config.h"

namespace eureka {

// In seconds, from a few steps of it that are taken here, validations included; half a second or one step are enough. 0
// where nothing can be told. A run that stops at its moment may take less.
double estimated_seconds(const RunConfig& config);

}  // namespace eureka
