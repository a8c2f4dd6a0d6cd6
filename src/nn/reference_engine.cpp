#include "nn/reference_engine.h"

#include <fmt/format.h>
#include <malloc.h>

#include <map>

#include "base/error.h"

namespace eureka {
namespace {

at::Device device_named(const std::string& name) {
  try {
    at::Device device(name);
    if (device.is_cuda() && !at::hasCUDA())
      throw Error(ErrorKind::config, fmt::format("'run.device' is {}, but this libtorch sees no CUDA device", name), {},
                  "use --set run.device=cpu, or point CMAKE_PREFIX_PATH at a CUDA build of libtorch");
    return device;
  } catch (const c10::Error&) {
    throw Error(ErrorKind::config, fmt::format("'run.device' names no device: {}", name), {},
                "for example cpu, cuda, cuda:1");
  }
}

StateTensor exported(const std::string& name, const ParameterSpec& spec, const at::Tensor& tensor) {
  const at::Tensor plain = tensor.detach().to(at::kCPU, at::kFloat).contiguous();
  const float* data = plain.data_ptr<float>();
  return {name, spec.shape, std::vector<float>(data, data + plain.numel())};
}

void import_part(const std::map<std::string, const StateTensor*>& state, const std::string& name,
                 const ParameterSpec& spec, at::Tensor target) {
  const auto found = state.find(name);
  if (found == state.end()) throw Error(ErrorKind::input, fmt::format("the checkpoint has no tensor '{}'", name));
  if (found->second->shape != spec.shape)
    throw Error(ErrorKind::input, fmt::format("tensor '{}' of the checkpoint has another shape than the model", name));
  std::vector<float> values = found->second->values;
  const at::NoGradGuard no_grad;
  target.copy_(at::from_blob(values.data(), spec.shape, at::kFloat));
}

std::map<std::string, const StateTensor*> by_name(const std::vector<StateTensor>& tensors) {
  std::map<std::string, const StateTensor*> named;
  for (const StateTensor& tensor : tensors) named[tensor.name] = &tensor;
  return named;
}

}  // namespace

ReferenceEngine::ReferenceEngine(const EngineConfig& config) : config_(config) {
  // Tensors of a few hundred kilobytes come and go every step; glibc would hand their pages back to the kernel each
  // time.
  ::mallopt(M_MMAP_THRESHOLD, 256 << 20);
  ::mallopt(M_TRIM_THRESHOLD, 512 << 20);
  at::set_num_threads(config.threads);
  tensor_options_ =
      at::TensorOptions().dtype(config.double_precision ? at::kDouble : at::kFloat).device(device_named(config.device));
  ModelContext context{config.shape, Registry<AttentionRule>::instance().make(config.rule, config.rule_options),
                       config.scale};
  model_ = Registry<Model>::instance().make(config.model, config.model_options);
  parameters_ =
      std::make_unique<ParameterSet>(model_->declare(context), config.seed,
                                     c10::typeMetaToScalarType(tensor_options_.dtype()), tensor_options_.device());
  model_->bind(*parameters_);
  optimizer_ = std::make_unique<Optimizer>(config.optimizer, config.lr_multiplier, *parameters_);
}

at::Tensor ReferenceEngine::inputs_of(const Batch& batch) const {
  const TaskShape& shape = config_.shape;
  // Borrowed for the length of a step; the batch is not written through it.
  return at::from_blob(const_cast<float*>(batch.inputs.data()), {batch.samples, shape.tokens, shape.dimension},
                       at::kFloat)
      .to(tensor_options_);
}

at::Tensor ReferenceEngine::labels_of(const Batch& batch) const {
  return at::from_blob(const_cast<std::int64_t*>(batch.labels.data()), {batch.samples}, at::kLong)
      .to(tensor_options_.device());
}

ForwardContext ReferenceEngine::context_at(std::int64_t step, bool training) const {
  return {.training = training,
          .seed = config_.seed,
          .step = step,
          .scale_multiple = scale_multiple(config_.scale, step, config_.total_steps)};
}

at::Tensor ReferenceEngine::forward(const Batch& batch, const ForwardContext& context) const {
  return model_->forward(inputs_of(batch), context);
}

StepResult ReferenceEngine::accumulate_gradients(const Batch& batch, std::int64_t step) {
  parameters_->zero_gradients();
  const at::Tensor labels = labels_of(batch);
  const at::Tensor logits = forward(batch, context_at(step, true));
  const at::Tensor loss =
      at::cross_entropy_loss(logits, labels, {}, at::Reduction::Mean, -100, config_.label_smoothing);
  loss.backward();
  return {.loss = loss.item<double>(),
          .accuracy = logits.detach().argmax(-1).eq(labels).to(at::kFloat).mean().item<double>(),
          .gradient_norm = parameters_->gradients().norm().item<double>()};
}

StepResult ReferenceEngine::train_step(const Batch& batch, const StepSettings& settings) {
  const StepResult result = accumulate_gradients(batch, settings.step);
  if (config_.clip > 0 && result.gradient_norm > config_.clip)
    at::Tensor(parameters_->gradients()).mul_(config_.clip / (result.gradient_norm + 1e-6));
  optimizer_->update(*parameters_, settings.lr, settings.step);
  return result;
}

Evaluation ReferenceEngine::evaluate(const Batch& batch, std::int64_t step) {
  const at::NoGradGuard no_grad;
  const at::Tensor labels = labels_of(batch);
  const at::Tensor logits = forward(batch, context_at(step, false));
  return {.loss = at::cross_entropy_loss(logits, labels).item<double>(),
          .accuracy = logits.argmax(-1).eq(labels).to(at::kDouble).mean().item<double>()};
}

EngineState ReferenceEngine::export_state() const {
  EngineState state;
  for (std::size_t i = 0; i < parameters_->specs().size(); ++i) {
    const ParameterSpec& spec = parameters_->specs()[i];
    state.model.push_back(exported(spec.name, spec, parameters_->part(parameters_->values(), i)));
    for (const auto& [kind, flat] : optimizer_->state())
      state.optimizer.push_back(exported(kind + "." + spec.name, spec, parameters_->part(flat, i)));
  }
  return state;
}

void ReferenceEngine::import_state(const EngineState& state) {
  const auto model = by_name(state.model);
  const auto optimizer = by_name(state.optimizer);
  for (std::size_t i = 0; i < parameters_->specs().size(); ++i) {
    const ParameterSpec& spec = parameters_->specs()[i];
    import_part(model, spec.name, spec, parameters_->part(parameters_->values(), i));
    for (const auto& [kind, flat] : optimizer_->state())
      import_part(optimizer, kind + "." + spec.name, spec, parameters_->part(flat, i));
  }
}

}  // namespace eureka

extern "C" {

eureka::Engine* eureka_make_reference_engine(const eureka::EngineConfig& config) {
  return new eureka::ReferenceEngine(config);
}

void eureka_torch_facts(eureka::TorchFacts& facts) {
  facts.version = fmt::format("{}.{}.{}", TORCH_VERSION_MAJOR, TORCH_VERSION_MINOR, TORCH_VERSION_PATCH);
  facts.cuda = at::hasCUDA();
  facts.threads = at::get_num_threads();
}
}
