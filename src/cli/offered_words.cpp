#include "cli/offered_words.h"

#include <set>

#include "cli/cli.h"
#include "lab/presets.h"
#include "train/config.h"

namespace eureka::cli {
namespace {

std::vector<std::string> presets(bool studies) {
  std::vector<std::string> names;
  for (const PresetInfo& preset : list_presets())
    if (preset.is_study == studies) names.push_back(preset.name);
  return names;
}

}  // namespace

std::vector<std::string> run_presets() { return presets(false); }
std::vector<std::string> study_presets() { return presets(true); }

std::vector<std::string> settings() {
  std::set<std::string> keys = {"task.name=", "model.name=", "attention.rule="};
  for (const ConfigSection& section : fixed_sections())
    for (const OptionInfo& option : section.options) keys.insert(section.name + "." + option.name + "=");
  for (const std::string kind : {"task", "model", "attention", "diagnostic"})
    for (const PluginInfo& plugin : catalog().of_kind(kind))
      for (const OptionInfo& option : plugin.options)
        keys.insert((kind == "diagnostic" ? "diagnose." + plugin.name : kind) + "." + option.name + "=");
  return {keys.begin(), keys.end()};
}

std::vector<std::string> diagnostic_names() {
  std::vector<std::string> names;
  for (const PluginInfo& plugin : catalog().of_kind("diagnostic")) names.push_back(plugin.name);
  return names;
}

}  // namespace eureka::cli
