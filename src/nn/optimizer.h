// AdamW, Adam and SGD over the flat buffers of a ParameterSet. The same updates as torch::optim, whose serialized state
// changed between releases; here the state is plain vectors that a checkpoint can name.
#pragma once

#include "engine/engine.h"
#include "nn/parameter_set.h"

namespace eureka {

class Optimizer {
 public:
  Optimizer(const OptimizerOptions& options, const GroupFactors& lr_multiplier, const ParameterSet& parameters);

  // One update with the gradients in `parameters`, scaled already.
  void update(const ParameterSet& parameters, const StepSettings& settings);

  // Named state vectors in the layout of the parameters: "m", "v" or "momentum".
  const std::vector<std::pair<std::string, at::Tensor>>& state() const { return state_; }

 private:
  // Everything but who rests; `step` counts from 0.
  void update_all(const ParameterSet& parameters, double lr, std::int64_t step);
  void update_adam(const ParameterSet& parameters, double lr, std::int64_t step);
  void update_sgd(const ParameterSet& parameters, double lr, std::int64_t step);

  OptimizerOptions options_;
  at::Tensor lr_factor_;  // per element
  at::Tensor decay_;      // per element: weight decay, or 0
  std::vector<std::pair<std::string, at::Tensor>> state_;
};

}  // namespace eureka
