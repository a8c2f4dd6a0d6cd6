#include "nn/transformer.h"

#include <fmt/format.h>

#include <cmath>

#include "base/error.h"

namespace eureka {
namespace {

// Products of this many multiplications or fewer are done element by element: one call per matrix would cost more.
constexpr std::int64_t kTinyProduct = 1024;

// From this many tokens on the matrices of attention are worth avoiding.
constexpr std::int64_t kLongSequence = 256;

// a (... x n x m) times b (... x m x p), for each of the leading indices.
at::Tensor batched_product(const at::Tensor& a, const at::Tensor& b) {
  if (a.size(-2) * a.size(-1) * b.size(-1) > kTinyProduct) return at::matmul(a, b);
  return (a.unsqueeze(-2) * b.transpose(-2, -1).unsqueeze(-3)).sum(-1);
}

}  // namespace

Transformer::Transformer(TransformerKind kind, const TransformerOptions& options, int patch)
    : kind_(kind), options_(options), patch_(patch) {}

std::vector<ParameterSpec> Transformer::declare(const ModelContext& context) {
  context_ = context;
  plan_ = plan_transformer(kind_, options_, patch_, context.shape);
  return transformer_parameters(plan_, context.scale, rule_parameters());
}

at::Tensor Transformer::Norm::operator()(const at::Tensor& x) const {
  switch (kind) {
    case NormKind::layer:
      return at::layer_norm(x, {x.size(-1)}, weight, bias, epsilon);
    case NormKind::rms:
      return x * (x.square().mean(-1, /*keepdim=*/true) + epsilon).rsqrt() * weight;
    case NormKind::none:
      break;
  }
  return x;
}

std::vector<ParameterSpec> Transformer::rule_parameters() const {
  return context_.rule->parameters({.heads = options_.heads, .width = options_.head_width()});
}

at::Tensor Transformer::split_heads(const at::Tensor& x) const {
  return x.view({x.size(0), x.size(1), options_.heads, options_.head_width()}).transpose(1, 2);
}

void Transformer::bind(const ParameterSet& parameters) {
  const auto affine = [&](const std::string& name) {
    return Affine{parameters[name + ".weight"],
                  parameters.contains(name + ".bias") ? parameters[name + ".bias"] : at::Tensor()};
  };
  const auto norm = [&](const std::string& name) {
    const auto part = [&](const std::string& which) {
      return parameters.contains(which) ? parameters[which] : at::Tensor();
    };
    return Norm{options_.norm, part(name + ".weight"), part(name + ".bias"), options_.norm_epsilon};
  };
  embed_ = affine("embed");
  head_ = options_.tied_head ? Affine{embed_.weight, parameters["head.bias"]} : affine("head");
  norm_ = norm("norm");
  if (plan_.has_cls()) cls_ = parameters["cls"];
  const std::int64_t rows = plan_.tokens();
  if (options_.positions == Positions::learned) positions_ = parameters["positions"];
  if (options_.positions == Positions::sinusoidal)
    positions_ = at::tensor(sinusoidal_positions(rows, options_.width))
                     .view({rows, options_.width})
                     .to(embed_.weight.options().requires_grad(false));
  if (options_.positions == Positions::rotary) {
    const std::int64_t pairs = options_.head_width() / 2;
    const at::Tensor angles = at::tensor(rotary_angles(rows, options_.head_width())).view({2, rows, pairs});
    cosines_ = angles[0].to(embed_.weight.options().requires_grad(false));
    sines_ = angles[1].to(embed_.weight.options().requires_grad(false));
  }
  blocks_.clear();
  for (int layer = 0; layer < options_.depth; ++layer) {
    const std::string block = fmt::format("blocks.{}.", layer);
    const std::string attn = block + "attn.";
    Block one{norm(block + "norm1"),
              norm(block + "norm2"),
              affine(attn + "q"),
              affine(attn + "k"),
              affine(attn + "v"),
              affine(attn + "proj"),
              options_.mlp_width() > 0 ? affine(block + "mlp.fc1") : Affine(),
              options_.mlp_width() > 0 ? affine(block + "mlp.fc2") : Affine(),
              {},
              {}};
    if (context_.scale.kind == ScaleKind::learned) one.log_scale = parameters[attn + "log_scale"];
    for (const ParameterSpec& spec : rule_parameters()) one.rule_parameters.push_back(parameters[attn + spec.name]);
    blocks_.push_back(std::move(one));
  }
}

at::Tensor Transformer::branch_noise(at::Tensor y, const char* branch, int layer, const ForwardContext& context) const {
  if (!context.training) return y;
  if (options_.dropout > 0)
    y = y * random_mask(options_.dropout, y.sizes(), context, fmt::format("dropout {} {}", branch, layer), y.options());
  if (const double rate = drop_path_rate(options_, layer); rate > 0)
    y = y * random_mask(rate, {y.size(0), 1, 1}, context, fmt::format("drop-path {} {}", branch, layer), y.options());
  return y;
}

AttentionScale Transformer::scale_of(const Block& block, int layer, const ForwardContext& context) const {
  AttentionScale scale{context.scale_multiple, 1 / std::sqrt(static_cast<double>(options_.head_width())),
                       block.log_scale.defined() ? block.log_scale.exp().view({-1, 1, 1}) : at::Tensor()};
  const ScaleChange& change = context_.interventions.scale;
  if (!change.holds(context.step) || !change.of.has_layer(layer)) return scale;
  std::vector<double> factors;
  for (int head = 0; head < options_.heads; ++head) factors.push_back(change.at(context.step, layer, head));
  const at::Tensor per_head = at::tensor(factors).to(block.q.weight.options().requires_grad(false)).view({-1, 1, 1});
  scale.learned_multiple =
      scale.learned_multiple.defined() ? scale.learned_multiple * per_head : per_head * scale.multiple;
  return scale;
}

at::Tensor Transformer::fixed_heads(int layer, const at::Tensor& like) const {
  std::vector<std::uint8_t> heads;
  for (int head = 0; head < options_.heads; ++head)
    heads.push_back(context_.interventions.attention.of.has(layer, head) ? 1 : 0);
  return at::tensor(heads).to(like.device(), at::kBool).view({1, -1, 1, 1});
}

at::Tensor Transformer::fixed_weights(const ModelInputs& inputs, const at::Tensor& mask,
                                      const ForwardContext& context) const {
  const FixedAttention& attention = context_.interventions.attention;
  if (!attention.holds(context.step)) return {};
  const auto bool_options = inputs.values.options().dtype(at::kBool);
  const at::Tensor seen = mask.defined() ? mask : at::ones({1, 1, 1, plan_.tokens()}, bool_options);
  at::Tensor chosen = seen;
  if (attention.kind == FixedKind::wanted) {
    EUREKA_CHECK(inputs.wanted.defined(), "a batch names the keys that fixed attention wants");
    at::Tensor wanted = inputs.wanted;
    if (plan_.has_cls()) wanted = at::cat({at::zeros({wanted.size(0), wanted.size(1), 1}, bool_options), wanted}, 2);
    wanted = wanted.unsqueeze(1).logical_and(seen);
    chosen = at::where(wanted.any(-1, /*keepdim=*/true), wanted, seen);
  }
  const at::Tensor shares = chosen.to(embed_.weight.dtype());
  return shares / shares.sum(-1, /*keepdim=*/true).clamp_min(1);
}

at::Tensor Transformer::attention(const at::Tensor& x, const Block& block, int layer, const Sight& sight,
                                  const ForwardContext& context) const {
  at::Tensor q = split_heads(block.q(x));
  at::Tensor k = split_heads(block.k(x));
  const at::Tensor v = split_heads(block.v(x));
  AttentionContext attention_context;
  attention_context.scale = scale_of(block, layer, context);
  attention_context.mask = sight.mask;
  attention_context.parameters = block.rule_parameters;
  const at::Tensor q_raw = q, k_raw = k;
  context_.rule->prepare(q, k, attention_context);
  if (cosines_.defined()) {
    q = turned(q);
    k = turned(k);
  }
  const auto projected = [&](const at::Tensor& heads) { return block.proj(heads.transpose(1, 2).reshape(x.sizes())); };
  if (sight.spares_weights) return projected(context_.rule->outputs({q, k, v, plan_.causal}, attention_context));
  const at::Tensor logits = batched_product(q, k.transpose(-2, -1));
  at::Tensor weights = context_.rule->weights(logits, attention_context);
  if (sight.fixed.defined() && context_.interventions.attention.of.has_layer(layer))
    weights = at::where(fixed_heads(layer, weights), sight.fixed.to(weights.dtype()), weights);
  const at::Tensor heads = batched_product(weights, v);
  if (context.hook != nullptr) context.hook->attention(layer, options_.heads, attention_context);
  if (!q.is_same(q_raw)) {
    context.observe(Point::q_raw, layer, q_raw);
    context.observe(Point::k_raw, layer, k_raw);
  }
  context.observe(Point::q, layer, q);
  context.observe(Point::k, layer, k);
  context.observe(Point::v, layer, v);
  context.observe(Point::logits, layer, logits);
  context.observe(Point::weights, layer, weights);
  context.observe(Point::head_output, layer, heads);
  return projected(heads);
}

bool Transformer::spares_weights(const ModelInputs& inputs, const ForwardContext& context) const {
  return plan_.tokens() >= kLongSequence && context.hook == nullptr && !context.second_derivatives &&
         !inputs.visible.defined() && !context_.interventions.attention.holds(context.step) &&
         context_.rule->spares_weights();
}

at::Tensor Transformer::turned(const at::Tensor& x) const {
  const std::vector<at::Tensor> halves = x.chunk(2, -1);
  const at::Tensor cosines = cosines_.to(x.dtype()), sines = sines_.to(x.dtype());
  return at::cat({halves[0] * cosines - halves[1] * sines, halves[1] * cosines + halves[0] * sines}, -1);
}

at::Tensor Transformer::embedded(const at::Tensor& values) const {
  if (plan_.shape.input() == InputKind::ids) return at::embedding(embed_.weight, values);
  if (plan_.shape.input() == InputKind::vectors) return embed_(values);
  // samples x rows x y x columns x (x and channels) to one row per patch.
  const ImageShape& image = plan_.shape.image;
  const at::Tensor cut = values.view({values.size(0), image.height / plan_.patch, plan_.patch,
                                      image.width / plan_.patch, plan_.patch * image.channels});
  return embed_(cut.transpose(2, 3).reshape({values.size(0), plan_.given, plan_.dimension}));
}

at::Tensor Transformer::mask_of(const ModelInputs& inputs) const {
  at::Tensor mask;
  if (inputs.visible.defined()) {
    at::Tensor keys = inputs.visible;
    if (plan_.has_cls()) keys = at::cat({at::ones({keys.size(0), 1}, keys.options()), keys}, 1);
    mask = keys.view({keys.size(0), 1, 1, keys.size(1)});
  }
  if (!plan_.causal) return mask;
  const at::Tensor causal = at::ones({plan_.tokens(), plan_.tokens()}, inputs.values.options().dtype(at::kBool)).tril();
  return mask.defined() ? mask.logical_and(causal) : causal;
}

at::Tensor Transformer::forward(const ModelInputs& inputs, const ForwardContext& context) const {
  at::Tensor x = embedded(inputs.values);
  if (plan_.has_cls()) x = at::cat({cls_.expand({x.size(0), 1, options_.width}), x}, 1);
  if (positions_.defined()) x = x + positions_;
  if (context.training && options_.dropout > 0)
    x = x * random_mask(options_.dropout, x.sizes(), context, "dropout embedding", x.options());
  Sight sight{.spares_weights = spares_weights(inputs, context)};
  if (!sight.spares_weights) {
    sight.mask = mask_of(inputs);
    sight.fixed = fixed_weights(inputs, sight.mask, context);
  }
  for (int layer = 0; layer < options_.depth; ++layer) {
    const Block& block = blocks_[static_cast<std::size_t>(layer)];
    context.observe(Point::residual, layer, x);
    x = x + branch_noise(attention(block.norm1(x), block, layer, sight, context), "attention", layer, context);
    if (options_.mlp_width() == 0) continue;
    const at::Tensor hidden = block.fc1(block.norm2(x));
    const at::Tensor active = options_.activation == Activation::gelu ? at::gelu(hidden) : at::relu(hidden);
    x = x + branch_noise(block.fc2(active), "mlp", layer, context);
  }
  context.observe(Point::residual, options_.depth, x);
  // LayerNorm acts on each token alone: only those that answer need it.
  return head_(norm_(plan_.has_cls() ? x.select(1, 0) : x));
}

}  // namespace eureka
