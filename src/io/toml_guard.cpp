#include "io/toml_guard.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "io/csv.h"

namespace eureka {
namespace {

constexpr int kMostBrackets = 16;
constexpr int kMostKeyParts = 32;

bool begins_key(char letter) {
  return std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '_' || letter == '-' || letter == '"' ||
         letter == '\'';
}

// Walks over TOML without understanding it: strings and comments are skipped, brackets and dots counted.
class Walk {
 public:
  Walk(std::string_view text, const std::string& file_name) : text_(text), file_name_(file_name) {
    if (constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF"; text_.starts_with(kByteOrderMark))
      position_ = kByteOrderMark.size();
  }

  void run() {
    while (position_ < text_.size()) step();
  }

 private:
  void step() {
    const char letter = text_[position_];
    switch (letter) {
      case '#':
        position_ = std::min(text_.find('\n', position_), text_.size());
        return;
      case '"':
      case '\'':
        skip_string(letter);
        fresh_line_ = false;
        return;
      case '\n':
        fresh_line_ = true;
        key_parts_ = 1;
        break;
      case '[':
        if (fresh_line_ && brackets_ == 0) check_header();
        [[fallthrough]];
      case '{':
        if (++brackets_ > kMostBrackets) fail(fmt::format("more than {} brackets inside each other", kMostBrackets));
        [[fallthrough]];
      case ',':
      case '=':
        key_parts_ = 1;
        break;
      case ']':
      case '}':
        brackets_ = std::max(0, brackets_ - 1);
        break;
      case '.':
        if (++key_parts_ > kMostKeyParts) fail(fmt::format("a key of more than {} parts", kMostKeyParts));
        break;
      default:
        if (static_cast<unsigned char>(letter) >= 0x80) fail("a letter beyond ASCII goes between quotes");
        break;
    }
    if (letter != '\n' && letter != ' ' && letter != '\t' && letter != '\r') fresh_line_ = false;
    ++position_;
  }

  // At the '[' or '[[' of a table's name.
  void check_header() const {
    const std::size_t behind = position_ + (text_.substr(position_).starts_with("[[") ? 2 : 1);
    const std::size_t name = text_.find_first_not_of(" \t", behind);
    // An empty name and the end of the text are errors the parser knows.
    if (name == std::string_view::npos || text_[name] == ']' || begins_key(text_[name])) return;
    fail("expected the name of a table after '['");
  }

  // A string that is not closed ends at its line, or at the end of the text; the parser will say so.
  void skip_string(char quote) {
    const std::string three(3, quote);
    const bool long_one = text_.substr(position_).starts_with(three);
    position_ += long_one ? 3 : 1;
    for (; position_ < text_.size(); ++position_) {
      if (quote == '"' && text_[position_] == '\\') {
        ++position_;
      } else if (!long_one && (text_[position_] == quote || text_[position_] == '\n')) {
        if (text_[position_] == quote) ++position_;
        return;
      } else if (long_one && text_.substr(position_).starts_with(three)) {
        // Up to two quotes before the closing three belong to the string.
        const std::size_t end = std::min(text_.find_first_not_of(quote, position_), text_.size());
        position_ = std::min(end, position_ + 5);
        return;
      }
    }
    position_ = text_.size();
  }

  [[noreturn]] void fail(const std::string& what) const {
    throw HarmfulToml(ErrorKind::config, fmt::format("not valid TOML: {}", what),
                      line_and_column(file_name_, text_, position_));
  }

  std::string_view text_;
  const std::string& file_name_;
  std::size_t position_ = 0;
  bool fresh_line_ = true;
  int brackets_ = 0;
  int key_parts_ = 1;
};

}  // namespace

void refuse_harmful_toml(std::string_view text, const std::string& file_name) { Walk(text, file_name).run(); }

}  // namespace eureka
