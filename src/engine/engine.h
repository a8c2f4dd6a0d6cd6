// What trains one model: the loop above knows nothing else. The reference engine (libtorch autograd) lives in the torch
// library and is loaded on demand.
//
//   std::unique_ptr<Engine> engine = load_reference_engine(config);
//   StepResult result = engine->train_step(batch, {.step = 0, .lr = 1e-3});
//   Evaluation evaluation = engine->evaluate(validation, 0);
//
// Ensures: a step is a pure function of (config, parameters, optimiser state, batch, settings); export_state() followed
// by import_state() in another process continues to the same bits.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/options.h"
#include "engine/observation.h"
#include "engine/optimizer_options.h"
#include "engine/parameters.h"
#include "engine/scale.h"
#include "tasks/task.h"

namespace eureka {

// bfloat16: matrix products in 16 bits, parameters, sums and the loss in 32 (mixed precision).
enum class Precision { float32, bfloat16 };
constexpr auto enum_names(Precision) { return std::array{"float32", "bfloat16"}; }

struct EngineConfig {
  TaskShape shape;
  std::string model = "transformer";
  OptionValues model_options;
  std::string rule = "softmax";
  OptionValues rule_options;
  ScaleOptions scale;
  OptimizerOptions optimizer;
  GroupFactors lr_multiplier;
  double label_smoothing = 0;
  double clip = 0;  // largest gradient norm; 0: no clipping
  std::int64_t total_steps = 0;
  std::uint64_t seed = 0;
  int threads = 1;
  std::string device = "cpu";
  Precision precision = Precision::float32;
  bool double_precision = false;  // for tests
};

struct StepSettings {
  std::int64_t step = 0;  // 0 for the first
  double lr = 0;
};

// Losses and accuracies are means over all labels that are asked for. With the squared loss, the loss is a mean over
// all predicted numbers too, and the accuracy is the share of the targets' squares that is explained: 0 for a model
// that says 0, 1 at best.
struct StepResult {
  double loss = 0;           // with label smoothing, before the update
  double accuracy = 0;       // on the batch, before the update
  double gradient_norm = 0;  // before clipping
};

struct Evaluation {
  double loss = 0;  // without label smoothing
  double accuracy = 0;
};

struct StateTensor {
  std::string name;
  std::vector<std::int64_t> shape;
  std::vector<float> values;
};

struct EngineState {
  std::vector<StateTensor> model;
  std::vector<StateTensor> optimizer;
};

class Engine {
 public:
  virtual ~Engine() = default;

  virtual std::string name() const = 0;
  // The vector instructions it computes with, for the record of a run.
  virtual std::string instructions() const = 0;
  virtual const std::vector<ParameterSpec>& parameters() const = 0;
  virtual StepResult train_step(const Batch& batch, const StepSettings& settings) = 0;
  // `step` decides the scale of scheduled attention.
  virtual Evaluation evaluate(const Batch& batch, std::int64_t step) = 0;
  // The inside of train_step(batch, {step}), without the update.
  virtual Observation observe(const Batch& batch, std::int64_t step) = 0;
  virtual EngineState export_state() const = 0;
  // Throws Error(input) when names or shapes are not those of this model.
  virtual void import_state(const EngineState& state) = 0;
};

// Facts about the torch library for `eureka doctor`.
struct TorchFacts {
  std::string version;
  std::string path;                  // of the libtorch that was loaded
  std::vector<std::string> devices;  // cpu, cuda:0 (its maker's name), ...
};

// Loads the torch library that was built with this program (EUREKA_TORCH_LIBRARY overrides where it lies).
// Throws Error(failed) when it cannot be loaded.
std::unique_ptr<Engine> load_reference_engine(const EngineConfig& config);
TorchFacts load_torch_facts();

}  // namespace eureka

// The C entry points of the torch library.
extern "C" {
eureka::Engine* eureka_make_reference_engine(const eureka::EngineConfig& config);
void eureka_torch_facts(eureka::TorchFacts& facts);
}
