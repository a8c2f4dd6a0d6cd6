// A p-value as people read it, the same in tables and in sentences: two digits, one where it is tiny.
//
//   p_value_text(0.03141)    "0.031"
//   p_value_text(2.71e-7)    "3e-07"
#pragma once

#include <fmt/format.h>

#include <string>

namespace eureka {

inline std::string p_value_text(double p) { return p < 1e-4 ? fmt::format("{:.0e}", p) : fmt::format("{:.2g}", p); }

}  // namespace eureka
