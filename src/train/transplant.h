// Values of another run's checkpoint, for [intervene.transplant].
#pragma once

#include <cstdint>
#include <vector>

#include "engine/engine.h"
#include "train/intervention_options.h"
#include "train/records/run_event.h"

namespace eureka {

struct Transplant {
  TransplantSource source;
  std::vector<StateTensor> tensors;
};

// Those of `parameters` that the options choose. Throws Error(config) when there is no such run or checkpoint, or when
// it lacks one of them or has it in another shape; Error(input) when the checkpoint is damaged.
Transplant read_transplant(const Transplanting& options, std::int64_t seed,
                           const std::vector<ParameterSpec>& parameters);

}  // namespace eureka
