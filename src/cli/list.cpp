// eureka list: what there is, from the declarations themselves.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "base/output.h"
#include "base/suggest.h"
#include "base/terminal.h"
#include "cli/cli.h"
#include "diagnostics/diagnostic.h"
#include "io/json.h"
#include "io/option_json.h"
#include "lab/presets.h"
#include "lab/study_statistics.h"
#include "report/table.h"
#include "train/config.h"

namespace eureka::cli {
namespace {

const std::vector<std::string> kKinds = {"tasks",   "models",  "attention", "diagnostics",
                                         "presets", "options", "statistics"};

std::string registry_kind(const std::string& kind) {
  return kind == "attention" ? kind : kind.substr(0, kind.size() - 1);
}

std::string limits(const OptionInfo& option) {
  if (!option.choices.empty()) return fmt::format("{}", fmt::join(option.choices, "|"));
  const bool low = std::isfinite(option.range.min);
  const bool high = std::isfinite(option.range.max);
  if (low && high) return fmt::format("{:g} to {:g}", option.range.min, option.range.max);
  if (low) return fmt::format("at least {:g}", option.range.min);
  return high ? fmt::format("at most {:g}", option.range.max) : "";
}

std::string option_line(const OptionInfo& option, const std::string& prefix) {
  const std::string allowed = limits(option);
  return fmt::format("    {} = {}  {}{}\n", prefix + option.name, to_toml(option.default_value), option.help,
                     allowed.empty() ? "" : fmt::format(" ({})", allowed));
}

void print_options(const OptionList& options, const std::string& prefix) {
  for (const OptionInfo& option : options) print("{}", Lines{option_line(option, prefix)});
}

// Of all plug-ins of a kind: what several share once, then what each has of its own.
void print_plugin_options(const std::string& kind) {
  std::vector<std::string> order;
  std::map<std::string, std::vector<std::string>> owners;  // of each line
  const std::vector<PluginInfo> plugins = catalog().of_kind(registry_kind(kind));
  const auto line_of = [&](const PluginInfo& plugin, const OptionInfo& option) {
    return option_line(option,
                       kind == "diagnostics" ? fmt::format("diagnose.{}.", plugin.name) : registry_kind(kind) + ".");
  };
  for (const PluginInfo& plugin : plugins)
    for (const OptionInfo& option : plugin.options) {
      const std::string line = line_of(plugin, option);
      if (owners[line].empty()) order.push_back(line);
      owners[line].push_back(plugin.name);
    }
  std::set<std::vector<std::string>> told;
  for (const std::string& first : order) {
    const std::vector<std::string>& names = owners[first];
    if (!told.insert(names).second) continue;
    print("  {}\n", fmt::join(names, ", "));
    for (const std::string& line : order)
      if (owners[line] == names) print("{}", Lines{line});
  }
}

// What stands before the details, on one line of `width` columns behind `used` of them.
std::string short_text(const std::string& description, int used, int width) {
  std::string text = description.substr(0, description.find("; "));
  const int room = std::max(20, width - used);
  while (display_width(text) > room) {
    text.resize(text.rfind(' ', text.size() - 2));
    if (display_width(text) < room) return text + "…";
  }
  return text;
}

// The numbers of a diagnostic, by their own declaration.
void print_numbers(const std::string& diagnostic) {
  for (const NumberInfo& number : Registry<Diagnostic>::instance().make(diagnostic)->numbers())
    print("    {:<18} {}  [{}]\n", number.name, number.meaning, number.unit);
}

Json numbers_json(const std::string& diagnostic) {
  Json list = Json::array();
  for (const NumberInfo& number : Registry<Diagnostic>::instance().make(diagnostic)->numbers())
    list.push_back({{"name", number.name}, {"unit", number.unit}, {"meaning", number.meaning}});
  return list;
}

Json presets_json() {
  Json list = Json::array();
  for (const PresetInfo& preset : list_presets())
    list.push_back(
        {{"name", preset.name}, {"kind", preset.is_study ? "study" : "run"}, {"description", preset.description}});
  return list;
}

Json plugins_json(const std::string& kind) {
  Json list = Json::array();
  for (const PluginInfo& plugin : catalog().of_kind(registry_kind(kind))) {
    list.push_back(to_json(plugin));
    if (kind == "diagnostics") list.back()["numbers"] = numbers_json(plugin.name);
  }
  return list;
}

Json options_json(const std::string& section) {
  Json list = Json::array();
  for (const ConfigSection& fixed : fixed_sections()) {
    if (!section.empty() && fixed.name != section && !fixed.name.starts_with(section + ".")) continue;
    Json entry = {{"section", fixed.name}, {"options", Json::array()}};
    for (const OptionInfo& option : fixed.options) entry["options"].push_back(to_json(option));
    list.push_back(std::move(entry));
  }
  return list;
}

Json statistics_json() {
  Json list = Json::array();
  const auto add = [&](const auto& statistics, const char* of) {
    for (const auto& statistic : statistics)
      list.push_back({{"of", of},
                      {"key", statistic.group.empty() ? statistic.key : statistic.group + "." + statistic.key},
                      {"interval", static_cast<bool>(statistic.interval)},
                      {"help", statistic.help}});
  };
  add(arm_statistics(), "an arm");
  add(trial_statistics(), "a trial");
  return list;
}

// Their keys in study.json and the CSV files.
void print_statistics() {
  std::string of;
  for (const Json& one : statistics_json()) {
    if (of != one.at("of")) print("of {}\n", of = one.at("of").get<std::string>());
    print("  {:<26} {}{}\n", one.at("key").get<std::string>(), one.at("help").get<std::string>(),
          one.at("interval").get<bool>() ? "  [with 95% interval]" : "");
  }
}

struct Entry {
  std::string name, description, remark;
};

std::vector<Entry> entries_of(const std::string& kind) {
  std::vector<Entry> entries;
  if (kind == "presets") {
    for (const PresetInfo& preset : list_presets())
      entries.push_back({preset.name, preset.description, preset.is_study ? "study" : "run"});
    std::stable_sort(entries.begin(), entries.end(),
                     [](const Entry& a, const Entry& b) { return a.remark < b.remark; });
    return entries;
  }
  for (const PluginInfo& plugin : catalog().of_kind(registry_kind(kind)))
    entries.push_back({plugin.name, plugin.description, ""});
  return entries;
}

// A line for each, its description in full.
void print_kind(const std::string& kind) {
  std::string group;
  for (const Entry& entry : entries_of(kind)) {
    if (entry.remark != group) print("{} presets\n", group = entry.remark);
    print("  {:<26} {}\n", entry.name, entry.description);
    if (kind == "diagnostics") print_numbers(entry.name);
  }
}

// Everything there is, in one screen or two.
void print_overview() {
  const int width = is_terminal(STDOUT_FILENO) ? terminal_columns(STDOUT_FILENO) : 120;
  constexpr int kBeforeText = 29;
  for (const std::string kind : {"tasks", "models", "attention", "diagnostics", "presets"}) {
    std::string group;
    if (kind != "presets") print("{}\n", kind == "attention" ? "attention rules" : kind);
    for (const Entry& entry : entries_of(kind)) {
      if (entry.remark != group)
        print("{}\n", (group = entry.remark) == "study" ? "presets of studies: eureka study NAME"
                                                        : "presets of runs: eureka train NAME");
      print("  {:<26} {}\n", entry.name, short_text(entry.description, kBeforeText, width));
    }
  }
  print("More: eureka list KIND (in full), eureka list options [SECTION or NAME], eureka list statistics\n");
}

// The options of one plug-in; false if there is none of that name.
bool print_options_of(const std::string& name) {
  bool found = false;
  for (const std::string kind : {"task", "model", "attention", "diagnostic"})
    for (const PluginInfo& plugin : catalog().of_kind(kind)) {
      if (plugin.name != name) continue;
      found = true;
      print("  {:<20} {}\n", plugin.name, plugin.description);
      print_options(plugin.options, kind == "diagnostic" ? fmt::format("diagnose.{}.", name) : kind + ".");
    }
  return found;
}

// Options by section: those every run has, and those of the plug-ins a section can name.
void print_sections(const std::string& section) {
  bool known = section.empty();
  for (const std::string kind : {"tasks", "models", "attention", "diagnostics"}) {
    const std::string own = kind == "diagnostics" ? "diagnose" : registry_kind(kind);
    if (!section.empty() && section != own) continue;
    known = true;
    print("{}\n", kind);
    print_plugin_options(kind);
  }
  for (const ConfigSection& fixed : fixed_sections()) {
    if (!section.empty() && fixed.name != section && !fixed.name.starts_with(section + ".")) continue;
    known = true;
    print("{}\n", fixed.name);
    print_options(fixed.options, fixed.name + ".");
  }
  if (!known && !print_options_of(section))
    throw Error(ErrorKind::usage, fmt::format("there is no section '{}'", section), {},
                did_you_mean(section, {"task", "model", "attention", "attention.scale", "train", "diagnose",
                                       "intervene", "run"}));
}

int list(const std::string& kind, const std::string& section, bool json) {
  if (!kind.empty() && std::find(kKinds.begin(), kKinds.end(), kind) == kKinds.end())
    throw Error(ErrorKind::usage, fmt::format("cannot list '{}'", kind), {}, did_you_mean(kind, kKinds));
  if (!section.empty() && kind != "options")
    throw Error(ErrorKind::usage, fmt::format("a section goes with options: eureka list options {}", section));
  const std::vector<std::string> kinds =
      kind.empty() ? std::vector<std::string>{"tasks", "models", "attention", "diagnostics", "presets"}
                   : std::vector<std::string>{kind};
  if (kind.empty() && !json) {
    print_overview();
    return kOk;
  }
  Json all;
  for (const std::string& one : kinds) {
    if (json)
      all[one] = one == "presets"      ? presets_json()
                 : one == "options"    ? options_json(section)
                 : one == "statistics" ? statistics_json()
                                       : plugins_json(one);
    else if (one == "options")
      print_sections(section);
    else if (one == "statistics")
      print_statistics();
    else
      print_kind(one);
  }
  if (json) print("{}\n", Lines{kind.empty() ? all.dump(2) : all[kind].dump(2)});
  return kOk;
}

}  // namespace

void add_list(Command& program) {
  Command verb = program.add_command(
      "list", "what there is: tasks, models, attention rules, diagnostics, presets, options, statistics");
  auto kind = std::make_shared<std::string>();
  auto section = std::make_shared<std::string>();
  auto json = std::make_shared<bool>(false);
  verb.option("kind", *kind,
              "tasks, models, attention, diagnostics, presets, options or statistics; the first five when left out")
      .suggests([] { return kKinds; });
  verb.option("section", *section,
              "with options: task, model, attention, attention.scale, train, diagnose, intervene or run, or "
              "the name of a task, model, rule or diagnostic");
  verb.flag("--json", *json, "machine-readable");
  verb.runs([=] { return list(*kind, *section, *json); });
}

}  // namespace eureka::cli
