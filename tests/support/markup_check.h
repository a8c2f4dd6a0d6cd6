// Is a text well-formed XML? Enough of the rules for what we write: tags close in order, attributes are quoted and
// differ, nothing of a name or a text gets out of its place.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace eureka {

class MarkupCheck {
 public:
  explicit MarkupCheck(std::string_view text) : rest_(text) {
    while (problem_.empty() && !rest_.empty()) step();
    if (problem_.empty() && !open_.empty()) problem_ = "never closed: " + open_.back();
  }
  // Empty when all is well.
  const std::string& problem() const { return problem_; }
  const std::vector<std::string>& tags() const { return tags_; }

 private:
  void step() {
    if (rest_.front() != '<') {
      const std::size_t end = std::min(rest_.find('<'), rest_.size());
      check_text(rest_.substr(0, end));
      rest_.remove_prefix(end);
      return;
    }
    if (rest_.starts_with("<?")) return skip("?>");
    if (rest_.starts_with("<!")) return skip(">");
    rest_.remove_prefix(1);
    const bool closes = rest_.front() == '/';
    if (closes) rest_.remove_prefix(1);
    const std::string name = word();
    if (name.empty()) return fail("a '<' that begins no tag");
    while (problem_.empty() && !rest_.empty() && rest_.front() != '>' && rest_.front() != '/') attribute();
    if (rest_.empty()) return fail("a tag that never ends");
    const bool is_alone = rest_.front() == '/';
    if (is_alone) rest_.remove_prefix(1);
    if (rest_.empty() || rest_.front() != '>') return fail("a tag that ends wrongly: " + name);
    rest_.remove_prefix(1);
    if (closes) {
      if (open_.empty() || open_.back() != name) return fail("closed but not open: " + name);
      open_.pop_back();
    } else {
      tags_.push_back(name);
      if (!is_alone) open_.push_back(name);
    }
  }

  void attribute() {
    while (!rest_.empty() && std::isspace(static_cast<unsigned char>(rest_.front()))) rest_.remove_prefix(1);
    if (rest_.empty() || rest_.front() == '>' || rest_.front() == '/') return;
    const std::string name = word();
    if (name.empty() || !rest_.starts_with("=\"")) return fail("no quoted attribute: " + name);
    rest_.remove_prefix(2);
    const std::size_t end = rest_.find('"');
    if (end == std::string_view::npos) return fail("an attribute that never ends: " + name);
    if (rest_.substr(0, end).find('<') != std::string_view::npos) return fail("'<' in an attribute: " + name);
    check_text(rest_.substr(0, end));
    rest_.remove_prefix(end + 1);
  }

  void check_text(std::string_view text) {
    for (std::size_t i = 0; i < text.size(); ++i) {
      const auto byte = static_cast<unsigned char>(text[i]);
      if (byte < 0x20 && text[i] != '\n' && text[i] != '\t') return fail("a control character");
      if (text[i] != '&') continue;
      const std::size_t end = text.find(';', i);
      static const std::vector<std::string_view> kKnown = {"amp", "lt", "gt", "quot", "#39"};
      if (end == std::string_view::npos ||
          std::find(kKnown.begin(), kKnown.end(), text.substr(i + 1, end - i - 1)) == kKnown.end())
        return fail("a '&' that begins no entity");
    }
  }

  std::string word() {
    std::size_t end = 0;
    while (end < rest_.size() &&
           (std::isalnum(static_cast<unsigned char>(rest_[end])) || rest_[end] == '-' || rest_[end] == ':'))
      ++end;
    const std::string name(rest_.substr(0, end));
    rest_.remove_prefix(end);
    return name;
  }

  void skip(std::string_view end) {
    const std::size_t at = rest_.find(end);
    rest_.remove_prefix(at == std::string_view::npos ? rest_.size() : at + end.size());
  }

  void fail(const std::string& what) {
    if (problem_.empty()) problem_ = what + ", before: " + std::string(rest_.substr(0, 60));
  }

  std::string_view rest_;
  std::vector<std::string> open_, tags_;
  std::string problem_;
};

// What names may hold at their worst.
inline const std::string kEvilName = "<script>alert(\"1\")</script> & 'b' \x1b[2J \xff ]]>";

}  // namespace eureka
