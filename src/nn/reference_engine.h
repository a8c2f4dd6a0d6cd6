// The reference engine: libtorch tensors and autograd; any rule, any device. Slower than it could be, and the truth.
#pragma once

#include <memory>

#include "engine/engine.h"
#include "nn/model.h"
#include "nn/optimizer.h"

namespace eureka {

class ReferenceEngine final : public Engine {
 public:
  explicit ReferenceEngine(const EngineConfig& config);

  std::string name() const override { return "reference"; }
  const std::vector<ParameterSpec>& parameters() const override { return parameters_->specs(); }
  StepResult train_step(const Batch& batch, const StepSettings& settings) override;
  Evaluation evaluate(const Batch& batch, std::int64_t step) override;
  Observation observe(const Batch& batch, std::int64_t step) override;
  EngineState export_state() const override;
  void import_state(const EngineState& state) override;

  // For tests and diagnostics: class logits with the graph attached, and the flat parameters behind them.
  at::Tensor forward(const Batch& batch, const ForwardContext& context) const;
  ParameterSet& parameter_set() { return *parameters_; }

  // Forward and backward of one batch; leaves the gradients in parameter_set().
  StepResult accumulate_gradients(const Batch& batch, std::int64_t step);

 private:
  ModelInputs inputs_of(const Batch& batch) const;
  at::Tensor labels_of(const Batch& batch) const;
  at::Tensor targets_of(const Batch& batch) const;
  at::Tensor loss_of(const at::Tensor& predictions, const Batch& batch, double label_smoothing) const;
  double accuracy_of(const at::Tensor& predictions, const Batch& batch) const;
  ForwardContext context_at(std::int64_t step, bool training) const;

  EngineConfig config_;
  at::TensorOptions tensor_options_;
  std::unique_ptr<Model> model_;
  std::unique_ptr<ParameterSet> parameters_;
  std::unique_ptr<Optimizer> optimizer_;
};

}  // namespace eureka
