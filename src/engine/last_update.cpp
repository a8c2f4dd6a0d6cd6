#include "engine/last_update.h"

#include <cfloat>
#include <cmath>

#include "base/exact_math.h"

namespace eureka {

void last_update(const OptimizerOptions& o, const UpdateLeft& left, std::size_t count, const float* values,
                 const float* first, const float* second, float* out) {
  if (o.kind == OptimizerKind::sgd) {
    const auto rate = static_cast<float>(left.rate);
    for (std::size_t i = 0; i < count; ++i) out[i] = -rate * first[i];
    return;
  }
  const auto updates = static_cast<double>(left.updates);
  const auto rate = static_cast<float>(left.rate / (1 - exact::pow(o.beta1, updates)));
  const auto root = static_cast<float>(1 / std::sqrt(1 - exact::pow(o.beta2, updates)));
  const auto epsilon = static_cast<float>(o.epsilon);
  // x = (1 - shrunk) before - step, hence x - before = -(shrunk x + step) / (1 - shrunk): no digits cancel.
  const auto shrunk = o.kind == OptimizerKind::adamw ? static_cast<float>(left.rate * left.decay) : 0.0F;
  const float grown = 1 / (1 - shrunk);
  for (std::size_t i = 0; i < count; ++i) {
    const float size = std::sqrt(second[i]) * root + epsilon;
    const float step = rate * first[i] / (size > FLT_MIN ? size : FLT_MIN);
    out[i] = -(shrunk * values[i] + step) * grown;
  }
}

}  // namespace eureka
