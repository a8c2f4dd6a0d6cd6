#include "serve/guard.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <sys/random.h>

#include <algorithm>
#include <array>

#include "base/error.h"

namespace eureka::serve {
namespace {

bool is_port(std::string_view text) {
  return text.size() <= 5 && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

std::string_view without_port(std::string_view host) {
  const std::size_t bracket = host.find(']');
  if (host.starts_with('[') && bracket != std::string_view::npos) {
    const std::string_view rest = host.substr(bracket + 1);
    return rest.empty() || (rest.front() == ':' && is_port(rest.substr(1))) ? host.substr(1, bracket - 1) : "";
  }
  const std::size_t colon = host.find(':');
  if (colon == std::string_view::npos) return host;
  return is_port(host.substr(colon + 1)) ? host.substr(0, colon) : "";
}

bool is_local_host(std::string_view host) {
  const std::string name(without_port(host));
  in6_addr address{};
  if (host.starts_with('[')) return ::inet_pton(AF_INET6, name.c_str(), &address) == 1;
  return name == "localhost" || ::inet_pton(AF_INET, name.c_str(), &address) == 1;
}

Token Token::random() {
  std::array<unsigned char, 16> bytes{};
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
    throw Error(ErrorKind::failed, "the system gives no random numbers");
  std::string text;
  for (const unsigned char byte : bytes) text += fmt::format("{:02x}", byte);
  return Token(text);
}

bool Token::is(std::string_view guess) const {
  unsigned difference = guess.size() == text_.size() ? 0 : 1;
  for (std::size_t i = 0; i < text_.size(); ++i) {
    const char letter = i < guess.size() ? guess[i] : '\0';
    difference |= static_cast<unsigned char>(letter) ^ static_cast<unsigned char>(text_[i]);
  }
  return difference == 0;
}

std::string_view cookie_value(std::string_view header, std::string_view name) {
  while (!header.empty()) {
    const std::size_t end = std::min(header.find(';'), header.size());
    std::string_view one = header.substr(0, end);
    header.remove_prefix(std::min(end + 1, header.size()));
    one.remove_prefix(std::min(one.find_first_not_of(' '), one.size()));
    if (one.starts_with(name) && one.substr(name.size()).starts_with('=')) return one.substr(name.size() + 1);
  }
  return {};
}

}  // namespace eureka::serve
