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

// An option of something that the run does not have at all: attention.epsilon where attention.rule is another.
bool is_of_another_choice(const std::string& key, const ConfigEntries& own, const ConfigEntries& first) {
  for (std::size_t dot = key.rfind('.'); dot != std::string::npos && dot > 0; dot = key.rfind('.', dot - 1))
    for (const char* choice : {".rule", ".name", ".names", ".kind"}) {
      const std::string chooser = key.substr(0, dot) + choice;
      if (chooser != key && setting(own, chooser) != setting(first, chooser)) return true;
    }
  return false;
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
      if (own == first) continue;
      if (own)
        parts.push_back(fmt::format("{} = {}", key, *own));
      else if (!is_of_another_choice(key, *config, *configs.front()))
        parts.push_back(fmt::format("{} is not set", key));
    }
    texts.push_back(fmt::format("{}", fmt::join(parts, ", ")));
  }
  return texts;
}

}  // namespace eureka
