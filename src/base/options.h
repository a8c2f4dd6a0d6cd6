// Options declared once. A struct names each of its options in visit(); from that one declaration come parsing, --set,
// ranges, help, `eureka list`, sweep axes and the resolved config.
//
//   struct Options {
//     double noise = 0.3;
//     int classes = 10;
//     template <class V> void visit(V& v) {
//       v("noise", noise, Range{0, 100}, "standard deviation of the noise on every token");
//       v("classes", classes, at_least(2), "number of target classes");
//     }
//   };
//   describe<Options>()            -> the declarations, with defaults
//   assign(options, values)        -> fills the struct from checked values
//
// Enumerations take part when enum_names(Enum) is found beside them:
//   constexpr auto enum_names(Deviation) { return std::array{"std", "variance"}; }    in the order of the values 0, 1,
//   ...
// A struct inside a struct is a sub-table: v.table("init", init) gives "init.weights", "init.positions", ...
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "base/error.h"

namespace eureka {

using OptionValue = std::variant<bool, std::int64_t, double, std::string>;
using OptionValues = std::map<std::string, OptionValue>;

enum class OptionType { boolean, integer, number, text };
std::string_view type_name(OptionType type);

struct Range {
  double min = -std::numeric_limits<double>::infinity();
  double max = std::numeric_limits<double>::infinity();
  bool operator==(const Range&) const = default;
};
constexpr Range at_least(double min) { return {min, std::numeric_limits<double>::infinity()}; }

struct OptionInfo {
  std::string name;
  OptionType type = OptionType::number;
  OptionValue default_value;
  Range range;
  std::vector<std::string> choices;  // empty: any text
  std::string help;
};
using OptionList = std::vector<OptionInfo>;

// The value as TOML writes it: 0.3, 10, true, "softmax". Numbers keep every bit and always read back as numbers.
std::string to_toml(const OptionValue& value);

// Type, range and choice of one value. Returns it in the declared type (an integer given for a number becomes a
// number). Throws Error(config) that names `path` (the full key), at `where`.
OptionValue check_option(const OptionInfo& info, const OptionValue& value, const std::string& path,
                         const std::string& where);

const OptionInfo* find_option(const OptionList& options, std::string_view name);
std::vector<std::string> option_names(const OptionList& options);
OptionValues default_values(const OptionList& options);

namespace detail {

template <class T>
constexpr OptionType option_type() {
  if constexpr (std::is_same_v<T, bool>)
    return OptionType::boolean;
  else if constexpr (std::is_integral_v<T>)
    return OptionType::integer;
  else if constexpr (std::is_floating_point_v<T>)
    return OptionType::number;
  else
    return OptionType::text;
}

template <class T>
OptionValue to_value(const T& member) {
  if constexpr (std::is_same_v<T, bool> || std::is_same_v<T, std::string>)
    return member;
  else if constexpr (std::is_enum_v<T>)
    return std::string(enum_names(member)[static_cast<std::size_t>(member)]);
  else if constexpr (std::is_integral_v<T>)
    return static_cast<std::int64_t>(member);
  else
    return static_cast<double>(member);
}

template <class T>
void from_value(const OptionValue& value, T& member) {
  if constexpr (std::is_enum_v<T>) {
    const auto names = enum_names(member);
    for (std::size_t i = 0; i < names.size(); ++i)
      if (std::get<std::string>(value) == names[i]) member = static_cast<T>(i);
  } else if constexpr (std::is_same_v<T, bool> || std::is_same_v<T, std::string>) {
    member = std::get<T>(value);
  } else if constexpr (std::is_integral_v<T>) {
    member = static_cast<T>(std::get<std::int64_t>(value));
  } else {
    member = static_cast<T>(std::get<double>(value));
  }
}

// What every visitor shares: sub-tables as dotted prefixes, and the range being optional.
template <class Derived>
class OptionVisitor {
 public:
  template <class T>
  void operator()(const char* name, T& member, const char* help) {
    static_cast<Derived*>(this)->option(prefix_ + name, member, Range{}, help);
  }
  template <class T>
  void operator()(const char* name, T& member, Range range, const char* help) {
    static_cast<Derived*>(this)->option(prefix_ + name, member, range, help);
  }
  template <class T>
  void table(const char* name, T& member) {
    const std::string outer = prefix_;
    prefix_ += std::string(name) + ".";
    member.visit(static_cast<Derived&>(*this));
    prefix_ = outer;
  }

 private:
  std::string prefix_;
};

class DescribeVisitor : public OptionVisitor<DescribeVisitor> {
 public:
  template <class T>
  void option(const std::string& name, const T& member, Range range, const char* help) {
    OptionInfo info{name, option_type<T>(), to_value(member), range, {}, help};
    if constexpr (std::is_enum_v<T>)
      for (const auto* choice : enum_names(member)) info.choices.emplace_back(choice);
    list.push_back(std::move(info));
  }
  OptionList list;
};

class AssignVisitor : public OptionVisitor<AssignVisitor> {
 public:
  explicit AssignVisitor(const OptionValues& values) : values_(values) {}
  template <class T>
  void option(const std::string& name, T& member, Range, const char*) {
    const auto found = values_.find(name);
    if (found != values_.end()) from_value(found->second, member);
  }

 private:
  const OptionValues& values_;
};

}  // namespace detail

// The declarations of an options struct, in order, with the defaults of a fresh one.
template <class Options>
OptionList describe() {
  Options defaults;
  detail::DescribeVisitor visitor;
  defaults.visit(visitor);
  return std::move(visitor.list);
}

// Fills `options` from values that check_option() has passed; names it does not know are left to others.
template <class Options>
void assign(Options& options, const OptionValues& values) {
  detail::AssignVisitor visitor(values);
  options.visit(visitor);
}

// An options struct without options.
struct NoOptions {
  template <class V>
  void visit(V&) {}
};

}  // namespace eureka
