// Between the two orders of an image: patch after patch, as tasks write it, and plane after plane, as convolutions and
// people want it.
//
//   patches_to_planes(task->shape().image, batch.inputs.data(), planes);     one image of channels x height x width
//   floats
#pragma once

#include "tasks/task.h"

namespace eureka {

void patches_to_planes(const ImageShape& shape, const float* patches, float* planes);

}  // namespace eureka
