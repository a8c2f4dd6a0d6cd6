#include <fmt/format.h>

#include <algorithm>

#include "base/embedded.h"
#include "cli/cli.h"

namespace eureka::cli {

const Catalog& catalog() {
  static const Catalog instance(declarations::files()[0].text);
  return instance;
}

ConfigEntries parse_overrides(const std::vector<std::string>& assignments) {
  ConfigEntries overrides;
  for (const std::string& assignment : assignments) {
    auto [key, entry] = parse_assignment(assignment);
    overrides[key] = std::move(entry);
  }
  return overrides;
}

std::string setting_name(const std::string& key, const ConfigEntry& entry) {
  const auto* text = std::get_if<std::string>(&entry.value);
  std::string name =
      fmt::format("-{}={}", key.substr(key.rfind('.') + 1), text != nullptr ? *text : to_toml(entry.value));
  std::replace(name.begin(), name.end(), '/', '_');
  return name;
}

}  // namespace eureka::cli
