#include "nn/optimizer.h"

#include <cmath>

#include "base/exact_math.h"

namespace eureka {

Optimizer::Optimizer(const OptimizerOptions& options, const GroupFactors& lr_multiplier, const ParameterSet& parameters)
    : options_(options), lr_factor_(at::empty_like(parameters.values())), decay_(at::empty_like(parameters.values())) {
  for (std::size_t i = 0; i < parameters.specs().size(); ++i) {
    const ParameterSpec& spec = parameters.specs()[i];
    parameters.part(lr_factor_, i).fill_(lr_multiplier[spec.group]);
    parameters.part(decay_, i).fill_(spec.decays ? options.weight_decay : 0.0);
  }
  const auto add_state = [&](const char* name) { state_.emplace_back(name, at::zeros_like(parameters.values())); };
  if (options.kind == OptimizerKind::sgd) {
    add_state("momentum");
  } else {
    add_state("m");
    add_state("v");
  }
}

void Optimizer::update(const ParameterSet& parameters, const StepSettings& settings) {
  const at::NoGradGuard no_grad;
  // What rests is put back as it was: the update goes over all parameters at once.
  std::vector<std::pair<at::Tensor, at::Tensor>> resting;
  const auto keep = [&](const at::Tensor& part) { resting.emplace_back(part, part.clone()); };
  for (std::size_t i = 0; i < parameters.specs().size(); ++i) {
    if (!settings.rests(i)) continue;
    keep(parameters.part(parameters.values(), i));
    for (const auto& [name, flat] : state_) keep(parameters.part(flat, i));
  }
  update_all(parameters, settings.lr, settings.step);
  for (auto& [part, before] : resting) part.copy_(before);
}

void Optimizer::update_all(const ParameterSet& parameters, double lr, std::int64_t step) {
  if (options_.kind == OptimizerKind::sgd)
    update_sgd(parameters, lr, step);
  else
    update_adam(parameters, lr, step);
}

void Optimizer::update_adam(const ParameterSet& parameters, double lr, std::int64_t step) {
  at::Tensor values = parameters.values();
  at::Tensor gradient = parameters.gradients();
  at::Tensor& m = state_[0].second;
  at::Tensor& v = state_[1].second;
  const at::Tensor rate = lr_factor_ * lr;
  if (options_.kind == OptimizerKind::adamw)
    values.mul_(1 - rate * decay_);
  else
    gradient = at::addcmul(gradient, decay_, values);
  m.mul_(options_.beta1).add_(gradient, 1 - options_.beta1);
  v.mul_(options_.beta2).addcmul_(gradient, gradient, 1 - options_.beta2);
  const double updates = static_cast<double>(step) + 1;
  const double correction1 = 1 - exact::pow(options_.beta1, updates);
  const double correction2 = 1 - exact::pow(options_.beta2, updates);
  const at::Tensor denominator = v.sqrt().div_(std::sqrt(correction2)).add_(options_.epsilon);
  values.addcdiv_(m * rate, denominator, -1 / correction1);
}

void Optimizer::update_sgd(const ParameterSet& parameters, double lr, std::int64_t step) {
  at::Tensor values = parameters.values();
  const at::Tensor gradient = at::addcmul(parameters.gradients(), decay_, values);
  at::Tensor& momentum = state_[0].second;
  if (step == 0)
    momentum.copy_(gradient);
  else
    momentum.mul_(options_.momentum).add_(gradient);
  values.addcmul_(lr_factor_, momentum, -lr);
}

}  // namespace eureka
