#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>

#include "report/sections.h"

namespace eureka {
namespace {

// Of the run itself, or of the machine, rather than of what is learned.
bool is_aside(const std::string& key) { return key == "run.seed" || key == "run.threads" || key == "run.engine"; }

std::optional<std::string> setting(const ConfigEntries& config, const std::string& key) {
  const auto found = config.find(key);
  return found != config.end() ? std::optional(to_toml(found->second.value)) : std::nullopt;
}

}  // namespace

std::vector<std::string> config_differences(const std::vector<const ConfigEntries*>& configs) {
  std::set<std::string> keys;
  for (const ConfigEntries* config : configs)
    for (const auto& [key, entry] : *config)
      if (!is_aside(key)) keys.insert(key);
  std::vector<std::string> texts;
  for (const ConfigEntries* config : configs) {
    std::vector<std::string> parts;
    for (const std::string& key : keys) {
      const auto own = setting(*config, key), first = setting(*configs.front(), key);
      if (own != first) parts.push_back(own ? fmt::format("{} = {}", key, *own) : fmt::format("without {}", key));
    }
    texts.push_back(fmt::format("{}", fmt::join(parts, ", ")));
  }
  return texts;
}

}  // namespace eureka
