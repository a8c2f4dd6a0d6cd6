// An engine of one weight that fails when it is told to, for testing what stands above engines.
#pragma once

#include <cmath>
#include <functional>
#include <limits>
#include <stdexcept>

#include "base/error.h"
#include "train/run.h"

namespace eureka {

struct Fault {
  std::int64_t step = -1;  // of the update or evaluation that fails; below 0: none
  enum class Kind { error, foreign_exception, nan_loss, nan_evaluation } kind = Kind::error;
};

class FakeEngine : public Engine {
 public:
  explicit FakeEngine(Fault fault = {}) : fault_(fault) {}

  std::string name() const override { return "fake"; }
  std::string instructions() const override { return "none"; }
  const EngineConfig& config() const override { return config_; }
  const std::vector<ParameterSpec>& parameters() const override { return parameters_; }

  using Engine::gradient;
  StepResult gradient(const Batch& batch, std::int64_t step, std::int64_t) override {
    if (step == fault_.step && fault_.kind == Fault::Kind::error) throw Error(ErrorKind::failed, "the device is lost");
    if (step == fault_.step && fault_.kind == Fault::Kind::foreign_exception)
      throw std::runtime_error("something else");
    gradient_ = batch.inputs.at(0);
    const bool is_nan = step == fault_.step && fault_.kind == Fault::Kind::nan_loss;
    return {is_nan ? kNan : std::cosh(weight_), 0.5, std::abs(gradient_)};
  }
  FlatGradient flat_gradient() override { return {.data = &gradient_, .numbers = 1, .parts = {}}; }
  void update(const StepSettings& settings) override {
    momentum_ = 0.9F * momentum_ + gradient_;
    weight_ += static_cast<float>(settings.lr) * momentum_;
  }

  Evaluation evaluate(const Batch&, std::int64_t step) override {
    const bool is_nan = step == fault_.step && fault_.kind == Fault::Kind::nan_evaluation;
    return {is_nan ? kNan : std::cosh(weight_), 0.5 + 0.001 * std::tanh(weight_)};
  }

  void predict(const Batch&, std::int64_t, std::vector<float>& predictions) override { predictions.clear(); }
  void observe(const Batch&, std::int64_t, const ObservationRequest&, ObservationSink&) override {}
  EngineState export_state() const override { return {{{"w", {1}, {weight_}}}, {{"m.w", {1}, {momentum_}}}}; }
  void import_state(const EngineState& state) override {
    weight_ = state.model.at(0).values.at(0);
    momentum_ = state.optimizer.at(0).values.at(0);
  }

 private:
  static constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  Fault fault_;
  EngineConfig config_;
  float weight_ = 0, momentum_ = 0, gradient_ = 0;
  std::vector<ParameterSpec> parameters_{{"w", {1}, ParameterGroup::head, Initializer::zeros(), false}};
};

// The task of the config with a fake engine.
inline MakeParts fake_parts(Fault fault = {}) {
  return [fault](const RunConfig& config) {
    RunParts parts;
    parts.task = Registry<Task>::instance().make(config.task.name, config.task.options);
    parts.engine.engine = std::make_unique<FakeEngine>(fault);
    return parts;
  };
}

}  // namespace eureka
