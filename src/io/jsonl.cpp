#include "io/jsonl.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <unordered_map>

#include "base/error.h"
#include "io/csv.h"
#include "io/number_lists.h"

namespace eureka {
namespace {

constexpr int kMaxDepth = 64;
constexpr std::size_t kMaxNameBytes = 1000;  // a long key around many short ones would multiply in memory
constexpr std::size_t kMaxColumns = 100'000;
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

// The text ended where more was needed: not a mistake, but a file still being written.
struct EndOfText {};

struct TransparentHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
};

// One pass over the text, no tree: numbers go straight to their column when their row is complete.
class RowReader {
 public:
  RowReader(std::string_view text, const std::string& where) : text_(text), where_(where) {
    if (text_.starts_with(kByteOrderMark)) position_ = kByteOrderMark.size();
    end_ = text_.size();
  }

  JsonTable read() {
    try {
      if (!at_end_after_space()) {
        if (is_one_document())
          while (!at_end_after_space()) top_level_value();
        else
          read_lines();
      }
    } catch (EndOfText) {
      table_.torn = true;
    }
    std::erase_if(table_.columns, [](const JsonColumn& column) { return column.values.empty(); });
    return table_.columns.empty() && table_.rows == 1 ? columns_of_lists(lists_) : std::move(table_);
  }

 private:
  [[noreturn]] void fail(const std::string& what, std::size_t position) const {
    throw Error(ErrorKind::input, what, line_and_column(where_, text_, position),
                "every line must be one JSON object; mend or delete this one");
  }

  // Written over several lines, so that line ends mean nothing: an array, or a first line that is plainly not the
  // whole.
  bool is_one_document() const {
    const std::size_t line_end = std::min(text_.find('\n', position_), text_.size());
    const std::size_t last = text_.find_last_not_of(" \t\r\n", line_end);
    return text_[position_] == '[' ||
           (line_end < text_.size() && std::string_view("{[,:").find(text_[last]) != std::string_view::npos);
  }

  // Each line stands for itself, so a mistake in one is found there and not lines later.
  void read_lines() {
    while (position_ < text_.size()) {
      end_ = std::min(text_.find('\n', position_), text_.size());
      try {
        while (!at_end_after_space()) top_level_value();
      } catch (EndOfText) {
        if (end_ == text_.size()) throw;
        fail("the line ends inside its object", end_);
      }
      position_ = end_ + 1;
    }
  }

  bool at_end_after_space() {
    while (position_ < end_ && is_space(text_[position_])) ++position_;
    return position_ == end_;
  }

  static bool is_space(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

  // The next character that is no space; EndOfText when there is none.
  char peek() {
    if (at_end_after_space()) throw EndOfText{};
    return text_[position_];
  }

  void expect(char wanted) {
    if (peek() != wanted) fail(fmt::format("expected '{}' but found {}", wanted, found()), position_);
    ++position_;
  }

  std::string found() const {
    const auto c = static_cast<unsigned char>(text_[position_]);
    return c >= 0x20 && c < 0x7F ? fmt::format("'{}'", text_[position_]) : fmt::format("the byte 0x{:02X}", c);
  }

  void top_level_value() {
    if (peek() == '[')
      array_of_rows();
    else
      row_object(true);
  }

  void array_of_rows() {
    expect('[');
    if (peek() == ']') {
      ++position_;
      return;
    }
    while (true) {
      row_object(false);
      if (peek() == ']') break;
      expect(',');
    }
    ++position_;
  }

  // A row counts once its closing brace is seen. Only a top-level object may hold a log_history in its place.
  void row_object(bool top_level) {
    if (peek() != '{') fail(fmt::format("expected an object but found {}", found()), position_);
    row_.clear();
    path_.clear();
    holds_history_ = false;
    object(top_level, 1);
    if (top_level && holds_history_) return;
    for (const auto& [column, value] : row_) {
      JsonColumn& target = table_.columns[column];
      // The last of two equal keys counts, as in every JSON reader.
      if (!target.rows.empty() && target.rows.back() == table_.rows) {
        target.values.back() = value;
        continue;
      }
      target.rows.push_back(table_.rows);
      target.values.push_back(value);
    }
    ++table_.rows;
  }

  void object(bool top_level, int depth) {
    expect('{');
    if (peek() == '}') {
      ++position_;
      return;
    }
    const std::size_t prefix = path_.size();
    while (true) {
      if (peek() != '"') fail(fmt::format("expected a key in quotes but found {}", found()), position_);
      if (prefix > 0) path_.push_back('.');
      append_string(path_);
      if (path_.size() > kMaxNameBytes) fail("a key is too long to be the name of a column", position_);
      expect(':');
      if (top_level && path_ == "log_history" && peek() == '[') {
        array_of_rows();
        holds_history_ = true;
      } else {
        value(depth);
      }
      path_.resize(prefix);
      if (peek() == '}') break;
      expect(',');
    }
    ++position_;
  }

  void value(int depth) {
    if (depth >= kMaxDepth) fail(fmt::format("nested more than {} levels deep", kMaxDepth), position_);
    switch (peek()) {
      case '{':
        object(false, depth + 1);
        break;
      case '[':
        skip_array(depth + 1);
        break;
      case '"':
        string_value();
        break;
      default:
        plain_value();
    }
  }

  void skip_array(int depth) {
    // What is inside goes through the same checks but to no column.
    const std::size_t kept = row_.size();
    expect('[');
    if (peek() == ']') {
      ++position_;
      return;
    }
    if (skipping_ == 0 && table_.rows == 0) lists_.push_back({path_, {}});
    skipping_ += 1;
    while (true) {
      value(depth);
      if (peek() == ']') break;
      expect(',');
    }
    skipping_ -= 1;
    ++position_;
    row_.resize(kept);
  }

  // Some exporters put the numbers JSON lacks in quotes.
  void string_value() {
    string_.clear();
    append_string(string_);
    if (string_ == "NaN" || string_ == "Infinity" || string_ == "-Infinity") add_number(*parse_number(string_));
  }

  void plain_value() {
    const std::size_t begin = position_;
    while (position_ < end_ && is_plain(text_[position_])) ++position_;
    if (position_ == end_) throw EndOfText{};
    const std::string_view token = text_.substr(begin, position_ - begin);
    if (token == "null") add_to_list(std::numeric_limits<double>::quiet_NaN());
    if (token == "null" || token == "true" || token == "false") return;
    const std::optional<double> number = parse_number(token);
    if (!number)
      fail(token.empty() ? fmt::format("expected a value but found {}", found())
                         : fmt::format("'{}' is no JSON value", token.substr(0, 40)),
           begin);
    add_number(*number);
  }

  static bool is_plain(char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '+' ||
           c == '.';
  }

  void add_to_list(double number) {
    if (skipping_ == 1 && table_.rows == 0) lists_.back().values.push_back(number);
  }

  void add_number(double number) {
    add_to_list(number);
    if (skipping_ > 0) return;
    auto found_column = index_.find(std::string_view(path_));
    if (found_column == index_.end()) {
      if (table_.columns.size() == kMaxColumns)
        fail(fmt::format("more than {} different keys", kMaxColumns), position_);
      found_column = index_.emplace(path_, table_.columns.size()).first;
      table_.columns.push_back({path_, {}, {}});
    }
    row_.emplace_back(found_column->second, number);
  }

  void append_string(std::string& out) {
    const std::size_t begin = ++position_;  // after the quote
    while (position_ < end_) {
      const char c = text_[position_];
      if (c == '"') {
        out.append(text_.substr(begin, position_++ - begin));
        return;
      }
      if (c == '\\') {
        out.append(text_.substr(begin, position_ - begin));
        append_escaped_rest(out);
        return;
      }
      if (is_line_break(c)) fail("a string is not closed on its line", begin - 1);
      ++position_;
    }
    throw EndOfText{};
  }

  static bool is_line_break(char c) { return c == '\n' || c == '\r'; }

  // The slow path, from the first backslash on.
  void append_escaped_rest(std::string& out) {
    while (position_ < end_) {
      const char c = text_[position_++];
      if (c == '"') return;
      if (is_line_break(c)) fail("a string is not closed on its line", position_ - 1);
      if (c != '\\') {
        out.push_back(c);
        continue;
      }
      if (position_ == end_) throw EndOfText{};
      append_escape(out, text_[position_++]);
    }
    throw EndOfText{};
  }

  void append_escape(std::string& out, char kind) {
    switch (kind) {
      case '"':
      case '\\':
      case '/':
        out.push_back(kind);
        return;
      case 'b':
        out.push_back('\b');
        return;
      case 'f':
        out.push_back('\f');
        return;
      case 'n':
        out.push_back('\n');
        return;
      case 'r':
        out.push_back('\r');
        return;
      case 't':
        out.push_back('\t');
        return;
      case 'u':
        append_utf8(out, code_point());
        return;
      default:
        fail(fmt::format("'\\{}' is no JSON escape", kind), position_ - 2);
    }
  }

  std::uint32_t code_point() {
    const std::uint32_t first = hex4();
    if (first < 0xD800 || first > 0xDFFF) return first;
    constexpr std::uint32_t kReplacement = 0xFFFD;  // for half a surrogate pair
    if (first > 0xDBFF || text_.substr(position_, std::min<std::size_t>(2, end_ - position_)) != "\\u")
      return kReplacement;
    position_ += 2;
    const std::uint32_t second = hex4();
    if (second < 0xDC00 || second > 0xDFFF) return kReplacement;
    return 0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00);
  }

  std::uint32_t hex4() {
    if (end_ - position_ < 4) throw EndOfText{};
    std::uint32_t code = 0;
    const char* begin = text_.data() + position_;
    if (std::from_chars(begin, begin + 4, code, 16).ptr != begin + 4)
      fail("\\u needs four hexadecimal digits", position_);
    position_ += 4;
    return code;
  }

  static void append_utf8(std::string& out, std::uint32_t code) {
    const auto tail = [&](int shift) { out.push_back(static_cast<char>(0x80 | ((code >> shift) & 0x3F))); };
    if (code < 0x80) {
      out.push_back(static_cast<char>(code));
    } else if (code < 0x800) {
      out.push_back(static_cast<char>(0xC0 | (code >> 6)));
      tail(0);
    } else if (code < 0x10000) {
      out.push_back(static_cast<char>(0xE0 | (code >> 12)));
      tail(6);
      tail(0);
    } else {
      out.push_back(static_cast<char>(0xF0 | (code >> 18)));
      tail(12);
      tail(6);
      tail(0);
    }
  }

  std::string_view text_;
  const std::string& where_;
  std::size_t position_ = 0;
  std::size_t end_ = 0;         // of the line, or of the text when it is one document
  int skipping_ = 0;            // depth of lists, whose numbers belong to no column
  bool holds_history_ = false;  // the object being read was a trainer state, not a row
  std::string path_, string_;
  std::vector<std::pair<std::size_t, double>> row_;  // column, value
  std::vector<NumberList> lists_;                    // of the first row: if nothing else is there, they are the columns
  std::unordered_map<std::string, std::size_t, TransparentHash, std::equal_to<>> index_;
  JsonTable table_;
};

}  // namespace

JsonTable parse_json_rows(std::string_view text, const std::string& where) { return RowReader(text, where).read(); }

}  // namespace eureka
