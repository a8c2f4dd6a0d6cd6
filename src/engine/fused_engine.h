// The fused engine: networks on CPU in float32, forward, backward and optimizer on memory allocated once, without an
// autograd graph and without libtorch. Agrees with the reference engine to float32 rounding; shares its parameters, its
// randomness and its checkpoints.
//
// Ensures: the bits of a step do not depend on the number of threads.
#pragma once

#include <optional>

#include "base/thread_pool.h"
#include "engine/engine.h"
#include "engine/fused_network.h"
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
  const std::vector<ParameterSpec>& parameters() const override { return layout_.specs; }
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

 private:
  struct StateVector {
    std::string name;
    Buffer values;
  };

  // Takes the losses of predictions.
  class Losses final : public AnswerSink {
   public:
    explicit Losses(const FusedEngine& engine) : engine_(engine) {}

    void begin(const Batch& batch, std::int64_t denominator);
    void take(SampleRange samples, const float* predictions, float* gradient) override;
    // Over the answers that count.
    Evaluation mean(bool smoothed) const;

   private:
    const FusedEngine& engine_;
    const Batch* batch_ = nullptr;
    std::vector<AnswerLoss> losses_;
    double answer_weight_ = 0;  // 1 / the loss's denominator
  };

  // What all parameters share in one update.
  struct UpdateNow {
    double lr = 0;
    bool first = false;
    double gradient_scale = 1;
    double bias1 = 1, bias2 = 1;  // Adam: how much of its two means is there yet
  };

  void check_inputs(const Batch& batch) const;
  void take_weights(std::int64_t step);
  std::size_t classes() const { return static_cast<std::size_t>(config_.shape.classes); }
  double sum_gradients();
  void update_slot(std::size_t slot, const UpdateNow& update);
  void show_parameters(const ObservationRequest& request, const float* gradient, ObservationSink& sink);
  StateTensor exported(const std::string& name, std::size_t parameter, const Buffer& from) const;

  EngineConfig config_;
  std::unique_ptr<FusedNetwork> network_;
  const FlatLayout& layout_;
  ThreadPool pool_;
  Losses losses_;
  Buffer values_;
  std::vector<StateVector> state_;
  std::vector<Buffer> gradients_;   // one per group of samples; the first receives the sum
  bool gradients_pending_ = false;  // the first gradient holds a sum that no update has used
  Buffer seen_gradient_;            // of those who look inside; made when it is first asked for
  Buffer seen_update_;              // likewise
  std::vector<float*> parts_;
  std::vector<double> squares_;
};

}  // namespace eureka
