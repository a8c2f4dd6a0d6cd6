#include "train/catalog.h"

#include <fmt/format.h>

#include "diagnostics/diagnostic.h"
#include "io/option_json.h"
#include "tasks/task.h"

namespace eureka {

Catalog::Catalog(std::string_view torch_declarations)
    : plugins_(plugins_from_json(nlohmann::ordered_json::parse(torch_declarations))) {
  for (PluginInfo& task : Registry<Task>::instance().infos()) plugins_.push_back(std::move(task));
  for (PluginInfo& diagnostic : Registry<Diagnostic>::instance().infos()) plugins_.push_back(std::move(diagnostic));
}

const PluginInfo& Catalog::find(const std::string& kind, const std::string& name, const std::string& where) const {
  std::vector<std::string> names;
  for (const PluginInfo& plugin : plugins_) {
    if (plugin.kind != kind) continue;
    if (plugin.name == name) return plugin;
    names.push_back(plugin.name);
  }
  const char* title = kind == "attention" ? "attention rule" : kind.c_str();
  throw Error(ErrorKind::config, fmt::format("unknown {} '{}'", title, name), where, did_you_mean(name, names));
}

std::vector<PluginInfo> Catalog::of_kind(const std::string& kind) const {
  std::vector<PluginInfo> found;
  for (const PluginInfo& plugin : plugins_)
    if (plugin.kind == kind) found.push_back(plugin);
  return found;
}

}  // namespace eureka
