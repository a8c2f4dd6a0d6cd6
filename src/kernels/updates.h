// One update of a stretch of parameters: AdamW, Adam, SGD. Clears the gradient for the next step.
#pragma once

#include <cstddef>

namespace eureka {

struct AdamStep {
  float beta1 = 0.9F, beta2 = 0.999F;
  float rest1 = 0.1F, rest2 = 0.001F;  // 1 - beta, rounded once
  float rate = 0;                      // learning rate of this stretch, divided by 1 - beta1^t
  float inverse_root_bias = 1;         // 1 / sqrt(1 - beta2^t)
  float epsilon = 1e-8F;
  float shrink = 1;          // AdamW: 1 - rate * decay
  float decay = 0;           // Adam: times the value, added to the gradient
  float gradient_scale = 1;  // of clipping
};

// count: a multiple of 16
void adam_update(const AdamStep& step, std::size_t count, float* values, float* gradient, float* m, float* v);

struct SgdStep {
  float rate = 0;
  float momentum = 0.9F;
  float decay = 0;
  bool first = false;  // momentum starts as the first gradient
  float gradient_scale = 1;
};

void sgd_update(const SgdStep& step, std::size_t count, float* values, float* gradient, float* momentum);

}  // namespace eureka
