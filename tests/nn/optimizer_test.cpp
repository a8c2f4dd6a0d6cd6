// Our flat optimizers against torch::optim, step by step.
#include <torch/torch.h>

#include "nn/optimizer.h"

#include <gtest/gtest.h>

namespace eureka {
namespace {

std::vector<ParameterSpec> two_parameters() {
  return {{"matrix", {3, 4}, ParameterGroup::mlp, {Distribution::normal, 1.0}, true},
          {"bias", {4}, ParameterGroup::head, {Distribution::normal, 1.0}, false}};
}

at::Tensor loss_of(const at::Tensor& matrix, const at::Tensor& bias, int step) {
  return ((matrix.sum(0) + bias) * (step + 1)).sin().sum() + matrix.square().sum();
}

template <class TorchOptimizer, class TorchOptions>
void expect_same_path(const OptimizerOptions& ours, const GroupFactors& factors, TorchOptions matrix_options,
                      TorchOptions bias_options) {
  ParameterSet parameters(two_parameters(), 5, at::kDouble, at::kCPU);
  Optimizer optimizer(ours, factors, parameters);
  at::Tensor matrix = parameters["matrix"].detach().clone().requires_grad_(true);
  at::Tensor bias = parameters["bias"].detach().clone().requires_grad_(true);
  std::vector<torch::optim::OptimizerParamGroup> groups;
  groups.emplace_back(std::vector<at::Tensor>{matrix}, std::make_unique<TorchOptions>(matrix_options));
  groups.emplace_back(std::vector<at::Tensor>{bias}, std::make_unique<TorchOptions>(bias_options));
  // As defaults of all groups those without decay: 2.x takes a group's value of 0 for "not set".
  TorchOptimizer reference(groups, bias_options);
  for (int step = 0; step < 20; ++step) {
    parameters.zero_gradients();
    loss_of(parameters["matrix"], parameters["bias"], step).backward();
    optimizer.update(parameters, {.step = step, .lr = 0.01});
    reference.zero_grad();
    loss_of(matrix, bias, step).backward();
    reference.step();
    ASSERT_LT((parameters["matrix"] - matrix).abs().max().item<double>(), 1e-12) << "step " << step;
    ASSERT_LT((parameters["bias"] - bias).abs().max().item<double>(), 1e-12) << "step " << step;
  }
}

GroupFactors half_on_the_head() {
  GroupFactors factors;
  factors.factor[static_cast<std::size_t>(ParameterGroup::head)] = 0.5;
  return factors;
}

TEST(Optimizer, AdamWWalksWithTorch) {
  torch::optim::AdamWOptions options(0.01);
  options.weight_decay(0.3).betas({0.8, 0.95}).eps(1e-6);
  auto bias_options = options;
  bias_options.lr(0.005).weight_decay(0);
  expect_same_path<torch::optim::AdamW>(
      {.kind = OptimizerKind::adamw, .beta1 = 0.8, .beta2 = 0.95, .epsilon = 1e-6, .weight_decay = 0.3},
      half_on_the_head(), options, bias_options);
}

TEST(Optimizer, AdamWalksWithTorch) {
  torch::optim::AdamOptions options(0.01);
  options.weight_decay(0.3);
  auto bias_options = options;
  bias_options.lr(0.005).weight_decay(0);
  expect_same_path<torch::optim::Adam>({.kind = OptimizerKind::adam, .weight_decay = 0.3}, half_on_the_head(), options,
                                       bias_options);
}

TEST(Optimizer, SgdWithMomentumWalksWithTorch) {
  torch::optim::SGDOptions options(0.01);
  options.weight_decay(0.3).momentum(0.9);
  auto bias_options = options;
  bias_options.lr(0.005).weight_decay(0);
  expect_same_path<torch::optim::SGD>({.kind = OptimizerKind::sgd, .momentum = 0.9, .weight_decay = 0.3},
                                      half_on_the_head(), options, bias_options);
}

}  // namespace
}  // namespace eureka
