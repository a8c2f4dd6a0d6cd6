#include "tasks/image_layout.h"

namespace eureka {

void patches_to_planes(const ImageShape& shape, const float* patches, float* planes) {
  for (std::int64_t top = 0; top < shape.height; top += shape.patch)
    for (std::int64_t left = 0; left < shape.width; left += shape.patch)
      for (std::int64_t channel = 0; channel < shape.channels; ++channel)
        for (std::int64_t y = top; y < top + shape.patch; ++y)
          for (std::int64_t x = left; x < left + shape.patch; ++x)
            planes[(channel * shape.height + y) * shape.width + x] = *patches++;
}

}  // namespace eureka
