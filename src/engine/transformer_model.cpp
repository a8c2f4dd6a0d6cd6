#include "engine/transformer_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "engine/rule_parameters.h"
#include "engine/samplewise_network.h"

namespace eureka {
namespace {

std::vector<ParameterSpec> parameters_of(const TransformerModel& model) {
  const TransformerOptions& options = model.options;
  return transformer_parameters(model.plan, model.scale,
                                rule_parameters(model.rule.parameters, options.heads, options.head_width()));
}

}  // namespace

Slot& TransformerBlock::of(RuleParameterRole role) {
  switch (role) {
    case RuleParameterRole::query_gain:
      return q_gain;
    case RuleParameterRole::key_gain:
      return k_gain;
    case RuleParameterRole::log_query_factor:
      return log_factor;
    case RuleParameterRole::scale_factor:
      break;
  }
  return scale_factor;
}

TransformerModel::TransformerModel(const EngineConfig& config, Extent extent)
    : plan(plan_transformer(transformer_kind(config.model).value(), config.model_options, config.shape)),
      options(plan.options),
      scale(config.scale),
      total_steps(config.total_steps),
      interventions(config.interventions),
      rule(make_fused_rule(config.rule, config.rule_options)),
      learned_scale(scale.kind == ScaleKind::learned),
      learned_factor(rule.has(RuleParameterRole::scale_factor)),
      learned_multiples(learned_scale || learned_factor),
      keeps_logits(extent == Extent::whole || rule.gradient_needs_logits || learned_multiples),
      prepared(rule.head_norm.has_value() || options.positions == Positions::rotary),
      cls_only(extent == Extent::needed && plan.has_cls()),
      asked_only(extent == Extent::needed && !plan.has_cls()),
      seed(config.seed),
      layout(parameters_of(*this)) {
  tokens = static_cast<std::size_t>(plan.tokens());
  given = static_cast<std::size_t>(plan.given);
  answers = plan.has_cls() ? 1 : tokens;
  width = static_cast<std::size_t>(options.width);
  padded_width = round_up(width);
  stride = row_stride(width);
  hidden = static_cast<std::size_t>(options.mlp_width());
  hidden_stride = row_stride(hidden);
  heads = static_cast<std::size_t>(options.heads);
  head_width = static_cast<std::size_t>(options.head_width());
  inverse_root_width = static_cast<float>(1 / std::sqrt(static_cast<double>(head_width)));
  qkv_stride = row_stride(3 * padded_width);
  inputs = static_cast<std::size_t>(plan.dimension);
  input_stride = row_stride(inputs);
  classes = static_cast<std::size_t>(plan.shape.classes);
  class_stride = row_stride(classes);
  microbatch = microbatch_of(tokens);
  const std::size_t blocks_with_rows = static_cast<std::size_t>(options.depth) - (cls_only ? 1 : 0);
  keeps_attention = attention_shape().weight_floats() * (keeps_logits ? 2 : 1) * blocks_with_rows * sizeof(float) <=
                    config.kept_attention;
  // Multiplications per sample: heads * width per token instead of width * width, plus one projection of the cls token.
  absorbed = cls_only && !prepared && width + tokens * heads < tokens * width;

  const auto find = [&](const std::string& name) { return layout.find(name); };
  embed = find("embed.weight");
  embed_bias = find("embed.bias");
  cls = find("cls");
  positions = find("positions");
  norm_gain = find("norm.weight");
  norm_bias = find("norm.bias");
  head = options.tied_head ? embed : find("head.weight");
  head_bias = find("head.bias");
  for (int layer = 0; layer < options.depth; ++layer) {
    const std::string name = fmt::format("blocks.{}.", layer);
    const std::string attn = name + "attn.";
    TransformerBlock block;
    block.norm1_gain = find(name + "norm1.weight");
    block.norm1_bias = find(name + "norm1.bias");
    block.norm2_gain = find(name + "norm2.weight");
    block.norm2_bias = find(name + "norm2.bias");
    block.q = find(attn + "q.weight");
    block.k = find(attn + "k.weight");
    block.v = find(attn + "v.weight");
    block.q_bias = find(attn + "q.bias");
    block.k_bias = find(attn + "k.bias");
    block.v_bias = find(attn + "v.bias");
    block.proj = find(attn + "proj.weight");
    block.proj_bias = find(attn + "proj.bias");
    block.fc1 = find(name + "mlp.fc1.weight");
    block.fc1_bias = find(name + "mlp.fc1.bias");
    block.fc2 = find(name + "mlp.fc2.weight");
    block.fc2_bias = find(name + "mlp.fc2.bias");
    block.log_scale = find(attn + "log_scale");
    for (const RuleParameter& parameter : rule.parameters) block.of(parameter.role) = find(attn + parameter.name);
    block.attention_dropout = fmt::format("dropout attention {}", layer);
    block.mlp_dropout = fmt::format("dropout mlp {}", layer);
    block.attention_path = fmt::format("drop-path attention {}", layer);
    block.mlp_path = fmt::format("drop-path mlp {}", layer);
    block.path_rate = drop_path_rate(options, layer);
    blocks.push_back(std::move(block));
  }
}

}  // namespace eureka
