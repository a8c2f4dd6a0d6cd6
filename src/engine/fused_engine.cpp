#include "engine/fused_engine.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>

#include "base/error.h"
#include "base/exact_math.h"
#include "base/work_part.h"
#include "engine/fused_models.h"
#include "kernels/updates.h"

namespace eureka {
namespace {

// Samples are split into groups, each with a gradient of its own: the most threads that can work on one step. Fixed by
// the size of the batch, never by the number of threads, and few where adding them up would cost more than it brings.
constexpr std::size_t kMostGroups = 8;
constexpr std::size_t kRowsPerGroup = 512;

std::size_t group_count(std::size_t samples, std::size_t tokens) {
  std::size_t groups = 2;
  while (groups < kMostGroups && samples * tokens >= 2 * groups * kRowsPerGroup) groups *= 2;
  return std::min(groups, std::max<std::size_t>(1, samples));
}

// Passes over the flat buffers go by stretches of this many floats.
constexpr std::size_t kStretch = 16384;

const EngineConfig& checked(const EngineConfig& config) {
  if (const auto reason = why_not_fused(config))
    throw Error(ErrorKind::config, fmt::format("the fused engine cannot run this: {}", *reason), {},
                "use --set run.engine=auto, which takes the reference engine where it must");
  return config;
}

// Passes the model on if its buffers fit into this machine: weights, their two packed forms, gradients, optimizer.
FusedModel fitting(FusedModel model, int threads) {
  const double floats =
      static_cast<double>(FusedPass::floats(model)) * threads + static_cast<double>(model.floats) * (5.0 + kMostGroups);
  const double bytes = floats * sizeof(float);
  const double memory = static_cast<double>(::sysconf(_SC_PHYS_PAGES)) * static_cast<double>(::sysconf(_SC_PAGE_SIZE));
  if (bytes > memory)
    throw Error(
        ErrorKind::config,
        fmt::format("this model needs {:.1f} GB of memory, this machine has {:.1f} GB", bytes / 1e9, memory / 1e9), {},
        "make model.width or model.depth smaller");
  return model;
}

void check_answers(const Batch& batch, const TaskShape& shape, std::size_t answers) {
  EUREKA_CHECK(batch.asked.empty() || batch.asked.size() == answers, "which answers of a batch are asked for");
  if (shape.loss == LossKind::squared) {
    EUREKA_CHECK(batch.targets.size() == answers * static_cast<std::size_t>(shape.classes), "targets of a batch");
    return;
  }
  EUREKA_CHECK(batch.labels.size() == answers, "labels of a batch");
  for (std::size_t i = 0; i < answers; ++i)
    EUREKA_CHECK(!batch.asks(i) || (batch.labels[i] >= 0 && batch.labels[i] < shape.classes), "a label of no class");
}

}  // namespace

std::optional<std::string> why_not_fused(const EngineConfig& config) {
  if (find_fused_model(config.model) == nullptr) return fmt::format("model '{}' has no fused form", config.model);
  if (find_fused_rule(config.rule) == nullptr) return fmt::format("attention rule '{}' has no fused form", config.rule);
  if (config.device != "cpu") return fmt::format("device '{}' is not the CPU", config.device);
  if (config.double_precision || config.precision != Precision::float32) return "it computes in float32 only";
  return std::nullopt;
}

FusedEngine::FusedEngine(const EngineConfig& config)
    : config_(checked(config)),
      model_(fitting(FusedModel(config), config.threads)),
      weights_(model_),
      pool_(static_cast<std::size_t>(std::max(1, config.threads))),
      values_(model_.floats) {
  for (std::size_t thread = 0; thread < pool_.threads(); ++thread)
    passes_.push_back(std::make_unique<FusedPass>(model_, weights_));
  for (std::size_t i = 0; i < model_.specs.size(); ++i) {
    const std::vector<float> initial = initial_values(model_.specs[i], config.seed);
    const Slot& slot = model_.slots[i];
    for (std::size_t row = 0; row < slot.rows; ++row)
      std::memcpy(values_.data() + slot.offset + row * slot.stride, initial.data() + row * slot.columns,
                  slot.columns * sizeof(float));
  }
  if (config.optimizer.kind == OptimizerKind::sgd) {
    state_.push_back({"momentum", Buffer(model_.floats)});
  } else {
    state_.push_back({"m", Buffer(model_.floats)});
    state_.push_back({"v", Buffer(model_.floats)});
  }
  squares_.resize(model_.floats / kStretch + 1);
}

template <class Visit>
void FusedEngine::each_microbatch(const Batch& batch, const Visit& visit) {
  const auto samples = static_cast<std::size_t>(batch.samples);
  const std::size_t groups = group_count(samples, model_.tokens);
  pool_.run(groups, [&](std::size_t group, std::size_t thread) {
    const std::size_t begin = samples * group / groups, end = samples * (group + 1) / groups;
    const std::size_t parts = (end - begin + model_.microbatch - 1) / model_.microbatch;
    for (std::size_t part = 0; part < parts; ++part) {
      const std::size_t first = begin + (end - begin) * part / parts;
      const std::size_t count = begin + (end - begin) * (part + 1) / parts - first;
      visit(*passes_[thread], SampleRange{first, count}, group);
    }
  });
}

void FusedEngine::take_losses(const Batch& batch, SampleRange samples, FusedPass& pass) {
  const InPart part(WorkPart::loss);
  for (std::size_t answer = 0; answer < pass.answers(); ++answer) {
    const std::size_t index = samples.first * model_.answers + answer;
    float* gradient = pass.d_logits(answer);
    if (!batch.asks(index)) {
      losses_[index] = {};
      std::memset(gradient, 0, model_.class_stride * sizeof(float));
    } else if (model_.plan.shape.loss == LossKind::squared) {
      losses_[index] = squared_loss(pass.logits(answer), model_.classes, model_.class_stride,
                                    batch.targets.data() + index * model_.classes, answer_weight_, gradient);
    } else {
      losses_[index] = cross_entropy(pass.logits(answer), model_.classes, model_.class_stride, batch.labels[index],
                                     config_.label_smoothing, answer_weight_, gradient);
    }
  }
}

void FusedEngine::check_inputs(const Batch& batch) const {
  for (const std::int32_t id : batch.ids)
    EUREKA_CHECK(id >= 0 && id < model_.plan.shape.vocabulary, "an id outside the vocabulary");
}

void FusedEngine::begin_pass(const Batch& batch, std::int64_t denominator) {
  const std::size_t answers = static_cast<std::size_t>(batch.samples) * model_.answers;
  losses_.resize(answers);
  check_answers(batch, model_.plan.shape, answers);
  check_inputs(batch);
  const std::int64_t over = denominator > 0 ? denominator : static_cast<std::int64_t>(batch.asked_count(answers));
  answer_weight_ = over > 0 ? 1.0 / static_cast<double>(over) : 0.0;
}

void FusedEngine::pack_weights(std::int64_t step) {
  const InPart part(WorkPart::optimizer);
  weights_.pack_from(values_.data(), scale_multiple(config_.scale, step, config_.total_steps));
}

Evaluation FusedEngine::mean_of_losses(bool smoothed) const {
  double loss = 0, hit = 0, possible = 0;
  for (const AnswerLoss& answer : losses_) {
    loss += smoothed ? answer.loss : answer.plain_loss;
    hit += answer.hit;
    possible += answer.possible;
  }
  return {.loss = loss * answer_weight_, .accuracy = possible > 0 ? hit / possible : 0.0};
}

void FusedEngine::pass_over(const Batch& batch, std::int64_t step, bool training, std::int64_t denominator) {
  begin_pass(batch, denominator);
  if (training) {
    const std::size_t groups = group_count(static_cast<std::size_t>(batch.samples), model_.tokens);
    while (gradients_.size() < groups) gradients_.emplace_back(model_.floats);
  }
  pack_weights(step);
  each_microbatch(batch, [&](FusedPass& pass, SampleRange samples, std::size_t group) {
    pass.forward(batch, samples, training ? step : -1);
    take_losses(batch, samples, pass);
    if (training) pass.backward(gradients_[group].data());
  });
}

double FusedEngine::sum_gradients() {
  parts_.clear();
  for (Buffer& gradient : gradients_) parts_.push_back(gradient.data());
  const std::size_t stretches = (model_.floats + kStretch - 1) / kStretch;
  pool_.run(stretches, [&](std::size_t i, std::size_t) {
    const InPart part(WorkPart::optimizer);
    squares_[i] = sum_parts(parts_.data(), parts_.size(), i * kStretch, std::min(model_.floats, (i + 1) * kStretch));
  });
  double square = 0;
  for (std::size_t i = 0; i < stretches; ++i) square += squares_[i];
  return std::sqrt(square);
}

StepResult FusedEngine::gradient(const Batch& batch, std::int64_t step, std::int64_t denominator) {
  // An update leaves zeros behind; a caller who asks twice without one does not.
  if (gradients_pending_) std::memset(gradients_[0].data(), 0, model_.floats * sizeof(float));
  gradients_pending_ = true;
  pass_over(batch, step, true, denominator);
  const Evaluation mean = mean_of_losses(true);
  StepResult result{.loss = mean.loss, .accuracy = mean.accuracy};
  result.gradient_norm = sum_gradients();
  return result;
}

FlatGradient FusedEngine::flat_gradient() {
  EUREKA_CHECK(gradients_pending_, "a gradient is there between gradient() and update()");
  return {.data = gradients_[0].data(), .numbers = model_.floats, .parts = model_.slots};
}

Evaluation FusedEngine::evaluate(const Batch& batch, std::int64_t step) {
  pass_over(batch, step, false);
  return mean_of_losses(false);
}

void FusedEngine::predict(const Batch& batch, std::int64_t step, std::vector<float>& predictions) {
  check_inputs(batch);
  predictions.resize(static_cast<std::size_t>(batch.samples) * model_.answers * model_.classes);
  pack_weights(step);
  each_microbatch(batch, [&](FusedPass& pass, SampleRange samples, std::size_t) {
    pass.forward(batch, samples, -1);
    for (std::size_t answer = 0; answer < pass.answers(); ++answer)
      std::memcpy(predictions.data() + (samples.first * model_.answers + answer) * model_.classes, pass.logits(answer),
                  model_.classes * sizeof(float));
  });
}

void FusedEngine::update(const StepSettings& settings) {
  EUREKA_CHECK(gradients_pending_, "an update follows gradient()");
  gradients_pending_ = false;
  const OptimizerOptions& o = config_.optimizer;
  UpdateNow now{.lr = settings.lr, .first = settings.step == 0, .gradient_scale = settings.gradient_scale};
  if (o.kind != OptimizerKind::sgd) {
    const double updates = static_cast<double>(settings.step) + 1;
    now.bias1 = 1 - exact::pow(o.beta1, updates);
    now.bias2 = 1 - exact::pow(o.beta2, updates);
  }
  pool_.run(model_.slots.size(), [&](std::size_t slot, std::size_t) { update_slot(slot, now); });
}

void FusedEngine::update_slot(std::size_t slot, const UpdateNow& update) {
  const InPart part(WorkPart::optimizer);
  const ParameterSpec& spec = model_.specs[slot];
  const OptimizerOptions& o = config_.optimizer;
  const double rate = update.lr * config_.lr_multiplier[spec.group];
  const double decay = spec.decays ? o.weight_decay : 0.0;
  const std::size_t begin = model_.slots[slot].offset, count = model_.slots[slot].floats();
  float* values = values_.data() + begin;
  float* gradient = gradients_[0].data() + begin;
  const auto gradient_scale = static_cast<float>(update.gradient_scale);
  if (o.kind == OptimizerKind::sgd) {
    const SgdStep now{static_cast<float>(rate), static_cast<float>(o.momentum), static_cast<float>(decay), update.first,
                      gradient_scale};
    return sgd_update(now, count, values, gradient, state_[0].values.data() + begin);
  }
  const bool decoupled = o.kind == OptimizerKind::adamw;
  AdamStep now;
  now.beta1 = static_cast<float>(o.beta1);
  now.beta2 = static_cast<float>(o.beta2);
  now.rest1 = static_cast<float>(1 - o.beta1);
  now.rest2 = static_cast<float>(1 - o.beta2);
  now.rate = static_cast<float>(rate / update.bias1);
  now.inverse_root_bias = static_cast<float>(1 / std::sqrt(update.bias2));
  now.epsilon = static_cast<float>(o.epsilon);
  now.shrink = decoupled ? static_cast<float>(1 - rate * decay) : 1.0F;
  now.decay = decoupled ? 0.0F : static_cast<float>(decay);
  now.gradient_scale = gradient_scale;
  adam_update(now, count, values, gradient, state_[0].values.data() + begin, state_[1].values.data() + begin);
}

StateTensor FusedEngine::exported(const std::string& name, std::size_t parameter, const Buffer& from) const {
  const Slot& slot = model_.slots[parameter];
  StateTensor tensor{name, model_.specs[parameter].shape, {}};
  tensor.values.reserve(slot.rows * slot.columns);
  for (std::size_t row = 0; row < slot.rows; ++row) {
    const float* values = from.data() + slot.offset + row * slot.stride;
    tensor.values.insert(tensor.values.end(), values, values + slot.columns);
  }
  return tensor;
}

std::vector<StateTensor> FusedEngine::gradients() const {
  std::vector<StateTensor> tensors;
  for (std::size_t i = 0; i < model_.specs.size(); ++i)
    tensors.push_back(exported(model_.specs[i].name, i, gradients_.at(0)));
  return tensors;
}

EngineState FusedEngine::export_state() const {
  EngineState state;
  for (std::size_t i = 0; i < model_.specs.size(); ++i) {
    const std::string& name = model_.specs[i].name;
    state.model.push_back(exported(name, i, values_));
    for (const StateVector& vector : state_)
      state.optimizer.push_back(exported(vector.name + "." + name, i, vector.values));
  }
  return state;
}

void FusedEngine::import_state(const EngineState& state) {
  std::map<std::string, const StateTensor*> model, optimizer;
  for (const StateTensor& tensor : state.model) model[tensor.name] = &tensor;
  for (const StateTensor& tensor : state.optimizer) optimizer[tensor.name] = &tensor;
  const auto copy = [&](const std::map<std::string, const StateTensor*>& from, const std::string& name,
                        std::size_t parameter, Buffer& to) {
    const auto found = from.find(name);
    if (found == from.end()) throw Error(ErrorKind::input, fmt::format("the checkpoint has no tensor '{}'", name));
    if (found->second->shape != model_.specs[parameter].shape)
      throw Error(ErrorKind::input,
                  fmt::format("tensor '{}' of the checkpoint has another shape than the model", name));
    const Slot& slot = model_.slots[parameter];
    for (std::size_t row = 0; row < slot.rows; ++row)
      std::memcpy(to.data() + slot.offset + row * slot.stride, found->second->values.data() + row * slot.columns,
                  slot.columns * sizeof(float));
  };
  for (std::size_t i = 0; i < model_.specs.size(); ++i) {
    copy(model, model_.specs[i].name, i, values_);
    for (StateVector& vector : state_) copy(optimizer, vector.name + "." + model_.specs[i].name, i, vector.values);
  }
}

}  // namespace eureka
