#include "engine/observation.h"

#include <algorithm>

namespace eureka {

bool ObservationRequest::wants(int layer) const {
  return layers.empty() || std::find(layers.begin(), layers.end(), layer) != layers.end();
}

ObservationRequest ObservationRequest::operator|(const ObservationRequest& other) const {
  ObservationRequest both = *this;
  both.points = points | other.points;
  if (layers.empty() || other.layers.empty())
    both.layers.clear();
  else
    both.layers.insert(both.layers.end(), other.layers.begin(), other.layers.end());
  both.samples = samples == 0 || other.samples == 0 ? 0 : std::max(samples, other.samples);
  both.values = values || other.values;
  both.gradients = gradients || other.gradients;
  both.parameters = std::max(parameters, other.parameters);
  if (!both.last_update) both.last_update = other.last_update;
  return both;
}

}  // namespace eureka
