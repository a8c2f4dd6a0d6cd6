// What a request asks for, out of its first line. Strict: what is not plainly meant is nothing.
//
//   parse_request_target("/api/run?id=cures%2Fsoftmax")       path "/api/run", parameter "id" = "cures/softmax"
//   parse_request_target("/a%2fb")                            nothing: paths of ours need no escapes
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace eureka::serve {

struct RequestTarget {
  std::string path;
  std::vector<std::pair<std::string, std::string>> parameters;  // as they came

  // The first of that name; nothing when there is none.
  std::optional<std::string> find(std::string_view name) const;
  std::vector<std::string> all(std::string_view name) const;
};

inline constexpr std::size_t kMostTargetBytes = 16 << 10, kMostParameters = 300;

// Values are percent-decoded once, "+" is a space. Nothing for what holds control characters, broken escapes, a zero,
// text that is not UTF-8, or too much.
std::optional<RequestTarget> parse_request_target(std::string_view target);

// As a value of a query.
std::string percent_encoded(std::string_view text);

// The directory of a run or a study below the root that is served: "cures/softmax/seed-1"; the root itself is ".".
bool is_entry_id(std::string_view id);

// A part of one: at most 200 letters, digits and . _ = , + @ -, not a dot first.
bool is_entry_name(std::string_view name);

// Whole or not at all.
std::optional<double> parse_finite(std::string_view text);

}  // namespace eureka::serve
