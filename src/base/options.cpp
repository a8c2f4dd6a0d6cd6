#include "base/options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "base/suggest.h"

namespace eureka {
namespace {

OptionType type_of(const OptionValue& value) { return static_cast<OptionType>(value.index()); }

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char letter : text) {
    if (letter == '"' || letter == '\\') out += '\\';
    if (static_cast<unsigned char>(letter) < 0x20 || letter == '\x7f')
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(letter));
    else
      out += letter;
  }
  return out + '"';
}

std::string number(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  std::string text = fmt::format("{}", value);
  // TOML tells a float from an integer by its point or exponent.
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

std::string range_text(const Range& range) {
  if (std::isinf(range.max)) return fmt::format("at least {}", range.min);
  if (std::isinf(range.min)) return fmt::format("at most {}", range.max);
  return fmt::format("between {} and {}", range.min, range.max);
}

}  // namespace

std::string_view type_name(OptionType type) {
  switch (type) {
    case OptionType::boolean:
      return "true or false";
    case OptionType::integer:
      return "a whole number";
    case OptionType::number:
      return "a number";
    case OptionType::text:
      return "a text";
  }
  return "";
}

std::string to_toml(const OptionValue& value) {
  switch (type_of(value)) {
    case OptionType::boolean:
      return std::get<bool>(value) ? "true" : "false";
    case OptionType::integer:
      return fmt::format("{}", std::get<std::int64_t>(value));
    case OptionType::number:
      return number(std::get<double>(value));
    case OptionType::text:
      return quoted(std::get<std::string>(value));
  }
  return "";
}

OptionValue check_option(const OptionInfo& info, const OptionValue& value, const std::string& path,
                         const std::string& where) {
  const auto refuse = [&](const std::string& what, std::string hint) {
    throw Error(ErrorKind::config, what, where,
                hint.empty() ? fmt::format("{}: {}", path, info.help) : std::move(hint));
  };
  OptionValue checked = value;
  if (info.type == OptionType::number && type_of(value) == OptionType::integer)
    checked = static_cast<double>(std::get<std::int64_t>(value));
  if (type_of(checked) != info.type)
    refuse(fmt::format("'{}' must be {}, not {}", path, type_name(info.type), to_toml(value)), {});
  if (info.type == OptionType::text && !info.choices.empty()) {
    const std::string& text = std::get<std::string>(checked);
    if (std::find(info.choices.begin(), info.choices.end(), text) == info.choices.end()) {
      const std::string nearest = nearest_name(text, info.choices);
      refuse(fmt::format("'{}' must be one of {}, not {}", path, fmt::join(info.choices, ", "), quoted(text)),
             nearest.empty() ? "" : fmt::format("did you mean '{}'?", nearest));
    }
  }
  if (info.type == OptionType::integer || info.type == OptionType::number) {
    const double number_value = info.type == OptionType::integer ? static_cast<double>(std::get<std::int64_t>(checked))
                                                                 : std::get<double>(checked);
    // Written so that NaN fails too.
    if (!(number_value >= info.range.min && number_value <= info.range.max))
      refuse(fmt::format("'{}' must be {}, not {}", path, range_text(info.range), to_toml(checked)), {});
  }
  return checked;
}

const OptionInfo* find_option(const OptionList& options, std::string_view name) {
  const auto found =
      std::find_if(options.begin(), options.end(), [&](const OptionInfo& info) { return info.name == name; });
  return found == options.end() ? nullptr : &*found;
}

std::vector<std::string> option_names(const OptionList& options) {
  std::vector<std::string> names;
  for (const OptionInfo& info : options) names.push_back(info.name);
  return names;
}

OptionValues default_values(const OptionList& options) {
  OptionValues values;
  for (const OptionInfo& info : options) values[info.name] = info.default_value;
  return values;
}

}  // namespace eureka
