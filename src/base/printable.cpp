#include "base/printable.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace eureka {
namespace {

bool is_control(std::uint32_t code) { return code < 0x20 || (code >= 0x7F && code < 0xA0); }

// Marks and embeddings of a direction, and the separators that are line ends to some terminals.
bool turns_or_ends_a_line(std::uint32_t code) {
  return code == 0x061C || code == 0x200E || code == 0x200F || (code >= 0x2028 && code <= 0x202E) ||
         (code >= 0x2066 && code <= 0x2069);
}

bool needs_escape(std::optional<std::uint32_t> code) {
  return !code || is_control(*code) || turns_or_ends_a_line(*code);
}

std::string escape(std::optional<std::uint32_t> code, char byte) {
  if (!code) return fmt::format("\\x{:02x}", static_cast<unsigned char>(byte));
  if (*code == '\n') return "\\n";
  if (*code == '\r') return "\\r";
  if (*code == '\t') return "\\t";
  return fmt::format("\\u{:04x}", *code);
}

std::string escaped(std::string_view text, bool keep_line_ends) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const std::string_view before = text;
    const std::optional<std::uint32_t> code = take_code_point(text);
    if (!needs_escape(code) || (keep_line_ends && code == std::uint32_t{'\n'}))
      out.append(before.substr(0, before.size() - text.size()));
    else
      out += escape(code, before[0]);
  }
  return out;
}

}  // namespace

std::optional<std::uint32_t> take_code_point(std::string_view& text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const std::size_t length = byte(0) < 0x80       ? 1
                             : byte(0) >> 5 == 6  ? 2
                             : byte(0) >> 4 == 14 ? 3
                             : byte(0) >> 3 == 30 ? 4
                                                  : 0;
  bool valid = length > 0 && length <= text.size();
  std::uint32_t code = length < 2 ? byte(0) : byte(0) & (0x7FU >> length);
  for (std::size_t i = 1; valid && i < length; ++i) {
    valid = byte(i) >> 6 == 2;
    code = code << 6 | (byte(i) & 0x3FU);
  }
  // The shortest form only, no halves of surrogate pairs, nothing past the end of Unicode.
  constexpr std::array<std::uint32_t, 5> kLeast = {0, 0, 0x80, 0x800, 0x10000};
  valid = valid && code >= kLeast[length] && code <= 0x10FFFF && (code < 0xD800 || code > 0xDFFF);
  text.remove_prefix(valid ? length : 1);
  return valid ? std::optional(code) : std::nullopt;
}

std::string printable(std::string_view text) { return escaped(text, false); }

std::string printable_lines(std::string_view text) { return escaped(text, true); }

bool is_printable(std::string_view text) {
  while (!text.empty())
    if (needs_escape(take_code_point(text))) return false;
  return true;
}

bool is_utf8(std::string_view text) {
  while (!text.empty())
    if (!take_code_point(text)) return false;
  return true;
}

}  // namespace eureka
