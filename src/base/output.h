// What the program says. Results go to standard output, and one that cannot be written is an Error; messages go to
// standard error, and one that cannot be written is dropped.
//
//   print("{}: {} images\n", name, count);           every text among the arguments is made printable
//   print("{}", Layout{table.str(color)});           but for what we laid out ourselves from printable parts
//   tell("eureka: {}: {}\n", place, reason);
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <type_traits>

#include "base/printable.h"

namespace eureka {

// Text of ours whose colors, line ends and movements of the cursor are meant.
struct Layout {
  std::string_view text;
};

// Text of several lines, made printable but for their ends: JSON stays JSON.
struct Lines {
  std::string_view text;
};

namespace detail {

template <class T>
auto shown(const T& value) {
  if constexpr (std::is_same_v<T, Layout>)
    return value.text;
  else if constexpr (std::is_same_v<T, Lines>)
    return printable_lines(value.text);
  else if constexpr (std::is_convertible_v<const T&, std::string_view>)
    return printable(value);
  else
    return value;
}
template <class T>
using Shown = decltype(shown(std::declval<const std::remove_cvref_t<T>&>()));

void print(std::string_view text);
void tell(std::string_view text);

}  // namespace detail

template <class... Args>
void print(fmt::format_string<detail::Shown<Args>...> format, const Args&... args) {
  detail::print(fmt::format(format, detail::shown(args)...));
}

template <class... Args>
void tell(fmt::format_string<detail::Shown<Args>...> format, const Args&... args) {
  detail::tell(fmt::format(format, detail::shown(args)...));
}

// Hands over what print() may still hold. Throws Error(failed) if that cannot be written.
void finish_output();

// Standard streams that were closed are opened on /dev/null, lest a file of ours gets their number and their text;
// writing to standard output still fails.
void open_standard_streams();

}  // namespace eureka
