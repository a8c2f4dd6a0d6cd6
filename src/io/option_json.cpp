#include "io/option_json.h"

#include <cmath>

#include "io/json.h"

namespace eureka {
namespace {

constexpr const char* kTypeNames[] = {"boolean", "integer", "number", "text"};

OptionValue value_from_json(const Json& json, OptionType type) {
  switch (type) {
    case OptionType::boolean:
      return json.get<bool>();
    case OptionType::integer:
      return json.get<std::int64_t>();
    case OptionType::number:
      return json.get<double>();
    case OptionType::text:
      return json.get<std::string>();
  }
  return false;
}

OptionInfo option_from_json(const Json& json) {
  OptionInfo info;
  info.name = json.at("name").get<std::string>();
  const std::string type = json.at("type").get<std::string>();
  for (std::size_t i = 0; i < std::size(kTypeNames); ++i)
    if (type == kTypeNames[i]) info.type = static_cast<OptionType>(i);
  info.default_value = value_from_json(json.at("default"), info.type);
  if (json.contains("min")) info.range.min = json.at("min").get<double>();
  if (json.contains("max")) info.range.max = json.at("max").get<double>();
  if (json.contains("choices")) info.choices = json.at("choices").get<std::vector<std::string>>();
  info.help = json.at("help").get<std::string>();
  return info;
}

}  // namespace

Json to_json(const OptionValue& value) {
  return std::visit([](const auto& held) { return Json(held); }, value);
}

Json to_json(const OptionInfo& info) {
  Json json;
  json["name"] = info.name;
  json["type"] = kTypeNames[static_cast<std::size_t>(info.type)];
  json["default"] = to_json(info.default_value);
  if (std::isfinite(info.range.min)) json["min"] = info.range.min;
  if (std::isfinite(info.range.max)) json["max"] = info.range.max;
  if (!info.choices.empty()) json["choices"] = info.choices;
  json["help"] = info.help;
  return json;
}

Json to_json(const PluginInfo& info) {
  Json json;
  json["kind"] = info.kind;
  json["name"] = info.name;
  json["description"] = info.description;
  json["options"] = Json::array();
  for (const OptionInfo& option : info.options) json["options"].push_back(to_json(option));
  return json;
}

PluginInfo plugin_from_json(const Json& json) {
  PluginInfo plugin{json.at("kind").get<std::string>(),
                    json.at("name").get<std::string>(),
                    json.at("description").get<std::string>(),
                    {}};
  for (const Json& option : json.at("options")) plugin.options.push_back(option_from_json(option));
  return plugin;
}

}  // namespace eureka
