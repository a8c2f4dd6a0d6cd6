#include "cli/run_name.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <regex>
#include <set>
#include <tuple>

#include "base/output.h"
#include "lab/presets.h"
#include "train/run_directory.h"

namespace eureka::cli {
namespace {

std::string section_of(const std::string& key) { return key.substr(0, key.rfind('.')); }
std::string last_word(const std::string& key) { return key.substr(key.rfind('.') + 1); }

// It says by itself what it is: a rule, a kind of schedule, a model.
bool names_a_choice(const std::string& key) {
  constexpr std::array kChoices = {"rule", "kind", "name"};
  return std::find(kChoices.begin(), kChoices.end(), last_word(key)) != kChoices.end();
}

std::string value_name(const OptionValue& value) {
  // Of a path its last part.
  if (const auto* text = std::get_if<std::string>(&value)) return text->substr(text->rfind('/') + 1);
  if (const auto* number = std::get_if<double>(&value)) return fmt::format("{}", *number);
  return to_toml(value);
}

std::string setting_name(const std::string& key, const OptionValue& value, const std::set<std::string>& chosen) {
  if (const auto* flag = std::get_if<bool>(&value)) return (*flag ? "" : "no-") + last_word(key);
  const bool alone = names_a_choice(key) || chosen.contains(section_of(key));
  return alone ? value_name(value) : fmt::format("{}-{}", last_word(key), value_name(value));
}

// For a file: nothing that a shell or a system would take for something else.
std::string file_name_of(std::string name) {
  constexpr std::size_t kLongest = 80;
  for (char& c : name)
    if (!std::isalnum(static_cast<unsigned char>(c)) && std::string_view("-_.+").find(c) == std::string_view::npos)
      c = '_';
  return name.substr(0, kLongest);
}

// `wanted`, then "wanted-2", "wanted-3", ...
fs::path numbered(const fs::path& wanted, int number) {
  return number == 1 ? wanted : fs::path(fmt::format("{}-{}", wanted.string(), number));
}

}  // namespace

std::string settings_name(const std::map<std::string, OptionValue>& settings) {
  std::set<std::string> chosen;
  // What is chosen comes before what belongs to it.
  std::map<std::tuple<std::string, bool, std::string>, OptionValue> ordered;
  for (const auto& [key, value] : settings) {
    if (key.starts_with("run.") || key.starts_with("diagnose.")) continue;
    if (names_a_choice(key)) chosen.insert(section_of(key));
    ordered[{section_of(key), !names_a_choice(key), key}] = value;
  }
  std::string name;
  for (const auto& [place, value] : ordered)
    name += (name.empty() ? "" : "-") + setting_name(std::get<2>(place), value, chosen);
  return file_name_of(std::move(name));
}

std::map<std::string, OptionValue> real_changes(const RunConfig& base, const RunConfig& config,
                                                const ConfigEntries& overrides) {
  std::map<std::string, OptionValue> before, said, changes;
  for (auto& [key, value] : flat_entries(base)) before[key] = std::move(value);
  for (auto& [key, value] : flat_entries(config))
    if (overrides.contains(key)) said[key] = std::move(value);
  const auto differs = [&](const std::string& key) {
    const auto then = before.find(key), now = said.find(key);
    return now != said.end() && (then == before.end() || then->second != now->second);
  };
  std::set<std::string> chosen_anew;
  for (const auto& [key, value] : said)
    if (names_a_choice(key) && differs(key)) chosen_anew.insert(section_of(key));
  for (const auto& [key, value] : said)
    if (differs(key) || (chosen_anew.contains(section_of(key)) && !names_a_choice(key))) changes[key] = value;
  return changes;
}

std::string base_name(const std::string& source) {
  fs::path place = (fs::path(source) / "").parent_path();
  const std::string own = find_config(source).name;
  if (std::string name = std::regex_replace(own, std::regex("-seed[0-9]+(-[0-9]+)?$"), ""); name != own) return name;
  const bool is_trial = fs::is_directory(place) && own.starts_with("seed-");
  return file_name_of(is_trial ? fs::absolute(place).parent_path().filename().string() : own);
}

ClaimedDirectory::ClaimedDirectory(const fs::path& wanted) {
  if (wanted.has_parent_path()) make_directories(wanted.parent_path());
  for (int number = 1;; ++number) {
    path_ = numbered(wanted, number);
    std::error_code failure;
    if (fs::create_directory(path_, failure)) {
      if (number > 1) tell("{} is taken: this run is {}\n", wanted.string(), path_.string());
      return;
    }
    if (failure && !fs::exists(path_)) throw Error(ErrorKind::output, failure.message(), path_.string());
  }
}

ClaimedDirectory::~ClaimedDirectory() {
  std::error_code not_empty;
  fs::remove(path_, not_empty);
}

fs::path find_directory(const fs::path& wanted, const std::function<bool(const fs::path&)>& is_it) {
  fs::path last = wanted;
  for (int number = 1; fs::exists(numbered(wanted, number)); ++number)
    if (is_it(numbered(wanted, number))) last = numbered(wanted, number);
  return last;
}

bool holds_run(const fs::path& directory, const RunConfig& config) {
  if (!fs::exists(directory / "config.toml")) return false;
  try {
    refuse_other_config(directory, config);
    return true;
  } catch (const Error&) {
    return false;
  }
}

}  // namespace eureka::cli
