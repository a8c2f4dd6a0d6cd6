// Configuration files as flat lists of dotted keys, each with the place it came from.
//
//   ConfigEntries entries = read_toml(text, "presets/two-step.toml");
//   entries["train.steps"].value, entries["train.steps"].where     ("presets/two-step.toml:14:1")
//   set_entry(entries, "train.steps=500");                          (--set)
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/options.h"

namespace eureka {

struct ConfigEntry {
  OptionValue value;
  std::string where;
};
using ConfigEntries = std::map<std::string, ConfigEntry>;

// A [[name]] array of tables: the entries of each element.
using ConfigTables = std::map<std::string, std::vector<ConfigEntries>>;

struct ConfigDocument {
  ConfigEntries entries;
  ConfigTables tables;
  std::map<std::string, std::vector<ConfigEntry>> lists;  // key = [1, 2, 3]; each element with its own place
};

// Throws Error(config) with file:line:column on anything that is not valid TOML, or that no option could take (dates).
ConfigDocument read_toml_document(std::string_view text, const std::string& file_name);

// A document that may hold keys and sub-tables only. A list of texts is read as one text: ["a", "b"] as "a, b".
ConfigEntries read_toml(std::string_view text, const std::string& file_name);

// One override "section.key=value". The value is read as TOML; what is not TOML is taken as text, so that
// attention.rule=softmax needs no quotes. Returns the key and its entry (where = "--set").
std::pair<std::string, ConfigEntry> parse_assignment(const std::string& assignment);

// Writes flat keys as TOML, one [section] per dotted prefix, sections in the order first met.
std::string write_toml(const std::vector<std::pair<std::string, OptionValue>>& entries);

}  // namespace eureka
