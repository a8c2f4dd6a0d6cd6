#include <fmt/format.h>

#include <charconv>

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

RunSource split_source(const std::string& source) {
  const std::size_t at = source.rfind('@');
  // A directory's own name may have one.
  if (at == std::string::npos || std::filesystem::exists(source)) return {source, ""};
  return {source.substr(0, at), source.substr(at + 1)};
}

std::optional<std::int64_t> parse_step(std::string_view text) {
  std::int64_t step = 0;
  const auto [stop, problem] = std::from_chars(text.data(), text.data() + text.size(), step);
  if (problem != std::errc() || stop != text.data() + text.size() || step < 0) return std::nullopt;
  return step;
}

}  // namespace eureka::cli
