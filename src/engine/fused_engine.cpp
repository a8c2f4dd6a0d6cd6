#include "engine/fused_engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>

#include "base/error.h"
#include "base/exact_math.h"
#include "base/work_part.h"
#include "engine/fused_models.h"
#include "engine/last_update.h"
#include "engine/memory_needs.h"
#include "engine/transformer_layout.h"
#include "kernels/fused_rules.h"
#include "kernels/updates.h"

namespace eureka {
namespace {

// Passes over the flat buffers go by stretches of this many floats.
constexpr std::size_t kStretch = 16384;

const EngineConfig& checked(const EngineConfig& config) {
  if (const auto reason = why_not_fused(config))
    throw Error(ErrorKind::config, fmt::format("the fused engine cannot run this: {}", *reason), {},
                "use --set run.engine=auto, which takes the reference engine where it must");
  return config;
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
  const FusedModelInfo* model = find_fused_model(config.model);
  if (model == nullptr) return fmt::format("model '{}' has no fused form", config.model);
  if (model->attends && find_fused_rule(config.rule) == nullptr)
    return fmt::format("attention rule '{}' has no fused form", config.rule);
  if (config.device != "cpu") return fmt::format("device '{}' is not the CPU", config.device);
  if (config.double_precision || config.precision != Precision::float32) return "it computes in float32 only";
  return std::nullopt;
}

FusedEngine::FusedEngine(const EngineConfig& config)
    : config_(checked(config)),
      network_(find_fused_model(config.model)->make(config)),
      layout_(network_->layout()),
      pool_(static_cast<std::size_t>(std::max(1, config.threads))),
      losses_(*this) {
  // For one sample: whoever knows how many a batch has says more (train/run_memory.h).
  refuse_beyond_machine("this model needs", static_cast<double>(fused_memory(config, 1).total()),
                        network_->how_to_shrink());
  network_->allocate();
  values_ = Buffer(layout_.floats);
  for (std::size_t i = 0; i < layout_.specs.size(); ++i) {
    const std::vector<float> initial = initial_values(layout_.specs[i], config.seed);
    const Slot& slot = layout_.slots[i];
    for (std::size_t row = 0; row < slot.rows; ++row)
      std::memcpy(values_.data() + slot.offset + row * slot.stride, initial.data() + row * slot.columns,
                  slot.columns * sizeof(float));
  }
  if (config.optimizer.kind == OptimizerKind::sgd) {
    state_.push_back({"momentum", Buffer(layout_.floats)});
  } else {
    state_.push_back({"m", Buffer(layout_.floats)});
    state_.push_back({"v", Buffer(layout_.floats)});
  }
  squares_.resize(layout_.floats / kStretch + 1);
}

void FusedEngine::Losses::begin(const Batch& batch, std::int64_t denominator) {
  batch_ = &batch;
  const std::size_t answers = static_cast<std::size_t>(batch.samples) * engine_.network_->answers();
  losses_.resize(answers);
  check_answers(batch, engine_.config_.shape, answers);
  const std::int64_t over = denominator > 0 ? denominator : static_cast<std::int64_t>(batch.asked_count(answers));
  answer_weight_ = over > 0 ? 1.0 / static_cast<double>(over) : 0.0;
}

void FusedEngine::Losses::take(SampleRange samples, const float* predictions, float* gradient) {
  const InPart part(WorkPart::loss);
  const EngineConfig& config = engine_.config_;
  const std::size_t answers = engine_.network_->answers(), classes = engine_.classes();
  const std::size_t stride = engine_.network_->class_stride();
  for (std::size_t answer = 0; answer < samples.count * answers; ++answer) {
    const std::size_t index = samples.first * answers + answer;
    const float* row = predictions + answer * stride;
    float* d_row = gradient + answer * stride;
    if (!batch_->asks(index)) {
      losses_[index] = {};
      std::memset(d_row, 0, stride * sizeof(float));
    } else if (config.shape.loss == LossKind::squared) {
      losses_[index] =
          squared_loss(row, classes, stride, batch_->targets.data() + index * classes, answer_weight_, d_row);
    } else {
      losses_[index] =
          cross_entropy(row, classes, stride, batch_->labels[index], config.label_smoothing, answer_weight_, d_row);
    }
  }
}

Evaluation FusedEngine::Losses::mean(bool smoothed) const {
  double loss = 0, hit = 0, possible = 0;
  for (const AnswerLoss& answer : losses_) {
    loss += smoothed ? answer.loss : answer.plain_loss;
    hit += answer.hit;
    possible += answer.possible;
  }
  return {.loss = loss * answer_weight_, .accuracy = possible > 0 ? hit / possible : 0.0};
}

void FusedEngine::check_inputs(const Batch& batch) const {
  for (const std::int32_t id : batch.ids)
    EUREKA_CHECK(id >= 0 && id < config_.shape.vocabulary, "an id outside the vocabulary");
}

void FusedEngine::take_weights(std::int64_t step) {
  const InPart part(WorkPart::optimizer);
  network_->take_weights(values_.data(), step);
}

double FusedEngine::sum_gradients() {
  parts_.clear();
  for (Buffer& gradient : gradients_) parts_.push_back(gradient.data());
  const std::size_t stretches = (layout_.floats + kStretch - 1) / kStretch;
  pool_.run(stretches, [&](std::size_t i, std::size_t) {
    const InPart part(WorkPart::optimizer);
    squares_[i] = sum_parts(parts_.data(), parts_.size(), i * kStretch, std::min(layout_.floats, (i + 1) * kStretch));
  });
  double square = 0;
  for (std::size_t i = 0; i < stretches; ++i) square += squares_[i];
  return std::sqrt(square);
}

StepResult FusedEngine::gradient(const Batch& batch, std::int64_t step, std::int64_t denominator) {
  // An update leaves zeros behind; a caller who asks twice without one does not.
  if (gradients_pending_) std::memset(gradients_[0].data(), 0, layout_.floats * sizeof(float));
  gradients_pending_ = true;
  check_inputs(batch);
  losses_.begin(batch, denominator);
  const std::size_t groups = network_->groups(static_cast<std::size_t>(batch.samples));
  while (gradients_.size() < groups) gradients_.emplace_back(layout_.floats);
  take_weights(step);
  network_->pass({.batch = batch, .step = step, .gradients = {gradients_.data(), groups}}, pool_, losses_);
  const Evaluation mean = losses_.mean(true);
  StepResult result{.loss = mean.loss, .accuracy = mean.accuracy};
  result.gradient_norm = sum_gradients();
  return result;
}

FlatGradient FusedEngine::flat_gradient() {
  EUREKA_CHECK(gradients_pending_, "a gradient is there between gradient() and update()");
  return {.data = gradients_[0].data(), .numbers = layout_.floats, .parts = layout_.slots};
}

Evaluation FusedEngine::evaluate(const Batch& batch, std::int64_t step) {
  check_inputs(batch);
  losses_.begin(batch, 0);
  take_weights(step);
  network_->pass({.batch = batch}, pool_, losses_);
  return losses_.mean(false);
}

void FusedEngine::predict(const Batch& batch, std::int64_t step, std::vector<float>& predictions) {
  struct Copier final : AnswerSink {
    Copier(std::size_t answers, std::size_t classes, std::size_t stride, float* to)
        : answers_(answers), classes_(classes), stride_(stride), to_(to) {}
    void take(SampleRange samples, const float* from, float*) override {
      for (std::size_t answer = 0; answer < samples.count * answers_; ++answer)
        std::memcpy(to_ + (samples.first * answers_ + answer) * classes_, from + answer * stride_,
                    classes_ * sizeof(float));
    }
    std::size_t answers_, classes_, stride_;
    float* to_;
  };
  check_inputs(batch);
  predictions.resize(static_cast<std::size_t>(batch.samples) * network_->answers() * classes());
  take_weights(step);
  Copier copier(network_->answers(), classes(), network_->class_stride(), predictions.data());
  network_->pass({.batch = batch, .wanted = Wanted::all}, pool_, copier);
}

void FusedEngine::observe(const Batch& batch, std::int64_t step, const ObservationRequest& request,
                          ObservationSink& sink) {
  const bool own_pass = request.parameters == ParameterGradients::own_pass;
  const bool backward = request.gradients || own_pass;
  if (backward) {
    if (seen_gradient_.empty()) seen_gradient_ = Buffer(layout_.floats);
    std::memset(seen_gradient_.data(), 0, layout_.floats * sizeof(float));
  }
  check_inputs(batch);
  losses_.begin(batch, 0);
  take_weights(step);
  network_->look({batch, step, request, sink, backward ? seen_gradient_.data() : nullptr}, pool_, losses_);
  if (request.parameters == ParameterGradients::none) return;
  EUREKA_CHECK(own_pass || gradients_pending_, "a gradient is there between gradient() and update()");
  show_parameters(request, own_pass ? seen_gradient_.data() : gradients_[0].data(), sink);
}

void FusedEngine::show_parameters(const ObservationRequest& request, const float* gradient, ObservationSink& sink) {
  if (request.last_update && seen_update_.empty()) seen_update_ = Buffer(layout_.floats);
  const std::size_t heads = attention_heads(config_.model, config_.model_options, config_.shape);
  for (std::size_t i = 0; i < layout_.specs.size(); ++i) {
    const Slot& slot = layout_.slots[i];
    const ParameterSpec& spec = layout_.specs[i];
    ParameterView view{.spec = &spec,
                       .rows = static_cast<std::int64_t>(slot.rows),
                       .columns = static_cast<std::int64_t>(slot.columns),
                       .stride = static_cast<std::int64_t>(slot.stride),
                       .values = values_.data() + slot.offset,
                       .gradient = gradient + slot.offset,
                       .heads = heads};
    if (request.last_update) {
      const UpdateLeft left{.rate = request.last_update->lr * config_.lr_multiplier[spec.group],
                            .decay = spec.decays ? config_.optimizer.weight_decay : 0.0,
                            .updates = request.last_update->step + 1};
      float* update = seen_update_.data() + slot.offset;
      if (request.last_update->passed_over(i))
        std::fill_n(update, slot.floats(), 0.0F);
      else
        last_update(config_.optimizer, left, slot.floats(), view.values, state_[0].values.data() + slot.offset,
                    state_.size() > 1 ? state_[1].values.data() + slot.offset : nullptr, update);
      view.update = update;
    }
    sink.see_parameter(view);
  }
}

void FusedEngine::update(const StepSettings& settings) {
  EUREKA_CHECK(gradients_pending_, "an update follows gradient()");
  gradients_pending_ = false;
  network_->learn_state();
  const OptimizerOptions& o = config_.optimizer;
  UpdateNow now{.lr = settings.lr, .first = settings.step == 0, .gradient_scale = settings.gradient_scale};
  if (o.kind != OptimizerKind::sgd) {
    const double updates = static_cast<double>(settings.step) + 1;
    now.bias1 = 1 - exact::pow(o.beta1, updates);
    now.bias2 = 1 - exact::pow(o.beta2, updates);
  }
  pool_.run(layout_.slots.size(), [&](std::size_t slot, std::size_t) {
    if (settings.rests(slot))
      // As an update would leave it.
      std::memset(gradients_[0].data() + layout_.slots[slot].offset, 0, layout_.slots[slot].floats() * sizeof(float));
    else
      update_slot(slot, now);
  });
}

void FusedEngine::update_slot(std::size_t slot, const UpdateNow& update) {
  const InPart part(WorkPart::optimizer);
  const ParameterSpec& spec = layout_.specs[slot];
  const OptimizerOptions& o = config_.optimizer;
  const double rate = update.lr * config_.lr_multiplier[spec.group];
  const double decay = spec.decays ? o.weight_decay : 0.0;
  const std::size_t begin = layout_.slots[slot].offset, count = layout_.slots[slot].floats();
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
  const Slot& slot = layout_.slots[parameter];
  StateTensor tensor{name, layout_.specs[parameter].shape, {}};
  tensor.values.reserve(slot.rows * slot.columns);
  for (std::size_t row = 0; row < slot.rows; ++row) {
    const float* values = from.data() + slot.offset + row * slot.stride;
    tensor.values.insert(tensor.values.end(), values, values + slot.columns);
  }
  return tensor;
}

EngineState FusedEngine::export_state() const {
  EngineState state;
  for (std::size_t i = 0; i < layout_.specs.size(); ++i) {
    const std::string& name = layout_.specs[i].name;
    state.model.push_back(exported(name, i, values_));
    for (const StateVector& vector : state_)
      state.optimizer.push_back(exported(vector.name + "." + name, i, vector.values));
  }
  for (const NetworkState& own : network_->state())
    state.model.push_back({own.name,
                           {static_cast<std::int64_t>(own.values.size())},
                           std::vector<float>(own.values.begin(), own.values.end())});
  return state;
}

void FusedEngine::import_state(const EngineState& state) {
  using ByName = std::map<std::string, const StateTensor*>;
  const auto by_name = [](const std::vector<StateTensor>& tensors) {
    ByName named;
    for (const StateTensor& tensor : tensors) named[tensor.name] = &tensor;
    return named;
  };
  const auto find = [](const ByName& from, const std::string& name, const std::vector<std::int64_t>& shape) {
    const auto found = from.find(name);
    if (found == from.end()) throw Error(ErrorKind::input, fmt::format("the checkpoint has no tensor '{}'", name));
    if (found->second->shape != shape)
      throw Error(ErrorKind::input,
                  fmt::format("tensor '{}' of the checkpoint has another shape than the model", name));
    return found->second->values.data();
  };
  const auto copy = [&](const ByName& from, const std::string& name, std::size_t parameter, Buffer& to) {
    const float* values = find(from, name, layout_.specs[parameter].shape);
    const Slot& slot = layout_.slots[parameter];
    for (std::size_t row = 0; row < slot.rows; ++row)
      std::memcpy(to.data() + slot.offset + row * slot.stride, values + row * slot.columns,
                  slot.columns * sizeof(float));
  };
  const ByName model = by_name(state.model), optimizer = by_name(state.optimizer);
  for (std::size_t i = 0; i < layout_.specs.size(); ++i) {
    copy(model, layout_.specs[i].name, i, values_);
    for (StateVector& vector : state_) copy(optimizer, vector.name + "." + layout_.specs[i].name, i, vector.values);
  }
  for (const NetworkState& own : network_->state())
    std::copy_n(find(model, own.name, {static_cast<std::int64_t>(own.values.size())}), own.values.size(),
                own.values.begin());
}

}  // namespace eureka
