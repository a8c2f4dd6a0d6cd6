// Looking inside a step of the reference engine: what a forward hook keeps, the gradients by it, and second
// derivatives.
#include <algorithm>
#include <map>

#include "engine/last_update.h"
#include "engine/transformer_layout.h"
#include "nn/device.h"
#include "nn/reference_engine.h"

namespace eureka {
namespace {

// Keeps what was asked for.
class Keeper final : public ForwardHook {
 public:
  struct Layer {
    std::map<Point, at::Tensor> tensors;
    at::Tensor mask;
    std::vector<float> scale, strength;
    float inverse_root_width = 1;
  };

  Keeper(const ObservationRequest& request, const FusedRule* rule) : request_(request), rule_(rule) {}

  void attention(int layer, std::int64_t heads, const AttentionContext& context) override {
    if (!request_.wants(layer)) return;
    Layer& kept = layers[layer];
    kept.mask = context.mask;
    const AttentionScale& scale = context.scale;
    kept.inverse_root_width = static_cast<float>(scale.inverse_root_width);
    if (scale.learned_multiple.defined())
      kept.scale = plain_values(scale.learned_multiple * scale.inverse_root_width);
    else
      kept.scale.assign(static_cast<std::size_t>(heads), static_cast<float>(scale.multiple * scale.inverse_root_width));
    if (rule_ == nullptr) return;
    kept.strength.assign(static_cast<std::size_t>(heads), rule_->scale_factor);
    for (std::size_t i = 0; i < rule_->parameters.size(); ++i)
      if (rule_->parameters[i].role == RuleParameterRole::scale_factor)
        kept.strength = plain_values(context.parameters[i]);
  }
  void tensor(Point point, int layer, const at::Tensor& value) override {
    if (request_.wants(point, layer)) layers[layer].tensors[point] = value;
  }

  std::map<int, Layer> layers;

 private:
  const ObservationRequest& request_;
  const FusedRule* rule_;
};

// The first `samples`. The residual stream, which has no heads, gets one.
TensorView view_of(const at::Tensor& host, std::int64_t samples) {
  const at::Tensor four = host.dim() == 3 ? host.unsqueeze(1) : host;
  return {four.data_ptr<float>(),
          {samples, four.size(1), four.size(2), four.size(3)},
          {four.stride(0), four.stride(1), four.stride(2)}};
}

MaskView view_of_mask(const at::Tensor& host) {
  if (!host.defined()) return {};
  const auto stride = [&](std::int64_t axis) {
    return host.dim() >= -axis && host.size(axis) > 1 ? host.stride(axis) : 0;
  };
  return {.data = reinterpret_cast<const std::uint8_t*>(host.data_ptr<bool>()),
          .sample_stride = stride(-4),
          .query_stride = stride(-2)};
}

// d loss / d each of `by`; zeros where the loss does not depend on it.
std::vector<at::Tensor> gradients_by(const at::Tensor& loss, const std::vector<at::Tensor>& by, bool differentiable) {
  std::vector<at::Tensor> gradients =
      torch::autograd::grad({loss}, by, {}, /*retain_graph=*/differentiable, differentiable, /*allow_unused=*/true);
  for (std::size_t i = 0; i < by.size(); ++i)
    if (!gradients[i].defined()) gradients[i] = at::zeros_like(by[i]);
  return gradients;
}

at::Tensor joined(const std::vector<at::Tensor>& tensors) {
  std::vector<at::Tensor> flat;
  for (const at::Tensor& tensor : tensors) flat.push_back(tensor.reshape({-1}));
  return at::cat(flat);
}

class GraphHessian final : public HessianProduct {
 public:
  GraphHessian(std::shared_ptr<const Batch> batch, const at::Tensor& loss, const std::vector<at::Tensor>& leaves)
      : batch_(std::move(batch)), leaves_(leaves), gradient_(joined(gradients_by(loss, leaves, true))) {}

  std::int64_t rows() const override { return gradient_.numel(); }

  void perform_op(const double* x, double* y) const override {
    const at::Tensor direction =
        at::from_blob(const_cast<double*>(x), {rows()}, at::kDouble).to(gradient_.options().requires_grad(false));
    std::vector<at::Tensor> products = torch::autograd::grad({gradient_}, leaves_, {direction}, /*retain_graph=*/true,
                                                             /*create_graph=*/false, /*allow_unused=*/true);
    for (std::size_t i = 0; i < leaves_.size(); ++i)
      if (!products[i].defined()) products[i] = at::zeros_like(leaves_[i]);
    at::from_blob(y, {rows()}, at::kDouble).copy_(joined(products));
  }

 private:
  std::shared_ptr<const Batch> batch_;  // whose memory the graph reads
  std::vector<at::Tensor> leaves_;
  at::Tensor gradient_;
};

}  // namespace

void ReferenceEngine::observe(const Batch& batch, std::int64_t step, const ObservationRequest& request,
                              ObservationSink& sink) {
  const std::int64_t seen = request.samples > 0 ? std::min(batch.samples, request.samples) : batch.samples;
  const bool own_pass = request.parameters == ParameterGradients::own_pass;
  const bool backward = request.gradients || own_pass;
  const at::AutoGradMode graph(backward);
  const FusedRule* rule = rule_ ? &*rule_ : nullptr;
  Keeper keeper(request, rule);
  ForwardContext context = context_at(step, true);
  context.hook = &keeper;
  ModelInputs inputs = inputs_of(batch);
  if (!own_pass) {
    // Samples do not meet in a model that has points to look at.
    inputs.values = inputs.values.narrow(0, 0, seen);
    if (inputs.visible.defined()) inputs.visible = inputs.visible.narrow(0, 0, seen);
    if (inputs.wanted.defined()) inputs.wanted = inputs.wanted.narrow(0, 0, seen);
  }
  at::Tensor predictions = forward(inputs, context);

  std::vector<at::Tensor> by, gradients;
  if (backward) {
    // What the others bring to the loss is a constant to those that are seen.
    if (const std::int64_t rest = batch.samples - predictions.size(0); rest > 0) {
      std::vector<std::int64_t> shape = predictions.sizes().vec();
      shape[0] = rest;
      predictions = at::cat({predictions, at::zeros(shape, predictions.options().requires_grad(false))});
    }
    const at::Tensor loss = loss_of(predictions, answers_of(batch), config_.label_smoothing);
    if (request.gradients)
      for (const auto& [layer, kept] : keeper.layers)
        for (const auto& [point, tensor] : kept.tensors) by.push_back(tensor);
    if (own_pass) by.insert(by.end(), parameters_->leaves().begin(), parameters_->leaves().end());
    if (!by.empty()) gradients = gradients_by(loss, by, false);
  }

  std::size_t next = 0;
  for (const auto& [layer, kept] : keeper.layers) {
    std::vector<at::Tensor> held;  // until the sink has seen it
    const auto view = [&](const at::Tensor& tensor) { return view_of(held.emplace_back(readable(tensor)), seen); };
    ObservationView attention{.layer = layer, .samples = seen}, stream = attention;
    const at::Tensor mask = kept.mask.defined() ? kept.mask.cpu() : at::Tensor();
    attention.mask = view_of_mask(mask);
    attention.scale = kept.scale;
    attention.inverse_root_width = kept.inverse_root_width;
    attention.rule = rule;
    attention.strength = kept.strength;
    for (const auto& [point, tensor] : kept.tensors) {
      ObservationView& place = point == Point::residual ? stream : attention;
      if (request.values) place.values[static_cast<std::size_t>(point)] = view(tensor);
      if (request.gradients) place.gradients[static_cast<std::size_t>(point)] = view(gradients[next++]);
    }
    if (kept.tensors.contains(Point::residual)) sink.see(stream);
    if (!kept.scale.empty()) sink.see(attention);
  }
  if (request.parameters == ParameterGradients::none) return;
  if (own_pass)
    return show_parameters(request, {gradients.begin() + static_cast<std::ptrdiff_t>(next), gradients.end()}, sink);
  std::vector<at::Tensor> pending;
  for (std::size_t i = 0; i < parts_.size(); ++i) pending.push_back(parameters_->part(parameters_->gradients(), i));
  show_parameters(request, pending, sink);
}

void ReferenceEngine::show_parameters(const ObservationRequest& request, const std::vector<at::Tensor>& gradients,
                                      ObservationSink& sink) const {
  const std::size_t heads = attention_heads(config_.model, config_.model_options, config_.shape);
  const auto flat = [](const at::Tensor& tensor) { return readable(tensor.detach().reshape({-1})); };
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    const ParameterSpec& spec = parameters_->specs()[i];
    const at::Tensor values = flat(parameters_->leaves()[i]), gradient = flat(gradients[i]);
    ParameterView view{.spec = &spec,
                       .rows = static_cast<std::int64_t>(parts_[i].rows),
                       .columns = static_cast<std::int64_t>(parts_[i].columns),
                       .stride = static_cast<std::int64_t>(parts_[i].stride),
                       .values = values.data_ptr<float>(),
                       .gradient = gradient.data_ptr<float>(),
                       .heads = heads};
    std::vector<float> update;
    if (request.last_update) {
      std::vector<at::Tensor> state;
      for (const auto& [kind, all] : optimizer_->state()) state.push_back(flat(parameters_->part(all, i)));
      update.resize(static_cast<std::size_t>(values.numel()));
      if (!request.last_update->passed_over(i))
        last_update(config_.optimizer,
                    {.rate = request.last_update->lr * config_.lr_multiplier[spec.group],
                     .decay = spec.decays ? config_.optimizer.weight_decay : 0.0,
                     .updates = request.last_update->step + 1},
                    update.size(), view.values, state[0].data_ptr<float>(),
                    state.size() > 1 ? state[1].data_ptr<float>() : nullptr, update.data());
      view.update = update.data();
    }
    sink.see_parameter(view);
  }
}

std::unique_ptr<HessianProduct> ReferenceEngine::hessian_product(const Batch& batch, std::int64_t step) {
  auto held = std::make_shared<const Batch>(batch);
  ForwardContext context = context_at(step, true);
  context.second_derivatives = true;
  const at::Tensor loss = loss_of(forward(*held, context), answers_of(*held), config_.label_smoothing);
  return std::make_unique<GraphHessian>(held, loss, parameters_->leaves());
}

}  // namespace eureka
