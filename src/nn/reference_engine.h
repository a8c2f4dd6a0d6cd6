// The reference engine: libtorch tensors and autograd; any rule, any device. Slower than it could be, and the truth.
#pragma once

#include <memory>
#include <optional>

#include "engine/engine.h"
#include "kernels/fused_rules.h"
#include "nn/device.h"
#include "nn/gradient_buckets.h"
#include "nn/model.h"
#include "nn/optimizer.h"

namespace eureka {

class ReferenceEngine final : public Engine {
 public:
  explicit ReferenceEngine(const EngineConfig& config);

  std::string name() const override { return "reference"; }
  std::string instructions() const override { return "libtorch: " + cpu_capability(); }
  const EngineConfig& config() const override { return config_; }
  const std::vector<ParameterSpec>& parameters() const override { return parameters_->specs(); }
  using Engine::gradient;
  StepResult gradient(const Batch& batch, std::int64_t step, std::int64_t denominator) override;
  FlatGradient flat_gradient() override;
  void update(const StepSettings& settings) override;
  Evaluation evaluate(const Batch& batch, std::int64_t step) override;
  void predict(const Batch& batch, std::int64_t step, std::vector<float>& predictions) override;
  void observe(const Batch& batch, std::int64_t step, const ObservationRequest& request,
               ObservationSink& sink) override;
  std::unique_ptr<HessianProduct> hessian_product(const Batch& batch, std::int64_t step) override;
  EngineState export_state() const override;
  void import_state(const EngineState& state) override;

  // For tests and diagnostics: class logits with the graph attached, and the flat parameters behind them.
  at::Tensor forward(const Batch& batch, const ForwardContext& context) const;
  ParameterSet& parameter_set() { return *parameters_; }

 private:
  // What a batch asks for; sent to the device before the forward pass, or it would wait for that.
  struct Answers {
    at::Tensor labels;   // of the cross-entropy; kNotAsked where nothing is asked
    at::Tensor targets;  // of the squared loss, one row per label
    // Which labels are asked for; undefined: all. A mask on the device would have to be counted there, and waited for.
    at::Tensor rows;
    std::int64_t count = 0;  // of labels that are asked for

    at::Tensor asked_for(const at::Tensor& all) const { return rows.defined() ? all.index_select(0, rows) : all; }
  };

  ModelInputs inputs_of(const Batch& batch) const;
  at::Tensor forward(const ModelInputs& inputs, const ForwardContext& context) const;
  Answers answers_of(const Batch& batch) const;
  at::Tensor loss_of(const at::Tensor& predictions, const Answers& answers, double smoothing) const;
  at::Tensor accuracy_of(const at::Tensor& predictions, const Answers& answers) const;
  // With ranks: this one's share of what the step is about, and what all of it comes to (ranked_steps.cpp).
  const Batch& own_share(const Batch& batch, std::int64_t& first);
  std::vector<at::Tensor> share_of_numbers(const at::Tensor& loss, const at::Tensor& predictions,
                                           const Answers& answers) const;
  StepResult gradient_of_all(const Batch& batch, std::int64_t step, std::int64_t denominator);
  Evaluation evaluate_all(const Batch& batch, std::int64_t step);
  ForwardContext context_at(std::int64_t step, bool training) const;
  std::vector<at::Tensor> buffer_values() const;
  void set_buffers(const std::vector<at::Tensor>& values);
  void show_parameters(const ObservationRequest& request, const std::vector<at::Tensor>& gradients,
                       ObservationSink& sink) const;

  EngineConfig config_;
  at::TensorOptions tensor_options_;
  std::unique_ptr<Model> model_;
  std::unique_ptr<ParameterSet> parameters_;
  std::vector<ParameterPart> parts_;  // of the flat parameters
  std::unique_ptr<Optimizer> optimizer_;
  std::vector<at::Tensor> learned_buffers_;  // what the model's buffers become with the update
  ProcessGroup* group_ = nullptr;            // the ranks, if there are any
  std::unique_ptr<GradientBuckets> buckets_;
  Batch own_share_;
  std::optional<FusedRule> rule_;  // as those who look inside know it; nothing: it has no kernel
};

}  // namespace eureka
