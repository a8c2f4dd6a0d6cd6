#include <fmt/format.h>
#include <signal.h>

#include <algorithm>

#include "base/embedded.h"
#include "cli/cli.h"

namespace eureka::cli {
namespace {

std::atomic<bool> stop_flag{false};
static_assert(std::atomic<bool>::is_always_lock_free, "set from a signal handler");

void request_stop(int signal_number) {
  stop_flag.store(true);
  // A second signal means it: back to the default action.
  ::signal(signal_number, SIG_DFL);
}

}  // namespace

const Catalog& catalog() {
  static const Catalog instance(declarations::files()[0].text);
  return instance;
}

const std::atomic<bool>& stop_requested() {
  static const bool installed = [] {
    struct sigaction action {};
    action.sa_handler = request_stop;
    ::sigaction(SIGINT, &action, nullptr);
    ::sigaction(SIGTERM, &action, nullptr);
    return true;
  }();
  (void)installed;
  return stop_flag;
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
