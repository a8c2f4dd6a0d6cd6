#include "figure/markup.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "base/printable.h"

namespace eureka::figure {
namespace {

// What a data: link may hold as it is, by RFC 3986 and in an attribute.
bool is_plain_in_links(char letter) {
  const bool is_word =
      (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') || (letter >= '0' && letter <= '9');
  return is_word || std::string_view("-._~!$()*+,;:@/?=").find(letter) != std::string_view::npos;
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string out;
  for (const char letter : printable(text)) switch (letter) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += letter;
    }
  return out;
}

std::string data_link(std::string_view media_type, std::string_view content) {
  std::string link = fmt::format("data:{};charset=utf-8,", media_type);
  for (const char letter : content) {
    if (is_plain_in_links(letter))
      link += letter;
    else
      fmt::format_to(std::back_inserter(link), "%{:02X}", static_cast<unsigned char>(letter));
  }
  return link;
}

std::string base64(std::string_view bytes) {
  static constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t three = 0;
    const std::size_t count = std::min<std::size_t>(3, bytes.size() - i);
    for (std::size_t k = 0; k < 3; ++k)
      three = three << 8 | (k < count ? static_cast<unsigned char>(bytes[i + k]) : 0U);
    for (std::size_t k = 0; k < 4; ++k) text += k <= count ? kDigits[three >> (18 - 6 * k) & 63] : '=';
  }
  return text;
}

}  // namespace eureka::figure
