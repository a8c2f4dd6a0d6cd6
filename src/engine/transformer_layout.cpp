#include "engine/transformer_layout.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/exact_math.h"

namespace eureka {
namespace {

class LayoutBuilder {
 public:
  LayoutBuilder(const TransformerInit& init, NormKind norm) : init_(init), norm_(norm) {}

  void add(std::string name, std::vector<std::int64_t> shape, ParameterGroup group, Initializer init,
           bool decays = false) {
    specs.push_back({std::move(name), std::move(shape), group, init, decays});
  }

  void matrix(const std::string& name, std::int64_t rows, std::int64_t columns, ParameterGroup group,
              double deviation = 0) {
    const auto distribution =
        init_.distribution == WeightDistribution::normal ? Distribution::normal : Distribution::truncated_normal;
    add(name, {rows, columns}, group, {distribution, deviation > 0 ? deviation : init_.weights}, true);
  }

  void norm(const std::string& name, std::int64_t width) {
    if (norm_ != NormKind::none) add(name + ".weight", {width}, ParameterGroup::norm, Initializer::ones());
    if (norm_ == NormKind::layer) add(name + ".bias", {width}, ParameterGroup::norm, Initializer::zeros());
  }

  std::vector<ParameterSpec> specs;

 private:
  const TransformerInit& init_;
  NormKind norm_;
};

}  // namespace

std::optional<TransformerKind> transformer_kind(const std::string& model) {
  if (model == "transformer") return TransformerKind::encoder;
  if (model == "vit") return TransformerKind::vit;
  if (model == "decoder") return TransformerKind::decoder;
  return std::nullopt;
}

TransformerPlan plan_transformer(TransformerKind kind, const TransformerOptions& options, int patch,
                                 const TaskShape& shape) {
  const auto refuse = [](const std::string& what, const std::string& hint) {
    throw Error(ErrorKind::config, what, {}, hint);
  };
  if (options.width % options.heads != 0)
    refuse(fmt::format("'model.width' ({}) is not a multiple of 'model.heads' ({})", options.width, options.heads),
           fmt::format("for example --set model.width={}", options.heads * ((options.width / options.heads) + 1)));
  const bool image = shape.input() == InputKind::image;
  if (image && kind != TransformerKind::vit)
    refuse("this model takes tokens, and the task gives images", "use --set model.name=vit");
  if (!image && kind == TransformerKind::vit)
    refuse("model 'vit' takes images, and the task gives tokens", "use --set model.name=transformer");
  if (shape.looks_ahead && kind == TransformerKind::decoder)
    refuse("the task asks for what tokens after it decide, and model 'decoder' sees only those before",
           "use --set model.name=transformer");
  if (shape.every_position && !shape.looks_ahead && kind == TransformerKind::encoder)
    refuse("model 'transformer' would see the answers, which stand later in the sequence",
           "use --set model.name=decoder");
  if (shape.every_position && kind == TransformerKind::vit)
    refuse("the task asks at every position, and this model answers once per sample", "use --set model.name=decoder");
  if (!shape.every_position && kind == TransformerKind::decoder)
    refuse("model 'decoder' answers at every position, and the task asks once per sample",
           "use --set model.name=transformer");
  if (options.positions == Positions::rotary && options.head_width() % 2 != 0)
    refuse(fmt::format("rotary positions turn pairs of columns, and a head has {}", options.head_width()),
           fmt::format("for example --set model.width={}", 2 * options.width));
  if (options.tied_head && (shape.input() != InputKind::ids || shape.vocabulary != shape.classes))
    refuse("a tied head needs a task whose answers are its own ids", "use --set model.tied_head=false");
  TransformerPlan plan{options, shape};
  plan.causal = kind == TransformerKind::decoder;
  plan.given = shape.tokens;
  plan.dimension = shape.input() == InputKind::ids ? 0 : shape.dimension;
  if (image) {
    if (shape.image.height % patch != 0 || shape.image.width % patch != 0)
      refuse(fmt::format("images of {} x {} cannot be cut into patches of {} x {}", shape.image.height,
                         shape.image.width, patch, patch),
             "set model.patch to a divisor of both sides");
    plan.patch = patch;
    plan.given = shape.image.height / patch * (shape.image.width / patch);
    plan.dimension = plan.patch * plan.patch * shape.image.channels;
  }
  return plan;
}

TransformerPlan plan_transformer(TransformerKind kind, const OptionValues& values, const TaskShape& shape) {
  VitOptions options;
  assign(options, values);
  return plan_transformer(kind, options, options.patch, shape);
}

namespace {

void add_embedding(LayoutBuilder& layout, const TransformerPlan& plan) {
  const TransformerInit& init = plan.options.init;
  const std::int64_t width = plan.options.width;
  if (plan.shape.input() == InputKind::ids) {
    layout.matrix("embed.weight", plan.shape.vocabulary, width, ParameterGroup::embedding, init.embedding);
    return;
  }
  if (init.embedding > 0) {
    layout.matrix("embed.weight", width, plan.dimension, ParameterGroup::embedding, init.embedding);
    layout.add("embed.bias", {width}, ParameterGroup::embedding, Initializer::zeros());
    return;
  }
  const Initializer uniform = Initializer::uniform_fan_in(plan.dimension);
  layout.add("embed.weight", {width, plan.dimension}, ParameterGroup::embedding, uniform, true);
  layout.add("embed.bias", {width}, ParameterGroup::embedding, uniform);
}

}  // namespace

std::size_t attention_heads(const std::string& model, const OptionValues& options, const TaskShape& shape) {
  const std::optional<TransformerKind> kind = transformer_kind(model);
  return kind ? static_cast<std::size_t>(plan_transformer(*kind, options, shape).options.heads) : 0;
}

std::vector<ParameterSpec> transformer_parameters(const TransformerPlan& plan, const ScaleOptions& scale,
                                                  const std::vector<ParameterSpec>& rule_parameters) {
  const TransformerOptions& options = plan.options;
  const std::int64_t width = options.width;
  const std::int64_t hidden = options.mlp_width();
  const TransformerInit& init = options.init;
  LayoutBuilder layout(init, options.norm);

  add_embedding(layout, plan);
  if (plan.has_cls()) layout.add("cls", {width}, ParameterGroup::cls, {Distribution::normal, init.cls});
  if (options.positions == Positions::learned)
    layout.add("positions", {plan.tokens(), width}, ParameterGroup::positions, {Distribution::normal, init.positions});

  for (int layer = 0; layer < options.depth; ++layer) {
    const std::string block = fmt::format("blocks.{}.", layer);
    layout.norm(block + "norm1", width);
    const auto projection = [&](const char* name, ParameterGroup group, double deviation) {
      layout.matrix(block + "attn." + name + ".weight", width, width, group, deviation);
      if (options.qkv_bias) layout.add(block + "attn." + name + ".bias", {width}, group, Initializer::zeros());
    };
    projection("q", ParameterGroup::query_key, init.query_key);
    projection("k", ParameterGroup::query_key, init.query_key);
    projection("v", ParameterGroup::value, init.value);
    if (scale.kind == ScaleKind::learned)
      layout.add(block + "attn.log_scale", {options.heads}, ParameterGroup::rule,
                 Initializer::constant(exact::log(scale.multiple)));
    for (ParameterSpec spec : rule_parameters) {
      spec.name = block + "attn." + spec.name;
      layout.specs.push_back(std::move(spec));
    }
    layout.matrix(block + "attn.proj.weight", width, width, ParameterGroup::projection, init.residual);
    layout.add(block + "attn.proj.bias", {width}, ParameterGroup::projection, Initializer::zeros());
    if (hidden == 0) continue;
    layout.norm(block + "norm2", width);
    layout.matrix(block + "mlp.fc1.weight", hidden, width, ParameterGroup::mlp);
    layout.add(block + "mlp.fc1.bias", {hidden}, ParameterGroup::mlp, Initializer::zeros());
    layout.matrix(block + "mlp.fc2.weight", width, hidden, ParameterGroup::mlp, init.residual);
    layout.add(block + "mlp.fc2.bias", {width}, ParameterGroup::mlp, Initializer::zeros());
  }
  layout.norm("norm", width);
  if (!options.tied_head) layout.matrix("head.weight", plan.shape.classes, width, ParameterGroup::head, init.head);
  layout.add("head.bias", {plan.shape.classes}, ParameterGroup::head, Initializer::zeros());
  return std::move(layout.specs);
}

double drop_path_rate(const TransformerOptions& options, int layer) {
  return options.depth > 1 ? options.stochastic_depth * layer / (options.depth - 1) : options.stochastic_depth;
}

std::vector<float> rotary_angles(std::int64_t rows, std::int64_t head_width) {
  const std::int64_t pairs = head_width / 2;
  std::vector<float> table(static_cast<std::size_t>(2 * rows * pairs));
  for (std::int64_t pair = 0; pair < pairs; ++pair) {
    const double frequency = exact::pow(10000.0, -static_cast<double>(pair) / static_cast<double>(pairs));
    for (std::int64_t row = 0; row < rows; ++row) {
      const double angle = static_cast<double>(row) * frequency;
      const auto at = static_cast<std::size_t>(row * pairs + pair);
      table[at] = static_cast<float>(exact::cos(angle));
      table[static_cast<std::size_t>(rows * pairs) + at] = static_cast<float>(exact::sin(angle));
    }
  }
  return table;
}

std::vector<float> sinusoidal_positions(std::int64_t rows, std::int64_t width) {
  std::vector<float> table(static_cast<std::size_t>(rows * width));
  for (std::int64_t column = 0; column < width; ++column) {
    const std::int64_t pair = column - column % 2;
    const double frequency = exact::pow(10000.0, -static_cast<double>(pair) / static_cast<double>(width));
    for (std::int64_t row = 0; row < rows; ++row) {
      const double angle = static_cast<double>(row) * frequency;
      table[static_cast<std::size_t>(row * width + column)] =
          static_cast<float>(column % 2 == 0 ? exact::sin(angle) : exact::cos(angle));
    }
  }
  return table;
}

}  // namespace eureka
