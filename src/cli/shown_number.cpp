#include "cli/shown_number.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/suggest.h"
#include "cli/cli.h"
#include "diagnostics/diagnostic.h"
#include "train/config.h"
#include "train/option_lists.h"

namespace eureka::cli {
namespace {

constexpr const char* kOption = "--show";

}  // namespace

ShownNumber find_shown_number(const std::string& name) {
  const std::size_t slash = name.find('/');
  const std::string diagnostic = name.substr(0, slash);
  catalog().find("diagnostic", diagnostic, kOption);
  const std::vector<NumberInfo> numbers = Registry<Diagnostic>::instance().make(diagnostic)->numbers();
  if (numbers.empty())
    throw Error(ErrorKind::config, fmt::format("{} has no numbers to draw", diagnostic), kOption,
                "eureka list diagnostics shows those that have");
  if (slash == std::string::npos) return {diagnostic, numbers.front().name, numbers.front().unit, ""};
  const std::size_t second = std::min(name.find('/', slash + 1), name.size());
  const std::string wanted = name.substr(slash + 1, second - slash - 1);
  std::vector<std::string> known;
  for (const NumberInfo& info : numbers) {
    if (info.name == wanted) return {diagnostic, info.name, info.unit, name.substr(std::min(second + 1, name.size()))};
    known.push_back(diagnostic + "/" + info.name);
  }
  throw Error(ErrorKind::config, fmt::format("{} has no number '{}'", diagnostic, wanted), kOption,
              did_you_mean(name.substr(0, second), known));
}

bool add_shown(const ShownNumber& shown, ConfigEntries& entries) {
  ConfigEntry& entry = entries.try_emplace("diagnose.names", ConfigEntry{std::string(), kOption}).first->second;
  auto* text = std::get_if<std::string>(&entry.value);
  if (text == nullptr) return false;  // no list of names: whoever resolves the config says so
  const std::vector<std::string> names = split_names(*text);
  if (std::find(names.begin(), names.end(), shown.diagnostic) != names.end()) return false;
  *text += (names.empty() ? "" : ", ") + shown.diagnostic;
  entry.where = kOption;
  return true;
}

}  // namespace eureka::cli
