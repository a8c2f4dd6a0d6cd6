#include "serve/request_target.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/printable.h"

namespace eureka::serve {
namespace {

constexpr std::size_t kMostIdBytes = 2000, kMostNameBytes = 200;

bool is_letter_or_digit(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

std::optional<int> hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return std::nullopt;
}

bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

std::optional<std::string> decoded(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    char c = text[i] == '+' ? ' ' : text[i];
    if (c == '%') {
      if (i + 2 >= text.size()) return std::nullopt;
      const auto high = hex_digit(text[i + 1]), low = hex_digit(text[i + 2]);
      if (!high || !low) return std::nullopt;
      c = static_cast<char>(*high * 16 + *low);
      i += 2;
    }
    if (is_control(c)) return std::nullopt;
    out += c;
  }
  return is_utf8(out) ? std::optional(std::move(out)) : std::nullopt;
}

bool is_plain_path(std::string_view path) {
  return !path.empty() && path.front() == '/' && path.find("..") == std::string_view::npos &&
         std::all_of(path.begin(), path.end(),
                     [](char c) { return is_letter_or_digit(c) || c == '/' || c == '.' || c == '-' || c == '_'; });
}

}  // namespace

std::optional<std::string> RequestTarget::find(std::string_view name) const {
  for (const auto& [known, value] : parameters)
    if (known == name) return value;
  return std::nullopt;
}

std::vector<std::string> RequestTarget::all(std::string_view name) const {
  std::vector<std::string> values;
  for (const auto& [known, value] : parameters)
    if (known == name) values.push_back(value);
  return values;
}

std::optional<RequestTarget> parse_request_target(std::string_view target) {
  if (target.size() > kMostTargetBytes) return std::nullopt;
  const std::size_t question = target.find('?');
  const std::string_view path = target.substr(0, question);
  if (!is_plain_path(path)) return std::nullopt;
  RequestTarget parsed{std::string(path), {}};
  std::string_view rest = question == std::string_view::npos ? "" : target.substr(question + 1);
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('&'), rest.size());
    const std::string_view pair = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (pair.empty()) continue;
    const std::size_t equals = std::min(pair.find('='), pair.size());
    auto name = decoded(pair.substr(0, equals)), value = decoded(pair.substr(std::min(equals + 1, pair.size())));
    if (!name || !value || parsed.parameters.size() == kMostParameters) return std::nullopt;
    parsed.parameters.emplace_back(std::move(*name), std::move(*value));
  }
  return parsed;
}

std::string percent_encoded(std::string_view text) {
  constexpr const char* kHex = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    if (is_letter_or_digit(c) || c == '.' || c == '-' || c == '_' || c == '~') {
      out += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    out += {'%', kHex[byte / 16], kHex[byte % 16]};
  }
  return out;
}

bool is_entry_name(std::string_view name) {
  constexpr std::string_view kAlso = "._=,+@-";
  return !name.empty() && name.size() <= kMostNameBytes && name.front() != '.' &&
         std::all_of(name.begin(), name.end(),
                     [&](char c) { return is_letter_or_digit(c) || kAlso.find(c) != std::string_view::npos; });
}

bool is_entry_id(std::string_view id) {
  if (id == ".") return true;
  if (id.size() > kMostIdBytes) return false;
  for (;;) {
    const std::size_t end = std::min(id.find('/'), id.size());
    if (!is_entry_name(id.substr(0, end))) return false;
    if (end == id.size()) return true;
    id.remove_prefix(end + 1);
  }
}

std::optional<double> parse_finite(std::string_view text) {
  double value = 0;
  const auto [stop, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem != std::errc() || stop != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

}  // namespace eureka::serve
