#include "nn/reference_engine.h"

#include <fmt/format.h>
#include <malloc.h>

#include <map>

#include "base/error.h"
#include "nn/device.h"
#include "nn/mixed_precision.h"

namespace eureka {
namespace {

// Stands for the label of an answer that does not count: below every class.
constexpr std::int64_t kNotAsked = -1;

// A tensor over memory that is not ours.
template <class Value>
at::Tensor borrowed(const std::vector<Value>& values, at::IntArrayRef shape, at::ScalarType type) {
  return at::from_blob(const_cast<Value*>(values.data()), shape, type);
}

StateTensor exported(const std::string& name, const std::vector<std::int64_t>& shape, const at::Tensor& tensor) {
  return {name, shape, plain_values(tensor)};
}

// The parameters as they lie one after the other, as matrices: one row per first index.
std::vector<ParameterPart> parts_of(const std::vector<ParameterSpec>& specs) {
  std::vector<ParameterPart> parts;
  std::size_t offset = 0;
  for (const ParameterSpec& spec : specs) {
    const auto size = static_cast<std::size_t>(spec.size());
    const std::size_t rows = spec.shape.size() > 1 ? static_cast<std::size_t>(spec.shape[0]) : 1;
    parts.push_back({offset, rows, size / rows, size / rows});
    offset += size;
  }
  return parts;
}

void import_part(const std::map<std::string, const StateTensor*>& state, const std::string& name,
                 const std::vector<std::int64_t>& shape, at::Tensor target) {
  const auto found = state.find(name);
  if (found == state.end()) throw Error(ErrorKind::input, fmt::format("the checkpoint has no tensor '{}'", name));
  if (found->second->shape != shape)
    throw Error(ErrorKind::input, fmt::format("tensor '{}' of the checkpoint has another shape than the model", name));
  std::vector<float> values = found->second->values;
  const at::NoGradGuard no_grad;
  target.copy_(at::from_blob(values.data(), shape, at::kFloat));
}

std::map<std::string, const StateTensor*> by_name(const std::vector<StateTensor>& tensors) {
  std::map<std::string, const StateTensor*> named;
  for (const StateTensor& tensor : tensors) named[tensor.name] = &tensor;
  return named;
}

// Processes of one machine take a device each, where the config leaves it open.
at::Device device_of(const EngineConfig& config) {
  const at::Device asked = device_named(config.device);
  if (config.ranks == nullptr) return asked;
  const at::Device own = device_of_rank(asked, config.ranks->place().local_rank, static_cast<int>(at::getNumGPUs()));
  make_current(own);
  static_cast<ProcessGroup*>(config.ranks)->work_on(own);
  return own;
}

}  // namespace

ReferenceEngine::ReferenceEngine(const EngineConfig& config) : config_(config) {
  // Tensors of a few hundred kilobytes come and go every step; glibc would hand their pages back to the kernel each
  // time.
  ::mallopt(M_MMAP_THRESHOLD, 256 << 20);
  ::mallopt(M_TRIM_THRESHOLD, 512 << 20);
  at::set_num_threads(config.threads);
  tensor_options_ =
      at::TensorOptions().dtype(config.double_precision ? at::kDouble : at::kFloat).device(device_of(config));
  prefer_repeatable(tensor_options_.device());
  ModelContext context{config.shape, Registry<AttentionRule>::instance().make(config.rule, config.rule_options),
                       config.scale, config.interventions};
  model_ = Registry<Model>::instance().make(config.model, config.model_options);
  parameters_ =
      std::make_unique<ParameterSet>(model_->declare(context), config.seed,
                                     c10::typeMetaToScalarType(tensor_options_.dtype()), tensor_options_.device());
  model_->bind(*parameters_);
  parts_ = parts_of(parameters_->specs());
  optimizer_ = std::make_unique<Optimizer>(config.optimizer, config.lr_multiplier, *parameters_);
  if (config.ranks != nullptr) {
    if (!model_->buffers().empty())
      throw Error(
          ErrorKind::config,
          fmt::format("'{}' normalizes over its whole batch, of which each of several processes has a share only",
                      config.model),
          {}, "train it in one process: without --ranks, torchrun or srun");
    group_ = static_cast<ProcessGroup*>(config.ranks);
    buckets_ = std::make_unique<GradientBuckets>(*parameters_, *group_);
  }
  if (find_fused_rule(config.rule) != nullptr) rule_ = make_fused_rule(config.rule, config.rule_options);
}

// Tensors below borrow the memory of the batch for the length of a step; it is not written through them.
ModelInputs ReferenceEngine::inputs_of(const Batch& batch) const {
  const TaskShape& shape = config_.shape;
  ModelInputs inputs;
  if (shape.input() == InputKind::ids)
    inputs.values =
        sent(borrowed(batch.ids, {batch.samples, shape.tokens}, at::kInt), tensor_options_.dtype(at::kLong));
  else if (shape.input() == InputKind::image)
    inputs.values =
        sent(borrowed(batch.inputs, {batch.samples, shape.image.height, shape.image.width, shape.image.channels},
                      at::kFloat),
             tensor_options_);
  else
    inputs.values =
        sent(borrowed(batch.inputs, {batch.samples, shape.tokens, shape.dimension}, at::kFloat), tensor_options_);
  if (!batch.visible.empty())
    inputs.visible =
        sent(borrowed(batch.visible, {batch.samples, shape.tokens}, at::kByte), tensor_options_.dtype(at::kBool));
  if (!batch.wanted.empty()) {
    const auto tokens = static_cast<std::int64_t>(batch.wanted.size()) / (batch.samples * shape.labels());
    inputs.wanted = sent(borrowed(batch.wanted, {batch.samples, shape.labels(), tokens}, at::kByte),
                         tensor_options_.dtype(at::kBool));
  }
  return inputs;
}

ReferenceEngine::Answers ReferenceEngine::answers_of(const Batch& batch) const {
  const std::int64_t count = batch.samples * config_.shape.labels();
  const at::TensorOptions integers = tensor_options_.dtype(at::kLong);
  std::vector<std::int64_t> asked, labels = batch.labels;
  for (std::int64_t i = 0; i < count; ++i) {
    const auto answer = static_cast<std::size_t>(i);
    if (batch.asks(answer))
      asked.push_back(i);
    else if (answer < labels.size())
      labels[answer] = kNotAsked;
  }
  Answers answers;
  answers.count = static_cast<std::int64_t>(asked.size());
  if (answers.count < count) answers.rows = sent(borrowed(asked, {answers.count}, at::kLong).clone(), integers);
  if (config_.shape.loss == LossKind::squared)
    answers.targets = sent(borrowed(batch.targets, {count, config_.shape.classes}, at::kFloat), tensor_options_);
  else
    answers.labels = sent(borrowed(labels, {count}, at::kLong).clone(), integers);
  return answers;
}

at::Tensor ReferenceEngine::loss_of(const at::Tensor& predictions, const Answers& answers, double smoothing) const {
  const at::Tensor rows = predictions.reshape({-1, config_.shape.classes});
  if (config_.shape.loss == LossKind::squared)
    return at::mse_loss(answers.asked_for(rows), answers.asked_for(answers.targets));
  // The same as at::cross_entropy_loss, which smooths by way of a mask and so waits for the device.
  const at::Tensor log_p = at::log_softmax(rows, 1);
  const at::Tensor loss = at::nll_loss(log_p, answers.labels, {}, at::Reduction::Mean, /*ignore_index=*/kNotAsked);
  if (smoothing == 0) return loss;
  const at::Tensor spread = answers.asked_for(-log_p.sum(1)).mean();
  return (1 - smoothing) * loss + spread * (smoothing / static_cast<double>(config_.shape.classes));
}

at::Tensor ReferenceEngine::accuracy_of(const at::Tensor& predictions, const Answers& answers) const {
  const at::Tensor rows = predictions.detach().reshape({-1, config_.shape.classes});
  // No class is kNotAsked.
  if (config_.shape.loss != LossKind::squared)
    return rows.argmax(-1).eq(answers.labels).sum().to(at::kDouble) / static_cast<double>(answers.count);
  const at::Tensor targets = answers.asked_for(answers.targets).to(at::kDouble);
  const at::Tensor errors = answers.asked_for(rows).to(at::kDouble) - targets;
  return 1 - errors.square().sum() / targets.square().sum();
}

ForwardContext ReferenceEngine::context_at(std::int64_t step, bool training) const {
  return {.training = training,
          .seed = config_.seed,
          .step = step,
          .scale_multiple = scale_multiple(config_.scale, step, config_.total_steps)};
}

at::Tensor ReferenceEngine::forward(const ModelInputs& inputs, const ForwardContext& context) const {
  const MixedPrecision mixed(config_.precision == Precision::bfloat16, tensor_options_.device());
  return model_->forward(inputs, context).to(tensor_options_.dtype());
}

at::Tensor ReferenceEngine::forward(const Batch& batch, const ForwardContext& context) const {
  return forward(inputs_of(batch), context);
}

std::vector<at::Tensor> ReferenceEngine::buffer_values() const {
  std::vector<at::Tensor> values;
  for (const ModelBuffer& buffer : model_->buffers()) values.push_back(buffer.value.clone());
  return values;
}

void ReferenceEngine::set_buffers(const std::vector<at::Tensor>& values) {
  const std::vector<ModelBuffer> buffers = model_->buffers();
  for (std::size_t i = 0; i < values.size(); ++i) at::Tensor(buffers[i].value).copy_(values[i]);
}

StepResult ReferenceEngine::gradient(const Batch& batch, std::int64_t step, std::int64_t denominator) {
  if (group_ != nullptr) return gradient_of_all(batch, step, denominator);
  parameters_->zero_gradients();
  const Answers answers = answers_of(batch);
  const std::vector<at::Tensor> buffers = buffer_values();
  ForwardContext context = context_at(step, true);
  context.updates_buffers = true;
  const at::Tensor predictions = forward(batch, context);
  at::Tensor loss = loss_of(predictions, answers, config_.label_smoothing);
  if (denominator > 0 && denominator != answers.count)
    loss = loss * (static_cast<double>(answers.count) / static_cast<double>(denominator));
  loss.backward();
  learned_buffers_ = buffer_values();
  set_buffers(buffers);
  const std::vector<double> numbers =
      brought_home({loss, accuracy_of(predictions, answers), parameters_->gradients().norm()});
  return {.loss = numbers[0], .accuracy = numbers[1], .gradient_norm = numbers[2]};
}

FlatGradient ReferenceEngine::flat_gradient() {
  const at::Tensor& flat = parameters_->gradients();
  return {.data = flat.data_ptr(),
          .numbers = static_cast<std::size_t>(flat.numel()),
          .double_precision = flat.scalar_type() == at::kDouble,
          .on_host = flat.device().is_cpu(),
          .parts = parts_};
}

void ReferenceEngine::update(const StepSettings& settings) {
  set_buffers(learned_buffers_);
  if (settings.gradient_scale != 1) at::Tensor(parameters_->gradients()).mul_(settings.gradient_scale);
  optimizer_->update(*parameters_, settings);
}

Evaluation ReferenceEngine::evaluate(const Batch& batch, std::int64_t step) {
  const at::NoGradGuard no_grad;
  if (group_ != nullptr) return evaluate_all(batch, step);
  const Answers answers = answers_of(batch);
  const at::Tensor predictions = forward(batch, context_at(step, false));
  const std::vector<double> numbers =
      brought_home({loss_of(predictions, answers, 0), accuracy_of(predictions, answers)});
  return {.loss = numbers[0], .accuracy = numbers[1]};
}

void ReferenceEngine::predict(const Batch& batch, std::int64_t step, std::vector<float>& predictions) {
  const at::NoGradGuard no_grad;
  predictions = plain_values(forward(batch, context_at(step, false)));
}

EngineState ReferenceEngine::export_state() const {
  EngineState state;
  for (std::size_t i = 0; i < parameters_->specs().size(); ++i) {
    const ParameterSpec& spec = parameters_->specs()[i];
    state.model.push_back(exported(spec.name, spec.shape, parameters_->part(parameters_->values(), i)));
    for (const auto& [kind, flat] : optimizer_->state())
      state.optimizer.push_back(exported(kind + "." + spec.name, spec.shape, parameters_->part(flat, i)));
  }
  for (const ModelBuffer& buffer : model_->buffers())
    state.model.push_back(exported(buffer.name, buffer.value.sizes().vec(), buffer.value));
  return state;
}

void ReferenceEngine::import_state(const EngineState& state) {
  const auto model = by_name(state.model);
  const auto optimizer = by_name(state.optimizer);
  for (std::size_t i = 0; i < parameters_->specs().size(); ++i) {
    const ParameterSpec& spec = parameters_->specs()[i];
    import_part(model, spec.name, spec.shape, parameters_->part(parameters_->values(), i));
    for (const auto& [kind, flat] : optimizer_->state())
      import_part(optimizer, kind + "." + spec.name, spec.shape, parameters_->part(flat, i));
  }
  for (const ModelBuffer& buffer : model_->buffers())
    import_part(model, buffer.name, buffer.value.sizes().vec(), buffer.value);
}

}  // namespace eureka
