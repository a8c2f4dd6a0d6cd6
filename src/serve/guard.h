// Who may ask, and for whom the address is meant.
//
//   is_local_host("localhost:8384")        true: a page from elsewhere cannot make a browser say so
//   Token token = Token::random();
//   token.is("...")                        in the same time however much of it is right
#pragma once

#include <string>
#include <string_view>

namespace eureka::serve {

// The Host header of a request: "localhost" or an address in digits, with or without a port. A name could be anybody's:
// one that its owner lets point at this machine would make pages of theirs ones of ours (DNS rebinding).
bool is_local_host(std::string_view host);

// The name or address of a Host header, without its port.
std::string_view without_port(std::string_view host);

class Token {
 public:
  static Token random();
  explicit Token(std::string text) : text_(std::move(text)) {}

  const std::string& text() const { return text_; }
  bool is(std::string_view guess) const;

 private:
  std::string text_;
};

// Of the cookie of that name in a Cookie header; empty: there is none.
std::string_view cookie_value(std::string_view header, std::string_view name);

}  // namespace eureka::serve
