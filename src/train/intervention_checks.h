// Whether the [intervene] of a config makes sense: names, intervals, layers and heads, before anything is made.
#pragma once

#include "train/config.h"

namespace eureka {

// Throws Error(config) at the entry's own place, with "did you mean".
void check_interventions(const RunConfig& config, const ConfigEntries& entries);

// Layers and heads as one number (--set intervene.freeze.layers=0) are texts like the lists they stand for.
ConfigEntries with_lists_as_text(ConfigEntries entries);

}  // namespace eureka
