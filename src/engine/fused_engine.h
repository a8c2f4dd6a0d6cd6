// The fused engine: the transformer on CPU in float32, forward, backward and optimizer on memory allocated once,
// without an autograd graph and without libtorch. Agrees with the reference engine to float32 rounding; shares its
// parameters, its randomness and its checkpoints.
//
// Ensures: the bits of a step do not depend on the number of threads.
#pragma once

#include <optional>

#include "base/thread_pool.h"
#include "engine/engine.h"
#include "engine/fused_pass.h"
#include "kernels/elementwise.h"
#include "kernels/instruction_set.h"

namespace eureka {

// Why this config cannot run in the fused engine; nothing if it can.
std::optional<std::string> why_not_fused(const EngineConfig& config);

class FusedEngine final : public Engine {
 public:
  // Throws Error(config) for what the engine does not cover, and for what would not fit into memory.
  explicit FusedEngine(const EngineConfig& config);

  std::string name() const override { return "fused"; }
  std::string instructions() const override { return instruction_set(); }
  const EngineConfig& config() const override { return config_; }
  const std::vector<ParameterSpec>& parameters() const override { return model_.specs; }
  using Engine::gradient;
  StepResult gradient(const Batch& batch, std::int64_t step, std::int64_t denominator) override;
  FlatGradient flat_gradient() override;
  void update(const StepSettings& settings) override;
  Evaluation evaluate(const Batch& batch, std::int64_t step) override;
  void predict(const Batch& batch, std::int64_t step, std::vector<float>& predictions) override;
  void observe(const Batch& batch, std::int64_t step, const ObservationRequest& request,
               ObservationSink& sink) override;
  EngineState export_state() const override;
  void import_state(const EngineState& state) override;

  // For tests: what gradient() left, one tensor per parameter.
  std::vector<StateTensor> gradients() const;

 private:
  struct StateVector {
    std::string name;
    Buffer values;
  };

  // The whole model, for those who look inside; made at the first look and kept.
  struct Inside {
    // The weights are those of training: their layout does not depend on the extent.
    Inside(const EngineConfig& config, const FusedWeights& weights)
        : model(config, Extent::whole), pass(model, weights), observer(model) {}

    FusedModel model;
    FusedPass pass;
    FusedObserver observer;
    Buffer gradient;  // by the parameters; made when a backward pass is first asked for
  };

  // What all parameters share in one update.
  struct UpdateNow {
    double lr = 0;
    bool first = false;
    double gradient_scale = 1;
    double bias1 = 1, bias2 = 1;  // Adam: how much of its two means is there yet
  };

  // Mean over the answers that count.
  Evaluation mean_of_losses(bool smoothed) const;
  void check_inputs(const Batch& batch) const;
  void begin_pass(const Batch& batch, std::int64_t denominator);
  void pack_weights(std::int64_t step);
  void pass_over(const Batch& batch, std::int64_t step, bool training, std::int64_t denominator = 0);
  // Losses of the samples just computed, and the gradients by their predictions.
  void take_losses(const Batch& batch, SampleRange samples, FusedPass& pass);
  // visit(pass, samples, group) for every microbatch of the batch, over all threads. A group of samples has a gradient
  // of its own.
  template <class Visit>
  void each_microbatch(const Batch& batch, const Visit& visit);
  double sum_gradients();
  void update_slot(std::size_t slot, const UpdateNow& update);
  StateTensor exported(const std::string& name, std::size_t parameter, const Buffer& from) const;

  EngineConfig config_;
  FusedModel model_;
  FusedWeights weights_;
  ThreadPool pool_;
  std::vector<std::unique_ptr<FusedPass>> passes_;  // one per thread
  Buffer values_;
  std::vector<StateVector> state_;
  std::vector<Buffer> gradients_;   // one per group of samples; the first receives the sum
  bool gradients_pending_ = false;  // the first gradient holds a sum that no update has used
  std::vector<AnswerLoss> losses_;
  double answer_weight_ = 0;  // 1 / the loss's denominator
  std::vector<float*> parts_;
  std::vector<double> squares_;
  std::unique_ptr<Inside> inside_;
};

}  // namespace eureka
