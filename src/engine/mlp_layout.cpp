#include "engine/mlp_layout.h"

#include <fmt/format.h>

#include "base/error.h"

namespace eureka {

std::vector<std::string> mlp_layers(const MlpOptions& options) {
  std::vector<std::string> names;
  for (int i = 0; i < options.layers; ++i) names.push_back(fmt::format("layers.{}", i));
  names.emplace_back("head");
  return names;
}

std::vector<ParameterSpec> mlp_parameters(const MlpOptions& options, const TaskShape& shape) {
  if (shape.every_position || shape.input() == InputKind::ids)
    throw Error(ErrorKind::config, "model 'mlp' takes vectors or images and answers once per sample", {},
                "use --set model.name=decoder or model.name=transformer");
  std::vector<ParameterSpec> specs;
  std::int64_t from = shape.values();
  for (const std::string& name : mlp_layers(options)) {
    const bool head = name == "head";
    const std::int64_t to = head ? shape.classes : options.hidden;
    const ParameterGroup group = head ? ParameterGroup::head : ParameterGroup::mlp;
    const Initializer uniform = Initializer::uniform_fan_in(from);
    specs.push_back({name + ".weight", {to, from}, group, uniform, true});
    specs.push_back({name + ".bias", {to}, group, uniform, false});
    from = to;
  }
  return specs;
}

}  // namespace eureka
