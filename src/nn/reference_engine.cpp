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

std::vector<float> plain_values(const at::Tensor& tensor) {
  const at::Tensor plain = tensor.detach().to(at::kCPU, at::kFloat).contiguous();
  const float* data = plain.data_ptr<float>();
  return {data, data + plain.numel()};
}

StateTensor exported(const std::string& name, const std::vector<std::int64_t>& shape, const at::Tensor& tensor) {
  return {name, shape, plain_values(tensor)};
}

ObservedTensor observed(const at::Tensor& value) {
  ObservedTensor result{value.sizes().vec(), plain_values(value), {}};
  result.gradient = value.grad().defined() ? plain_values(value.grad()) : std::vector<float>(result.values.size());
  return result;
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

// While it lives, products on this device are computed in bfloat16, if asked for.
class MixedPrecision {
 public:
  MixedPrecision(bool wanted, const at::Device& device) : wanted_(wanted), cuda_(device.is_cuda()) {
    if (!wanted_) return;
    at::autocast::set_autocast_cpu_dtype(at::kBFloat16);
    at::autocast::set_autocast_gpu_dtype(at::kBFloat16);
    enable(true);
  }
  ~MixedPrecision() {
    if (!wanted_) return;
    enable(false);
    // It holds casts of weights that the next update changes.
    at::autocast::clear_cache();
  }
  MixedPrecision(const MixedPrecision&) = delete;
  MixedPrecision& operator=(const MixedPrecision&) = delete;

 private:
  void enable(bool on) const { cuda_ ? at::autocast::set_enabled(on) : at::autocast::set_cpu_enabled(on); }

  bool wanted_, cuda_;
};

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

// Tensors below borrow the memory of the batch for the length of a step; it is not written through them.
ModelInputs ReferenceEngine::inputs_of(const Batch& batch) const {
  const TaskShape& shape = config_.shape;
  const auto from = [&](const auto& values, at::IntArrayRef sizes, at::ScalarType type) {
    using Value = typename std::decay_t<decltype(values)>::value_type;
    return at::from_blob(const_cast<Value*>(values.data()), sizes, type);
  };
  ModelInputs inputs;
  if (shape.input() == InputKind::ids)
    inputs.values = from(batch.ids, {batch.samples, shape.tokens}, at::kInt).to(tensor_options_.device(), at::kLong);
  else if (shape.input() == InputKind::image)
    inputs.values =
        from(batch.inputs, {batch.samples, shape.image.height, shape.image.width, shape.image.channels}, at::kFloat)
            .to(tensor_options_);
  else
    inputs.values = from(batch.inputs, {batch.samples, shape.tokens, shape.dimension}, at::kFloat).to(tensor_options_);
  if (!batch.visible.empty())
    inputs.visible =
        from(batch.visible, {batch.samples, shape.tokens}, at::kByte).to(tensor_options_.device(), at::kBool);
  return inputs;
}

at::Tensor ReferenceEngine::labels_of(const Batch& batch) const {
  return at::from_blob(const_cast<std::int64_t*>(batch.labels.data()), {static_cast<std::int64_t>(batch.labels.size())},
                       at::kLong)
      .to(tensor_options_.device());
}

// One row per label.
at::Tensor ReferenceEngine::targets_of(const Batch& batch) const {
  return at::from_blob(const_cast<float*>(batch.targets.data()),
                       {static_cast<std::int64_t>(batch.labels.size()), config_.shape.classes}, at::kFloat)
      .to(tensor_options_);
}

at::Tensor ReferenceEngine::loss_of(const at::Tensor& predictions, const Batch& batch, double label_smoothing) const {
  const at::Tensor rows = predictions.reshape({-1, config_.shape.classes});
  const at::Tensor labels = labels_of(batch);
  if (config_.shape.loss == LossKind::squared) {
    const at::Tensor asked = labels.ge(0);
    return at::mse_loss(rows.index({asked}), targets_of(batch).index({asked}));
  }
  return at::cross_entropy_loss(rows, labels.clamp_min(-1), {}, at::Reduction::Mean, /*ignore_index=*/-1,
                                label_smoothing);
}

double ReferenceEngine::accuracy_of(const at::Tensor& predictions, const Batch& batch) const {
  const at::Tensor rows = predictions.detach().reshape({-1, config_.shape.classes});
  const at::Tensor labels = labels_of(batch);
  const at::Tensor asked = labels.ge(0);
  if (config_.shape.loss != LossKind::squared)
    return rows.argmax(-1).eq(labels).index({asked}).to(at::kDouble).mean().item<double>();
  const at::Tensor targets = targets_of(batch).index({asked}).to(at::kDouble);
  const at::Tensor errors = rows.index({asked}).to(at::kDouble) - targets;
  return 1 - (errors.square().sum() / targets.square().sum()).item<double>();
}

ForwardContext ReferenceEngine::context_at(std::int64_t step, bool training) const {
  return {.training = training,
          .seed = config_.seed,
          .step = step,
          .scale_multiple = scale_multiple(config_.scale, step, config_.total_steps)};
}

at::Tensor ReferenceEngine::forward(const Batch& batch, const ForwardContext& context) const {
  const MixedPrecision mixed(config_.precision == Precision::bfloat16, tensor_options_.device());
  return model_->forward(inputs_of(batch), context).to(tensor_options_.dtype());
}

StepResult ReferenceEngine::accumulate_gradients(const Batch& batch, std::int64_t step) {
  parameters_->zero_gradients();
  ForwardContext context = context_at(step, true);
  context.updates_buffers = true;
  const at::Tensor predictions = forward(batch, context);
  const at::Tensor loss = loss_of(predictions, batch, config_.label_smoothing);
  loss.backward();
  return {.loss = loss.item<double>(),
          .accuracy = accuracy_of(predictions, batch),
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
  const at::Tensor predictions = forward(batch, context_at(step, false));
  return {.loss = loss_of(predictions, batch, 0).item<double>(), .accuracy = accuracy_of(predictions, batch)};
}

Observation ReferenceEngine::observe(const Batch& batch, std::int64_t step) {
  struct Seen {
    std::string point;
    int layer;
    at::Tensor value;
  };
  std::vector<Seen> all;
  const TensorHook hook = [&](std::string_view point, int layer, const at::Tensor& value) {
    value.retain_grad();
    all.push_back({std::string(point), layer, value});
  };
  ForwardContext context = context_at(step, true);
  context.hook = &hook;
  const at::Tensor loss = loss_of(forward(batch, context), batch, config_.label_smoothing);
  loss.backward();
  parameters_->zero_gradients();

  Observation result;
  result.loss = loss.item<double>();
  const auto place = [&](const Seen& seen) -> ObservedTensor& {
    const auto layer = static_cast<std::size_t>(seen.layer);
    if (seen.point == "residual" && layer == result.blocks.size()) return result.residual;
    ObservedBlock& block = result.blocks[layer];
    const std::map<std::string, ObservedTensor*> points = {{"q", &block.q},
                                                           {"k", &block.k},
                                                           {"v", &block.v},
                                                           {"logits", &block.logits},
                                                           {"weights", &block.weights},
                                                           {"head_output", &block.head_output},
                                                           {"residual", &block.residual}};
    return *points.at(seen.point);
  };
  for (const Seen& seen : all)
    if (seen.point == "q") result.blocks.emplace_back();
  for (const Seen& seen : all) place(seen) = observed(seen.value);
  return result;
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
