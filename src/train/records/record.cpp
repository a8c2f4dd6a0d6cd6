#include "train/records/record.h"

#include <fmt/format.h>

#include <limits>
#include <optional>

#include "io/json.h"

namespace eureka {
namespace {

// Nothing when the value is of another type.
void convert(const Json& json, std::optional<bool>& value) {
  if (json.is_boolean()) value = json.get<bool>();
}
void convert(const Json& json, std::optional<std::int64_t>& value) {
  const bool too_large = json.is_unsigned() && json.get<std::uint64_t>() > std::numeric_limits<std::int64_t>::max();
  if (json.is_integer() && !too_large) value = json.get<std::int64_t>();
}
void convert(const Json& json, std::optional<std::uint64_t>& value) {
  if (json.is_unsigned()) value = json.get<std::uint64_t>();
}
void convert(const Json& json, std::optional<double>& value) {
  if (json.is_number()) value = json.get<double>();
}
void convert(const Json& json, std::optional<std::string>& value) {
  if (json.is_string()) value = json.get<std::string>();
}
void convert(const Json& json, std::optional<std::optional<double>>& value) {
  if (json.is_number()) value.emplace(json.get<double>());
  if (json.is_null()) value.emplace(std::nullopt);
}

}  // namespace

RecordReader::RecordReader(std::string_view text, const RecordKind& kind, std::string where)
    : fields_(Json::parse_if_valid(text).value_or(Json())), kind_(kind), where_(std::move(where)) {
  if (!fields_.is_object()) throw Error(ErrorKind::input, fmt::format("not {}", kind.title), where_, kind.hint);
  const auto format = get_or<std::int64_t>("format", 1);
  if (format > kind.format) {
    const Json* writer = fields_.find("version");
    throw NewerFormat(
        ErrorKind::input,
        fmt::format("{} in format {}; eureka {} reads up to format {}", kind.title, format, EUREKA_VERSION,
                    kind.format),
        where_,
        fmt::format("a later eureka wrote it: use {}", writer != nullptr && writer->is_string()
                                                           ? fmt::format("eureka {}", writer->get<std::string>())
                                                           : "that one"));
  }
  if (format < 1) refuse(fmt::format("there is no format {}", format));
}

const Json& RecordReader::field(const std::string& key) const {
  const Json* found = fields_.find(key);
  if (found == nullptr) refuse(fmt::format("'{}' is missing", key));
  return *found;
}

template <class T>
T RecordReader::get(const std::string& key) const {
  std::optional<T> value;
  convert(field(key), value);
  if (!value) refuse(fmt::format("'{}' has a value of another type", key));
  return *std::move(value);
}
template bool RecordReader::get(const std::string& key) const;
template std::int64_t RecordReader::get(const std::string& key) const;
template std::uint64_t RecordReader::get(const std::string& key) const;
template double RecordReader::get(const std::string& key) const;
template std::string RecordReader::get(const std::string& key) const;
template std::optional<double> RecordReader::get(const std::string& key) const;

RecordReader RecordReader::inside(const std::string& key) const {
  if (!field(key).is_object()) refuse(fmt::format("'{}' has a value of another type", key));
  return {*this, field(key)};
}

std::vector<std::string> RecordReader::keys() const {
  std::vector<std::string> names;
  for (const auto& [name, value] : fields_.items())
    if (name != "format") names.push_back(name);
  return names;
}

void RecordReader::refuse(const std::string& what) const {
  throw Error(ErrorKind::input, fmt::format("not {}: {}", kind_.title, what), where_, kind_.hint);
}

void for_each_line(const fs::path& file, const std::function<void(std::string_view, const std::string&)>& take) {
  const std::string text = read_file(file);
  std::size_t number = 1;
  for (std::size_t begin = 0, end; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1, ++number)
    take(std::string_view(text).substr(begin, end - begin), fmt::format("{}:{}", file.string(), number));
}

}  // namespace eureka
