// A JSON value: built, looked into, read and written. Members of an object keep their order.
//
//   Json json = {{"step", 25}, {"levels", {0.55, 1.0}}};
//   json["note"] = "a list of pairs that begin with text is an object, any other list an array";
//   json.at("levels").at(1).get<double>();
//   for (const auto& [name, value] : json.items()) ...
//   Json::parse(json.dump(2)) == json;
//
// The text is nlohmann's to read and write; its headers, seconds in every file that sees them, stay in json.cpp.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace eureka {

// The text is no JSON, or the value is not what it is taken for.
class JsonError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class Json {
 public:
  using Array = std::vector<Json>;
  using Object = std::vector<std::pair<std::string, Json>>;

  Json(std::nullptr_t = nullptr) {}
  Json(bool value) : value_(value) {}
  template <std::signed_integral T>
  Json(T value) : value_(static_cast<std::int64_t>(value)) {}
  template <std::unsigned_integral T>
  requires(!std::same_as<T, bool>) Json(T value) : value_(static_cast<std::uint64_t>(value)) {}
  template <std::floating_point T>
  Json(T value) : value_(static_cast<double>(value)) {}
  Json(const char* text) : value_(std::string(text)) {}
  Json(std::string text) : value_(std::move(text)) {}
  Json(std::string_view text) : value_(std::string(text)) {}
  template <class T>
  Json(const std::vector<T>& list) : value_(Array(list.begin(), list.end())) {}
  Json(std::initializer_list<Json> list);

  static Json array() { return Json(Value(Array())); }
  static Json object() { return Json(Value(Object())); }

  // Throws JsonError.
  static Json parse(std::string_view text);
  // Nothing when the text is no JSON.
  static std::optional<Json> parse_if_valid(std::string_view text);

  // With so many spaces for each level, or on one line. Numbers that are not finite become null. Text that is not UTF-8
  // throws JsonError, or its bad bytes are replaced.
  enum class BadText { refuse, replace };
  std::string dump(int indent = -1, BadText bad = BadText::refuse) const;

  bool is_null() const { return std::holds_alternative<std::nullptr_t>(value_); }
  bool is_boolean() const { return std::holds_alternative<bool>(value_); }
  bool is_unsigned() const { return std::holds_alternative<std::uint64_t>(value_); }
  bool is_integer() const { return is_unsigned() || std::holds_alternative<std::int64_t>(value_); }
  bool is_number() const { return is_integer() || std::holds_alternative<double>(value_); }
  bool is_string() const { return std::holds_alternative<std::string>(value_); }
  bool is_array() const { return std::holds_alternative<Array>(value_); }
  bool is_object() const { return std::holds_alternative<Object>(value_); }

  // T: bool, a kind of number, std::string, or a vector of such. Throws JsonError when it is something else.
  template <class T>
  T get() const;

  // Of an array or object; 0 for null.
  std::size_t size() const;
  bool empty() const { return size() == 0; }

  // Of an array. Throw JsonError when it is none, or too short.
  const Json& at(std::size_t index) const;
  const Json& operator[](std::size_t index) const { return at(index); }
  const Json& front() const { return at(0); }
  const Json& back() const { return at(size() - 1); }
  Json& back();
  Array::const_iterator begin() const { return elements().begin(); }
  Array::const_iterator end() const { return elements().end(); }
  void push_back(Json value);  // null becomes an array

  // Of an object. `at` throws JsonError when there is no such member.
  bool contains(std::string_view key) const { return find(key) != nullptr; }
  const Json* find(std::string_view key) const;
  const Json& at(std::string_view key) const;
  const Json& operator[](std::string_view key) const { return at(key); }
  Json& operator[](std::string_view key);  // adds the member when it is missing; null becomes an object
  const Object& items() const;
  void update(const Json& other);  // takes over its members
  void erase(std::string_view key);

  // Numbers are equal by value, whatever their kind.
  friend bool operator==(const Json& a, const Json& b);
  friend std::ostream& operator<<(std::ostream& stream, const Json& json);

 private:
  using Value = std::variant<std::nullptr_t, bool, std::int64_t, std::uint64_t, double, std::string, Array, Object>;
  explicit Json(Value value) : value_(std::move(value)) {}

  const Array& elements() const;
  bool to_bool() const;
  double to_double() const;
  std::int64_t to_int64() const;
  std::uint64_t to_uint64() const;
  const std::string& to_text() const;

  Value value_ = nullptr;
};

namespace detail {
template <class T>
inline constexpr bool is_vector = false;
template <class T>
inline constexpr bool is_vector<std::vector<T>> = true;
}  // namespace detail

template <class T>
T Json::get() const {
  if constexpr (std::same_as<T, bool>) {
    return to_bool();
  } else if constexpr (std::signed_integral<T>) {
    return static_cast<T>(to_int64());
  } else if constexpr (std::unsigned_integral<T>) {
    return static_cast<T>(to_uint64());
  } else if constexpr (std::floating_point<T>) {
    return static_cast<T>(to_double());
  } else if constexpr (detail::is_vector<T>) {
    T list;
    for (const Json& element : elements()) list.push_back(element.get<typename T::value_type>());
    return list;
  } else {
    static_assert(std::same_as<T, std::string>);
    return to_text();
  }
}

}  // namespace eureka
