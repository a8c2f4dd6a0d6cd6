// What trains one model: the loop above knows nothing else. The reference engine (libtorch autograd) lives in the torch
// library and is loaded on demand.
//
//   std::unique_ptr<Engine> engine = load_reference_engine(config);
//   StepResult result = engine->train_step(batch, {.step = 0, .lr = 1e-3});
//   Evaluation evaluation = engine->evaluate(validation, 0);
//
// A step is gradient() and update(); whoever adds up the gradients of several processes, clips or changes them does so
// between the two, in flat_gradient().
//
// Ensures: a step is a pure function of (config, parameters, optimizer state, batch, settings); export_state() followed
// by import_state() in another process continues to the same bits.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/options.h"
#include "engine/head_interventions.h"
#include "engine/observation.h"
#include "engine/optimizer_options.h"
#include "engine/parameters.h"
#include "engine/ranks.h"
#include "engine/scale.h"
#include "tasks/task.h"

namespace eureka {

// bfloat16: matrix products in 16 bits, parameters, sums and the loss in 32 (mixed precision).
enum class Precision { float32, bfloat16 };
constexpr auto enum_names(Precision) { return std::array{"float32", "bfloat16"}; }

// What a thread of the fused engine keeps of the attention of a few samples from the forward to the backward pass, at
// most; beyond that it keeps nothing and computes it again. In bytes.
inline constexpr std::size_t kKeptAttention = std::size_t{8} << 20;

struct EngineConfig {
  TaskShape shape;
  std::string model = "transformer";
  OptionValues model_options;
  std::string rule = "softmax";
  OptionValues rule_options;
  ScaleOptions scale;
  HeadInterventions interventions;
  OptimizerOptions optimizer;
  GroupFactors lr_multiplier;
  double label_smoothing = 0;
  double clip = 0;  // largest gradient norm; 0: no clipping
  std::int64_t total_steps = 0;
  std::uint64_t seed = 0;
  int threads = 1;
  std::string device = "cpu";
  Precision precision = Precision::float32;
  bool double_precision = false;                // for tests
  std::size_t kept_attention = kKeptAttention;  // the same bits with any other
  // The processes among which every batch is divided, for the reference engine; it outlives the engine. None: this one.
  Ranks* ranks = nullptr;
};

struct StepSettings {
  std::int64_t step = 0;  // 0 for the first
  double lr = 0;
  double gradient_scale = 1;  // on the whole gradient, as it enters the optimizer
  // Per parameter: 1 for one that rests, with its optimizer state; empty: none does.
  std::span<const std::uint8_t> frozen = {};

  bool rests(std::size_t parameter) const { return !frozen.empty() && frozen[parameter] != 0; }
};

// The factor on a gradient of this norm that keeps it within `clip`; 0: no clipping.
double clip_factor(double clip, double gradient_norm);

// Losses and accuracies are means over all labels that are asked for. With the squared loss, the loss is a mean over
// all predicted numbers too, and the accuracy is the share of the targets' squares that is explained: 0 for a model
// that says 0, 1 at best.
struct StepResult {
  double loss = 0;           // with label smoothing, before the update
  double accuracy = 0;       // on the batch, before the update
  double gradient_norm = 0;  // before clipping
};

// The gradient in the engine's own memory, to be read or changed in place. Padding between rows is 0 and must stay so.
struct FlatGradient {
  void* data = nullptr;
  std::size_t numbers = 0;
  bool double_precision = false;
  bool on_host = true;                   // else `data` lies on the engine's device
  std::span<const ParameterPart> parts;  // where each of parameters() lies, in that order

  // Requires: single precision, on the host.
  std::span<float> floats() const;
};

// The second derivatives of one batch's loss by all parameters, as an operator in the manner of Spectra. Parameters
// follow each other in the order of Engine::parameters(), without padding. Holds while they do not change.
class HessianProduct {
 public:
  virtual ~HessianProduct() = default;
  virtual std::int64_t rows() const = 0;
  // y = H x, each of rows() numbers.
  virtual void perform_op(const double* x, double* y) const = 0;
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
  virtual const EngineConfig& config() const = 0;
  virtual const std::vector<ParameterSpec>& parameters() const = 0;

  // Leaves the gradient of the loss of `batch` in flat_gradient(). The loss is a sum over the labels that are asked
  // for, divided by `denominator`: how many are asked for in the whole batch of which this may be a part, 0 for this
  // one's own. Losses and gradients of all parts then add up to those of the whole. With ranks, what is left and told
  // is that of the whole.
  virtual StepResult gradient(const Batch& batch, std::int64_t step, std::int64_t denominator) = 0;
  StepResult gradient(const Batch& batch, std::int64_t step) { return gradient(batch, step, 0); }

  // What gradient() computed last; gone after update().
  virtual FlatGradient flat_gradient() = 0;

  // One step of the optimizer along flat_gradient().
  virtual void update(const StepSettings& settings) = 0;

  // gradient() and update(), clipped as the config says.
  StepResult train_step(const Batch& batch, const StepSettings& settings);

  // `step` decides the scale of scheduled attention and what is done to heads, here and below.
  virtual Evaluation evaluate(const Batch& batch, std::int64_t step) = 0;

  // Class logits, or predicted numbers: samples x labels() x classes. Labels are not looked at.
  virtual void predict(const Batch& batch, std::int64_t step, std::vector<float>& predictions) = 0;

  // Shows `sink` the inside of gradient(batch, step), without touching the gradient that is there. Requires one to be
  // there for ParameterGradients::pending.
  virtual void observe(const Batch& batch, std::int64_t step, const ObservationRequest& request,
                       ObservationSink& sink) = 0;

  // Of the loss as in gradient(batch, step). nullptr: this engine has none.
  virtual std::unique_ptr<HessianProduct> hessian_product(const Batch& /*batch*/, std::int64_t /*step*/) {
    return nullptr;
  }

  virtual EngineState export_state() const = 0;
  // Throws Error(input) when names or shapes are not those of this model.
  virtual void import_state(const EngineState& state) = 0;
};

// The number of this interface: what the program expects of the torch library. It grows with every change to what the
// two exchange (Engine, EngineConfig, Batch and all that hangs on them), so that a library of another build is refused
// instead of crashing.
inline constexpr int kEngineInterface = 6;

// Facts about the torch library for `eureka doctor`.
struct TorchFacts {
  std::string version;
  std::string path;                  // of the libtorch that was loaded
  std::vector<std::string> devices;  // cpu, cuda:0 (its maker's name), ...
};

// Whether this program was built with a torch library, or EUREKA_TORCH_LIBRARY names one.
bool has_torch_library();
inline constexpr const char* kHowToBuildWithTorch = "'make build' builds with libtorch (cmake -DEUREKA_TORCH=ON)";

// Loads the torch library that was built with this program (EUREKA_TORCH_LIBRARY overrides where it lies).
// Throws Error(failed) when it cannot be loaded, or has another kEngineInterface. Requires: has_torch_library().
std::unique_ptr<Engine> load_reference_engine(const EngineConfig& config);
TorchFacts load_torch_facts();

}  // namespace eureka

// The C entry points of the torch library.
extern "C" {
int eureka_engine_interface();
eureka::Engine* eureka_make_reference_engine(const eureka::EngineConfig& config);
eureka::Ranks* eureka_join_ranks(const eureka::RankPlace& place);
void eureka_torch_facts(eureka::TorchFacts& facts);
}
