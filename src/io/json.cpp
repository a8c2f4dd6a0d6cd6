#include "io/json.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <ostream>

namespace eureka {
namespace {

using Tree = nlohmann::ordered_json;

[[noreturn]] void expected(const char* what) { throw JsonError(std::string("JSON: expected ") + what); }

// Each level is one of the stack too.
constexpr int kMostLevels = 200;

Json from_tree(const Tree& tree, int depth = 1) {
  if (depth > kMostLevels) throw JsonError("JSON: nested too deeply");
  switch (tree.type()) {
    case Tree::value_t::boolean:
      return tree.get<bool>();
    case Tree::value_t::number_integer:
      return tree.get<std::int64_t>();
    case Tree::value_t::number_unsigned:
      return tree.get<std::uint64_t>();
    case Tree::value_t::number_float:
      return tree.get<double>();
    case Tree::value_t::string:
      return tree.get_ref<const std::string&>();
    case Tree::value_t::array: {
      Json array = Json::array();
      for (const Tree& element : tree) array.push_back(from_tree(element, depth + 1));
      return array;
    }
    case Tree::value_t::object: {
      Json object = Json::object();
      for (const auto& [key, value] : tree.items()) object[key] = from_tree(value, depth + 1);
      return object;
    }
    default:
      return nullptr;
  }
}

Tree to_tree(const Json& json) {
  if (json.is_boolean()) return json.get<bool>();
  if (json.is_unsigned()) return json.get<std::uint64_t>();
  if (json.is_integer()) return json.get<std::int64_t>();
  if (json.is_number()) return json.get<double>();
  if (json.is_string()) return json.get<std::string>();
  if (json.is_array()) {
    Tree array = Tree::array();
    for (const Json& element : json) array.push_back(to_tree(element));
    return array;
  }
  if (json.is_object()) {
    Tree object = Tree::object();
    for (const auto& [key, value] : json.items()) object[key] = to_tree(value);
    return object;
  }
  return nullptr;
}

}  // namespace

Json::Json(std::initializer_list<Json> list) {
  const auto is_pair = [](const Json& element) {
    return element.is_array() && element.size() == 2 && element.front().is_string();
  };
  if (!std::all_of(list.begin(), list.end(), is_pair)) {
    value_ = Array(list);
    return;
  }
  value_ = Object();
  for (const Json& pair : list) (*this)[pair.front().to_text()] = pair.back();
}

Json Json::parse(std::string_view text) {
  try {
    return from_tree(Tree::parse(text));
  } catch (const Tree::exception& error) {
    throw JsonError(error.what());
  }
}

std::optional<Json> Json::parse_if_valid(std::string_view text) {
  const Tree tree = Tree::parse(text, nullptr, false);
  if (tree.is_discarded()) return std::nullopt;
  try {
    return from_tree(tree);
  } catch (const JsonError&) {
    return std::nullopt;  // nested too deeply
  }
}

std::string Json::dump(int indent, BadText bad) const {
  try {
    return to_tree(*this).dump(
        indent, ' ', false, bad == BadText::replace ? Tree::error_handler_t::replace : Tree::error_handler_t::strict);
  } catch (const Tree::exception& error) {
    throw JsonError(error.what());
  }
}

std::size_t Json::size() const {
  if (const auto* array = std::get_if<Array>(&value_)) return array->size();
  if (const auto* object = std::get_if<Object>(&value_)) return object->size();
  return is_null() ? 0 : 1;
}

const Json::Array& Json::elements() const {
  static const Array kNone;
  if (is_null()) return kNone;
  if (!is_array()) expected("an array");
  return std::get<Array>(value_);
}

const Json& Json::at(std::size_t index) const {
  const Array& array = elements();
  if (index >= array.size()) throw JsonError("JSON: an array is too short");
  return array[index];
}

Json& Json::back() { return const_cast<Json&>(std::as_const(*this).back()); }

void Json::push_back(Json value) {
  if (is_null()) value_ = Array();
  if (!is_array()) expected("an array");
  std::get<Array>(value_).push_back(std::move(value));
}

const Json::Object& Json::items() const {
  static const Object kNone;
  if (is_null()) return kNone;
  if (!is_object()) expected("an object");
  return std::get<Object>(value_);
}

const Json* Json::find(std::string_view key) const {
  if (!is_object()) return nullptr;
  const auto& members = std::get<Object>(value_);
  const auto found =
      std::find_if(members.begin(), members.end(), [&](const auto& member) { return member.first == key; });
  return found == members.end() ? nullptr : &found->second;
}

const Json& Json::at(std::string_view key) const {
  if (const Json* found = find(key)) return *found;
  throw JsonError("JSON: there is no '" + std::string(key) + "'");
}

Json& Json::operator[](std::string_view key) {
  if (is_null()) value_ = Object();
  if (!is_object()) expected("an object");
  if (const Json* found = find(key)) return const_cast<Json&>(*found);
  return std::get<Object>(value_).emplace_back(std::string(key), Json()).second;
}

void Json::update(const Json& other) {
  for (const auto& [key, value] : other.items()) (*this)[key] = value;
}

void Json::erase(std::string_view key) {
  if (is_object()) std::erase_if(std::get<Object>(value_), [&](const auto& member) { return member.first == key; });
}

bool Json::to_bool() const {
  if (!is_boolean()) expected("true or false");
  return std::get<bool>(value_);
}

double Json::to_double() const {
  if (const auto* number = std::get_if<double>(&value_)) return *number;
  if (is_unsigned()) return static_cast<double>(std::get<std::uint64_t>(value_));
  if (!is_integer()) expected("a number");
  return static_cast<double>(std::get<std::int64_t>(value_));
}

std::int64_t Json::to_int64() const {
  if (const auto* number = std::get_if<std::int64_t>(&value_)) return *number;
  if (is_unsigned()) return static_cast<std::int64_t>(std::get<std::uint64_t>(value_));
  constexpr double kBeyond = 9223372036854775808.0;
  const double number = to_double();
  if (!(number >= -kBeyond && number < kBeyond)) expected("an integer");
  return static_cast<std::int64_t>(number);
}

std::uint64_t Json::to_uint64() const {
  if (is_unsigned()) return std::get<std::uint64_t>(value_);
  return static_cast<std::uint64_t>(to_int64());
}

const std::string& Json::to_text() const {
  if (!is_string()) expected("text");
  return std::get<std::string>(value_);
}

bool operator==(const Json& a, const Json& b) {
  if (!a.is_number() || !b.is_number()) return a.value_ == b.value_;
  if (!a.is_integer() || !b.is_integer()) return a.to_double() == b.to_double();
  const auto negative = [](const Json& json) { return !json.is_unsigned() && json.to_int64() < 0; };
  return negative(a) == negative(b) && a.to_uint64() == b.to_uint64();
}

std::ostream& operator<<(std::ostream& stream, const Json& json) {
  return stream << json.dump(-1, Json::BadText::replace);
}

}  // namespace eureka
