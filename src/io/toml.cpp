#include "io/toml.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <stdexcept>

#include "base/printable.h"
#include "io/toml_guard.h"

// The parser is compiled into this file, with assertions that throw: in the library of Debian a malformed key that
// breaks one is undefined behavior.
namespace eureka {
namespace {

struct BrokenAssertion : std::logic_error {
  using std::logic_error::logic_error;
};
[[noreturn]] void fail_assertion(const char* condition) { throw BrokenAssertion(condition); }

}  // namespace
}  // namespace eureka
#undef NDEBUG
#define TOML_ASSERT(condition) (static_cast<bool>(condition) ? void() : ::eureka::fail_assertion(#condition))
#define TOML_MAX_NESTED_VALUES 32
#define TOML_ENABLE_FORMATTERS 0
#define TOML_EXCEPTIONS 1
#define TOML_HEADER_ONLY 1
#include <toml++/toml.h>

namespace eureka {
namespace {

std::string position(const toml::source_region& source, const std::string& file_name) {
  return fmt::format("{}:{}:{}", file_name, source.begin.line, source.begin.column);
}

OptionValue scalar(const toml::node& node, const std::string& key, const std::string& where) {
  if (const auto* boolean = node.as_boolean()) return boolean->get();
  if (const auto* integer = node.as_integer()) return integer->get();
  if (const auto* number = node.as_floating_point()) return number->get();
  if (const auto* text = node.as_string()) return text->get();
  throw Error(ErrorKind::config, fmt::format("'{}' is neither a number, a text nor true/false", key), where);
}

// A list of texts as one text, "a, b": what an option that takes several names is given.
std::optional<std::string> joined_texts(const std::vector<OptionValue>& values) {
  std::string text;
  for (const OptionValue& value : values) {
    const auto* one = std::get_if<std::string>(&value);
    if (one == nullptr) return std::nullopt;
    text += (text.empty() ? "" : ", ") + *one;
  }
  return text;
}

void flatten(const toml::table& table, const std::string& prefix, const std::string& file_name,
             ConfigDocument& document) {
  for (const auto& [name, node] : table) {
    const std::string key = prefix + std::string(name.str());
    const std::string where = position(name.source(), file_name);
    if (const auto* inner = node.as_table()) {
      flatten(*inner, key + ".", file_name, document);
    } else if (const auto* array = node.as_array(); array != nullptr && array->is_array_of_tables()) {
      for (const auto& element : *array) {
        ConfigDocument nested;
        flatten(*element.as_table(), "", file_name, nested);
        if (!nested.lists.empty() || !nested.tables.empty())
          throw Error(ErrorKind::config,
                      fmt::format("'{}.{}' is a list: one value goes here", key,
                                  nested.lists.empty() ? nested.tables.begin()->first : nested.lists.begin()->first),
                      position(element.source(), file_name));
        document.tables[key].push_back(std::move(nested.entries));
      }
    } else if (array != nullptr) {
      std::vector<ConfigEntry>& list = document.lists[key];
      for (const auto& element : *array) {
        const std::string place = position(element.source(), file_name);
        list.push_back({scalar(element, key, place), place});
      }
    } else {
      document.entries[key] = {scalar(node, key, where), where};
    }
  }
}

}  // namespace

ConfigDocument read_toml_document(std::string_view text, const std::string& file_name) {
  refuse_harmful_toml(text, file_name);
  ConfigDocument document;
  try {
    flatten(toml::parse(text), "", file_name, document);
  } catch (const BrokenAssertion&) {
    throw Error(ErrorKind::config, "not valid TOML", file_name);
  } catch (const toml::parse_error& error) {
    throw Error(ErrorKind::config, fmt::format("not valid TOML: {}", error.description()),
                position(error.source(), file_name));
  }
  return document;
}

ConfigEntries read_toml(std::string_view text, const std::string& file_name) {
  ConfigDocument document = read_toml_document(text, file_name);
  for (auto list = document.lists.begin(); list != document.lists.end();) {
    std::vector<OptionValue> values;
    for (const ConfigEntry& entry : list->second) values.push_back(entry.value);
    const std::optional<std::string> joined = joined_texts(values);
    if (joined) document.entries[list->first] = {*joined, values.empty() ? file_name : list->second.front().where};
    list = joined ? document.lists.erase(list) : std::next(list);
  }
  if (!document.tables.empty() || !document.lists.empty()) {
    const std::string key = document.tables.empty() ? document.lists.begin()->first : document.tables.begin()->first;
    throw Error(ErrorKind::config, fmt::format("'{}' is a list; a run has none", key), file_name,
                "a file with arms and axes is a study: eureka study FILE");
  }
  return std::move(document.entries);
}

std::pair<std::string, ConfigEntry> parse_assignment(const std::string& assignment) {
  const std::size_t equals = assignment.find('=');
  if (equals == std::string::npos || equals == 0)
    throw Error(ErrorKind::usage, fmt::format("--set {}: expected section.key=value", assignment), {},
                "for example --set train.lr=1e-3");
  const std::string key = assignment.substr(0, equals);
  const std::string text = assignment.substr(equals + 1);
  const std::string where = "--set " + assignment;
  if (!is_utf8(assignment)) throw Error(ErrorKind::usage, "not valid UTF-8", where);
  const std::string document = "value = " + text;
  refuse_harmful_toml(document, where);
  try {
    const toml::table table = toml::parse(document);
    if (const toml::array* list = table.size() == 1 ? table.at("value").as_array() : nullptr) {
      std::vector<OptionValue> values;
      for (const auto& element : *list) values.push_back(scalar(element, key, where));
      if (const auto joined = joined_texts(values)) return {key, {*joined, where}};
    }
    if (table.size() == 1 && !table.at("value").is_table() && !table.at("value").is_array())
      return {key, {scalar(table.at("value"), key, where), where}};
  } catch (const toml::parse_error&) {
    // Not TOML: a bare word such as softmax.
  } catch (const BrokenAssertion&) {
    // The same.
  }
  return {key, {text, where}};
}

std::string write_toml(const std::vector<std::pair<std::string, OptionValue>>& entries) {
  std::vector<std::pair<std::string, std::string>> sections;
  for (const auto& [key, value] : entries) {
    const std::size_t dot = key.rfind('.');
    const std::string section = dot == std::string::npos ? "" : key.substr(0, dot);
    const std::string line =
        fmt::format("{} = {}\n", dot == std::string::npos ? key : key.substr(dot + 1), to_toml(value));
    const auto found =
        std::find_if(sections.begin(), sections.end(), [&](const auto& entry) { return entry.first == section; });
    if (found == sections.end())
      sections.emplace_back(section, line);
    else
      found->second += line;
  }
  std::string text;
  for (const auto& [section, lines] : sections) {
    if (!text.empty()) text += "\n";
    if (!section.empty()) text += fmt::format("[{}]\n", section);
    text += lines;
  }
  return text;
}

}  // namespace eureka
