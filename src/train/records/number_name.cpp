#include "train/records/number_name.h"

namespace eureka {
namespace {

std::string take_part(std::string_view& rest) {
  const std::size_t end = rest.find('/');
  const std::string part(rest.substr(0, end));
  rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  return part;
}

// "layer12", but not "layer_norm".
bool is_numbered(std::string_view text, std::string_view word) {
  return text.size() > word.size() && text.starts_with(word) &&
         text.find_first_not_of("0123456789", word.size()) == std::string_view::npos;
}

}  // namespace

std::optional<NumberName> parse_number_name(std::string_view name) {
  if (name.find('/') == std::string_view::npos) return std::nullopt;
  NumberName parsed;
  parsed.diagnostic = take_part(name);
  parsed.number = take_part(name);
  while (!name.empty()) {
    const std::string part = take_part(name);
    if (is_numbered(part, "layer"))
      parsed.layer = part;
    else if (is_numbered(part, "head"))
      parsed.head = part;
    else
      parsed.part += (parsed.part.empty() ? "" : "/") + part;
  }
  return parsed;
}

}  // namespace eureka
