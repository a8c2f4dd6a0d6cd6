#include "engine/engine.h"

#include "base/error.h"

namespace eureka {

double clip_factor(double clip, double gradient_norm) {
  return clip > 0 && gradient_norm > clip ? clip / (gradient_norm + 1e-6) : 1.0;
}

std::span<float> FlatGradient::floats() const {
  EUREKA_CHECK(on_host && !double_precision, "a gradient in single precision on the host");
  return {static_cast<float*>(data), numbers};
}

StepResult Engine::train_step(const Batch& batch, const StepSettings& settings) {
  const StepResult result = gradient(batch, settings.step, 0);
  StepSettings clipped = settings;
  clipped.gradient_scale *= clip_factor(config().clip, result.gradient_norm);
  update(clipped);
  return result;
}

}  // namespace eureka
