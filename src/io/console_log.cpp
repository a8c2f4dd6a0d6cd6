#include "io/console_log.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <utility>
#include <vector>

#include "io/column_names.h"
#include "io/csv.h"

namespace eureka {
namespace {

constexpr std::size_t kLongestLine = 1 << 14;
constexpr std::size_t kMostColumns = 1000;  // prose has a name for every number
constexpr std::size_t kLongestPattern = 100;

struct Named {
  std::string name;
  double value;
};

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }
bool is_in_word(char c) {
  return is_letter(c) || is_digit(c) || std::string_view("_./@-").find(c) != std::string_view::npos;
}

// Units that people write behind a number without a space.
bool is_unit(std::string_view text) {
  static constexpr std::array<std::string_view, 14> kUnits = {"",   "s",    "ms",   "us",      "sec", "min", "h",
                                                              "it", "it/s", "s/it", "ms/step", "GB",  "MB",  "x"};
  return std::find(kUnits.begin(), kUnits.end(), text) != kUnits.end();
}

// One line, read from left to right: words wait for a number.
class LineReader {
 public:
  explicit LineReader(std::string_view line) : line_(line.substr(0, kLongestLine)) {}

  std::vector<Named> read() {
    while (at_ < line_.size()) {
      const char c = line_[at_];
      if (c == '\x1B')
        skip_escape();
      else if (is_letter(c) || c == '_')
        word();
      else if (starts_number())
        number();
      else
        separator();
    }
    return std::move(found_);
  }

  // The line with '#' for the numbers that have a name.
  std::string pattern() const {
    std::string text;
    std::size_t from = 0;
    for (const auto& [begin, end] : numbers_) {
      text += line_.substr(from, begin - from);
      text += '#';
      from = end;
    }
    text += line_.substr(from);
    if (text.size() <= kLongestPattern) return text;
    std::size_t cut = kLongestPattern;
    while (cut > 0 && (static_cast<unsigned char>(text[cut]) & 0xC0) == 0x80) --cut;  // not inside a UTF-8 character
    return text.substr(0, cut) + "...";
  }

 private:
  char next(std::size_t ahead = 1) const { return at_ + ahead < line_.size() ? line_[at_ + ahead] : '\0'; }

  void skip_escape() {
    ++at_;
    if (at_ < line_.size() && line_[at_] == '[') ++at_;
    while (at_ < line_.size() && !is_letter(line_[at_])) ++at_;
    if (at_ < line_.size()) ++at_;
  }

  bool starts_number() const {
    const char c = line_[at_];
    if (is_digit(c)) return true;
    if (c == '.') return is_digit(next());
    return (c == '-' || c == '+') && (is_digit(next()) || (next() == '.' && is_digit(next(2))));
  }

  void word() {
    const std::size_t begin = at_;
    while (at_ < line_.size() && is_in_word(line_[at_])) ++at_;
    std::string_view text = line_.substr(begin, at_ - begin);
    while (!text.empty() && std::string_view("./-@").find(text.back()) != std::string_view::npos) text.remove_suffix(1);
    if (const auto value = parse_number(text); value && !words_.empty()) return take(*value, begin, at_);  // nan, inf
    words_.emplace_back(text);
  }

  // Quotes, brackets, colons and equal signs stand between a name and its number; anything else ends the name.
  void separator() {
    if (std::string_view(" \t:='\"[(").find(line_[at_]) == std::string_view::npos) words_.clear();
    ++at_;
  }

  void number() {
    const std::size_t begin = at_;
    if (line_[at_] == '-' || line_[at_] == '+') ++at_;
    const auto digits = [&] {
      while (at_ < line_.size() && is_digit(line_[at_])) ++at_;
    };
    digits();
    if (at_ < line_.size() && line_[at_] == '.') ++at_;
    digits();
    if (at_ < line_.size() && (line_[at_] == 'e' || line_[at_] == 'E')) {
      const std::size_t sign = next() == '-' || next() == '+' ? 1 : 0;
      if (is_digit(next(1 + sign))) {
        at_ += 1 + sign;
        digits();
      }
    }
    const std::size_t end = at_;
    // A date, a clock time, a version: digits go on behind a sign that no number has.
    const auto goes_on = [&](char sign) { return at_ < line_.size() && line_[at_] == sign && is_digit(next()); };
    if (goes_on('-') || goes_on(':') || goes_on('.')) return skip_run();
    if (goes_on('/')) {  // 3/10: the third of ten
      ++at_;
      digits();
    }
    const std::size_t unit = at_;
    while (at_ < line_.size() && (is_letter(line_[at_]) || line_[at_] == '/')) ++at_;
    if (!is_unit(line_.substr(unit, at_ - unit))) return skip_run();
    const auto value = parse_number(line_.substr(begin, end - begin));
    if (value && !words_.empty()) return take(*value, begin, end);
    words_.clear();
  }

  void skip_run() {
    while (at_ < line_.size() && line_[at_] != ' ' && line_[at_] != ',') ++at_;
    words_.clear();
  }

  void take(double value, std::size_t begin, std::size_t end) {
    std::string name = name_from_words();
    words_.clear();
    numbers_.emplace_back(begin, end);
    const auto same = std::find_if(found_.begin(), found_.end(), [&](const Named& one) { return one.name == name; });
    if (same != found_.end())
      same->value = value;
    else
      found_.push_back({std::move(name), value});
  }

  // The last word, and the one before it where that only says of what: "val loss", but not "root loss".
  std::string name_from_words() const {
    static constexpr std::array<std::string_view, 21> kSaysOfWhat = {
        "train",      "training", "val",      "valid", "validation", "test",  "eval",
        "evaluation", "dev",      "mean",     "avg",   "average",    "total", "running",
        "smoothed",   "global",   "learning", "grad",  "gradient",   "top",   "tokens"};
    if (words_.size() < 2) return words_.back();
    const std::vector<std::string> before = words_of(words_[words_.size() - 2]);
    const bool says =
        before.size() == 1 && std::find(kSaysOfWhat.begin(), kSaysOfWhat.end(), before.front()) != kSaysOfWhat.end();
    return says ? words_[words_.size() - 2] + " " + words_.back() : words_.back();
  }

  std::string_view line_;
  std::size_t at_ = 0;
  std::vector<std::string> words_;
  std::vector<Named> found_;
  std::vector<std::pair<std::size_t, std::size_t>> numbers_;
};

// action(line); a bar that redraws itself is a line for each drawing. Ends when the action says false.
template <class Action>
void for_lines(std::string_view text, const Action& action) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find_first_of("\r\n"), text.size());
    if (!action(text.substr(0, end))) return;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

bool is_count_of_steps(const Named& one) { return step_likeness(one.name) > 0; }

// Rows to columns; steps that stand on a line of their own are carried to the lines after it.
class TableBuilder {
 public:
  void add(const std::vector<Named>& row, const LineReader& line) {
    if (row.empty()) return;
    if (std::all_of(row.begin(), row.end(), is_count_of_steps)) {
      carried_ = row;
      return;
    }
    for (const Named& one : row) put(one, &line);
    for (const Named& one : carried_) put(one, nullptr);
    ++log_.table.rows;
  }

  // What was named once only is no column, unless nothing else is there.
  ConsoleLog finish() {
    auto& columns = log_.table.columns;
    const auto once = [](const JsonColumn& column) { return column.rows.size() < 2; };
    if (!std::all_of(columns.begin(), columns.end(), once)) std::erase_if(columns, once);
    return std::move(log_);
  }

 private:
  void put(const Named& one, const LineReader* line) {
    auto& columns = log_.table.columns;
    auto found = index_.find(one.name);
    if (found == index_.end()) {
      if (columns.size() == kMostColumns) return;
      found = index_.emplace(one.name, columns.size()).first;
      columns.push_back({one.name, {}, {}});
      if (line != nullptr) log_.line_like[one.name] = line->pattern();
    }
    JsonColumn& column = columns[found->second];
    if (!column.rows.empty() && column.rows.back() == log_.table.rows) return;  // the line's own steps before carried
    column.rows.push_back(log_.table.rows);
    column.values.push_back(one.value);
  }

  ConsoleLog log_;
  std::vector<Named> carried_;
  std::map<std::string, std::size_t, std::less<>> index_;
};

}  // namespace

bool looks_like_console_log(std::string_view text) {
  constexpr int kLines = 200, kOneIn = 10;
  int lines = 0, named = 0;
  for_lines(text, [&](std::string_view line) {
    if (line.find_first_not_of(" \t") == std::string_view::npos) return true;
    ++lines;
    const std::vector<Named> found = LineReader(line).read();
    named += std::all_of(found.begin(), found.end(), is_count_of_steps) ? 0 : 1;
    return lines < kLines;
  });
  return named > 1 && named * kOneIn >= lines;
}

ConsoleLog parse_console_log(std::string_view text) {
  TableBuilder table;
  for_lines(text, [&](std::string_view line) {
    LineReader reader(line);
    const std::vector<Named> row = reader.read();
    table.add(row, reader);
    return true;
  });
  return table.finish();
}

}  // namespace eureka
