// A model: declares its parameters, then turns a batch of inputs into predictions.
//
//   auto model = Registry<Model>::instance().make("transformer", values);
//   ParameterSet parameters(model->declare(context), seed, at::kFloat, at::kCPU);
//   model->bind(parameters);
//   at::Tensor logits = model->forward(inputs, {.training = true, .step = 400});
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/registry.h"
#include "engine/head_interventions.h"
#include "engine/observation.h"
#include "engine/scale.h"
#include "nn/attention_rule.h"
#include "nn/parameter_set.h"
#include "tasks/task.h"

namespace eureka {

struct ModelContext {
  TaskShape shape;
  std::shared_ptr<const AttentionRule> rule;
  ScaleOptions scale;
  HeadInterventions interventions = {};
};

// Is handed the inner tensors of a forward pass.
class ForwardHook {
 public:
  virtual ~ForwardHook() = default;
  // The scale and the mask in force in a layer, before its tensors.
  virtual void attention(int layer, std::int64_t heads, const AttentionContext& context) = 0;
  virtual void tensor(Point point, int layer, const at::Tensor& value) = 0;
};

struct ForwardContext {
  bool training = false;
  bool updates_buffers = false;  // a real training step, not one that only looks
  std::uint64_t seed = 0;        // of dropout and stochastic depth
  std::int64_t step = 0;
  bool second_derivatives = false;  // will be asked for
  double scale_multiple = 1;        // of a fixed or scheduled attention scale
  ForwardHook* hook = nullptr;

  void observe(Point point, int layer, const at::Tensor& value) const {
    if (hook != nullptr) hook->tensor(point, layer, value);
  }
};

struct ModelInputs {
  // samples x tokens x dimension, ids as samples x tokens, or samples x height x width x channels
  at::Tensor values;
  at::Tensor visible;  // bool, samples x tokens; undefined: all
  at::Tensor wanted;   // bool, samples x labels x tokens: keys that fixed attention goes to; undefined: none is named
};

// State that is no parameter and has no gradient: running statistics.
struct ModelBuffer {
  std::string name;
  at::Tensor value;
};

class Model {
 public:
  virtual ~Model() = default;

  // Throws Error(config) when options and task do not fit together.
  virtual std::vector<ParameterSpec> declare(const ModelContext& context) = 0;

  // Keeps handles to the parameters; they must outlive the model.
  virtual void bind(const ParameterSet& parameters) = 0;

  // Class logits (or predicted numbers), samples x classes, or samples x tokens x classes where every position answers.
  virtual at::Tensor forward(const ModelInputs& inputs, const ForwardContext& context) const = 0;

  // Kept in checkpoints beside the parameters.
  virtual std::vector<ModelBuffer> buffers() const { return {}; }
};

// A mask of 0 and 1/keep, one value per element of `shape`, from counter-based randomness.
at::Tensor random_mask(double drop_rate, at::IntArrayRef shape, const ForwardContext& context,
                       const std::string& stream, const at::TensorOptions& options);

}  // namespace eureka

#define EUREKA_MODEL(name, Class, Options, description) \
  EUREKA_REGISTER(::eureka::Model, "model", name, Class, Options, description)
