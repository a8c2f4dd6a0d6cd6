#include "nn/guarded_engine.h"

#include <fmt/format.h>

#include "base/error.h"
#include "nn/reference_engine.h"

namespace eureka {
namespace {

class GuardedHessian final : public HessianProduct {
 public:
  GuardedHessian(std::string device, std::unique_ptr<HessianProduct> product)
      : device_(std::move(device)), product_(std::move(product)) {}

  std::int64_t rows() const override { return product_->rows(); }
  void perform_op(const double* x, double* y) const override {
    clearly(device_, [&] { product_->perform_op(x, y); });
  }

 private:
  std::string device_;
  std::unique_ptr<HessianProduct> product_;
};

class GuardedEngine final : public Engine {
 public:
  explicit GuardedEngine(const EngineConfig& config)
      : device_(config.device), engine_(clearly(device_, [&] { return std::make_unique<ReferenceEngine>(config); })) {}

  std::string name() const override { return engine_->name(); }
  std::string instructions() const override { return engine_->instructions(); }
  const EngineConfig& config() const override { return engine_->config(); }
  const std::vector<ParameterSpec>& parameters() const override { return engine_->parameters(); }
  StepResult gradient(const Batch& batch, std::int64_t step, std::int64_t denominator) override {
    return clearly(device_, [&] { return engine_->gradient(batch, step, denominator); });
  }
  FlatGradient flat_gradient() override { return engine_->flat_gradient(); }
  void update(const StepSettings& settings) override {
    clearly(device_, [&] { engine_->update(settings); });
  }
  Evaluation evaluate(const Batch& batch, std::int64_t step) override {
    return clearly(device_, [&] { return engine_->evaluate(batch, step); });
  }
  void predict(const Batch& batch, std::int64_t step, std::vector<float>& predictions) override {
    clearly(device_, [&] { engine_->predict(batch, step, predictions); });
  }
  void observe(const Batch& batch, std::int64_t step, const ObservationRequest& request,
               ObservationSink& sink) override {
    clearly(device_, [&] { engine_->observe(batch, step, request, sink); });
  }
  std::unique_ptr<HessianProduct> hessian_product(const Batch& batch, std::int64_t step) override {
    return std::make_unique<GuardedHessian>(device_,
                                            clearly(device_, [&] { return engine_->hessian_product(batch, step); }));
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
