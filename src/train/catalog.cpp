#include "train/catalog.h"

#include <fmt/format.h>

#include <algorithm>

#include "diagnostics/diagnostic.h"
#include "engine/engine.h"
#include "engine/fused_models.h"
#include "io/json.h"
#include "io/option_json.h"
#include "tasks/task.h"

namespace eureka {
namespace {

std::string title(const std::string& kind) { return kind == "attention" ? "attention rule" : kind; }

}  // namespace

Catalog::Catalog(std::string_view torch_declarations) : plugins_(fused_declarations()) {
  for (const auto& json : Json::parse(torch_declarations)) {
    if (json.contains("options"))
      plugins_.push_back(plugin_from_json(json));
    else
      not_built_.push_back({json.at("kind").get<std::string>(), json.at("name").get<std::string>()});
  }
  for (PluginInfo& task : Registry<Task>::instance().infos()) plugins_.push_back(std::move(task));
  for (PluginInfo& diagnostic : Registry<Diagnostic>::instance().infos()) plugins_.push_back(std::move(diagnostic));
  std::ranges::sort(plugins_, {}, &PluginInfo::name);
}

const PluginInfo& Catalog::find(const std::string& kind, const std::string& name, const std::string& where) const {
  std::vector<std::string> names;
  for (const PluginInfo& plugin : plugins_) {
    if (plugin.kind != kind) continue;
    if (plugin.name == name) return plugin;
    names.push_back(plugin.name);
  }
  for (const Name& missing : not_built_)
    if (missing.kind == kind && missing.name == name)
      throw Error(ErrorKind::config,
                  fmt::format("{} '{}' needs libtorch, and this program was built without it", title(kind), name),
                  where, kHowToBuildWithTorch);
  throw Error(ErrorKind::config, fmt::format("unknown {} '{}'", title(kind), name), where, did_you_mean(name, names));
}

std::vector<PluginInfo> Catalog::of_kind(const std::string& kind) const {
  std::vector<PluginInfo> found;
  for (const PluginInfo& plugin : plugins_)
    if (plugin.kind == kind) found.push_back(plugin);
  return found;
}

}  // namespace eureka
