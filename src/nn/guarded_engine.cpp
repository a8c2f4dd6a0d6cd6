#include "nn/guarded_engine.h"

#include <fmt/format.h>

#include "base/error.h"
#include "nn/reference_engine.h"

namespace eureka {
namespace {

class GuardedEngine final : public Engine {
 public:
  explicit GuardedEngine(const EngineConfig& config)
      : device_(config.device), engine_(clearly(device_, [&] { return std::make_unique<ReferenceEngine>(config); })) {}

  std::string name() const override { return engine_->name(); }
  std::string instructions() const override { return engine_->instructions(); }
  const std::vector<ParameterSpec>& parameters() const override { return engine_->parameters(); }
  StepResult train_step(const Batch& batch, const StepSettings& settings) override {
    return clearly(device_, [&] { return engine_->train_step(batch, settings); });
  }
  Evaluation evaluate(const Batch& batch, std::int64_t step) override {
    return clearly(device_, [&] { return engine_->evaluate(batch, step); });
  }
  Observation observe(const Batch& batch, std::int64_t step) override {
    return clearly(device_, [&] { return engine_->observe(batch, step); });
  }
  EngineState export_state() const override {
    return clearly(device_, [&] { return engine_->export_state(); });
  }
  void import_state(const EngineState& state) override {
    clearly(device_, [&] { engine_->import_state(state); });
  }

 private:
  std::string device_;
  std::unique_ptr<ReferenceEngine> engine_;
};

}  // namespace

void explain(const c10::Error& failure, const std::string& device) {
  const std::string text = failure.what_without_backtrace();
  const auto says = [&](const char* words) { return text.find(words) != std::string::npos; };
  const std::string first_line = text.substr(0, text.find('\n'));
  // The CPU's allocator has no error type of its own.
  if (dynamic_cast<const c10::OutOfMemoryError*>(&failure) != nullptr || says("can't allocate memory"))
    throw Error(ErrorKind::failed, fmt::format("no memory left on device '{}': {}", device, first_line), {},
                "a smaller train.batch, train.validation_samples or model needs less");
  if (says("CUDA error"))
    throw Error(ErrorKind::failed, fmt::format("device '{}' failed: {}", device, first_line), {},
                "--resume continues from the last checkpoint");
  throw;
}

std::unique_ptr<Engine> make_guarded_engine(const EngineConfig& config) {
  return std::make_unique<GuardedEngine>(config);
}

}  // namespace eureka
