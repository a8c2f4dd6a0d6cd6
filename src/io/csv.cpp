#include "io/csv.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstdlib>
#include <unordered_set>

#include "base/error.h"

namespace eureka {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
constexpr std::size_t kMaxColumns = 100'000;  // bounds the memory a row of nothing but separators can take
constexpr std::size_t kSampledRows = 1000;

bool is_space(char c) { return c == ' ' || c == '\t'; }
bool is_line_end(char c) { return c == '\n' || c == '\r'; }

std::string_view trim(std::string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

bool is_missing(std::string_view cell) {
  static constexpr std::array<std::string_view, 8> kTokens = {"", "-", "--", "?", "na", "n/a", "null", "none"};
  if (cell.size() > 4) return false;
  char lower[4] = {};
  std::transform(cell.begin(), cell.end(), lower, [](unsigned char c) { return std::tolower(c); });
  return std::find(kTokens.begin(), kTokens.end(), std::string_view(lower, cell.size())) != kTokens.end();
}

std::string unescape_quotes(std::string_view cell) {
  std::string out;
  for (std::size_t i = 0; i < cell.size(); ++i) {
    out.push_back(cell[i]);
    if (cell[i] == '"' && i + 1 < cell.size() && cell[i + 1] == '"') ++i;
  }
  return out;
}

// Cuts rows into cells, which are views into the text: trimmed, without their quotes.
class RowScanner {
 public:
  RowScanner(std::string_view text, std::size_t position, char separator)
      : text_(text), position_(position), separator_(separator) {
    stops_[static_cast<unsigned char>(separator)] = stops_['\n'] = stops_['\r'] = true;
  }

  std::size_t position() const { return position_; }
  std::size_t row_start() const { return row_start_; }
  std::string_view last_comment() const { return last_comment_; }

  // True when the row just read ran into the end of the text; it may have been torn there.
  bool at_unfinished_line() const { return position_ == text_.size() && !line_ended_; }

  // Where a quote was opened and never closed.
  std::optional<std::size_t> open_quote() const { return open_quote_; }

  bool next(std::vector<std::string_view>& cells) {
    cells.clear();
    if (!skip_to_row()) return false;
    row_start_ = position_;
    line_ended_ = false;
    while (true) {
      cells.push_back(next_cell());
      if (cells.size() > kMaxColumns) return true;
      if (separator_ == ' ') skip_spaces();
      if (position_ == text_.size()) return true;
      const char stop = text_[position_++];
      if (is_line_end(stop)) {
        if (stop == '\r' && position_ < text_.size() && text_[position_] == '\n') ++position_;
        line_ended_ = true;
        return true;
      }
      if (separator_ == ' ') --position_;  // the spaces are behind us: this is the next cell already
    }
  }

 private:
  void skip_spaces() {
    while (position_ < text_.size() && (text_[position_] == ' ' || (text_[position_] == '\t' && separator_ != '\t')))
      ++position_;
  }

  // Passes over blank lines and comments; false at the end of the text.
  bool skip_to_row() {
    while (true) {
      skip_spaces();
      if (position_ == text_.size()) return false;
      if (is_line_end(text_[position_])) {
        ++position_;
        continue;
      }
      if (text_[position_] != '#') return true;
      const std::size_t end = std::min(text_.find_first_of("\r\n", position_), text_.size());
      last_comment_ = text_.substr(position_ + 1, end - position_ - 1);
      position_ = end;
    }
  }

  std::string_view next_cell() {
    skip_spaces();
    if (position_ < text_.size() && text_[position_] == '"') return quoted_cell();
    const std::size_t begin = position_;
    while (position_ < text_.size() && !stops_[static_cast<unsigned char>(text_[position_])]) ++position_;
    return trim(text_.substr(begin, position_ - begin));
  }

  std::string_view quoted_cell() {
    const std::size_t begin = position_ + 1;
    std::size_t end = begin;
    while (true) {
      end = text_.find('"', end);
      if (end == std::string_view::npos) {
        open_quote_ = begin - 1;
        position_ = text_.size();
        return text_.substr(begin);
      }
      if (end + 1 == text_.size() || text_[end + 1] != '"') break;
      end += 2;
    }
    position_ = end + 1;
    while (position_ < text_.size() && !stops_[static_cast<unsigned char>(text_[position_])]) ++position_;
    return trim(text_.substr(begin, end - begin));
  }

  std::string_view text_;
  std::size_t position_;
  std::size_t row_start_ = 0;
  char separator_;
  bool line_ended_ = false;
  std::array<bool, 256> stops_{};
  std::string_view last_comment_;
  std::optional<std::size_t> open_quote_;
};

// A semicolon or tab outside quotes is hardly ever text; a comma may be a decimal comma, a space part of a name.
char find_separator(std::string_view text, std::size_t start) {
  std::vector<std::string_view> cells;
  for (const char candidate : {';', '\t', ','}) {
    RowScanner rows(text, start, candidate);
    if (rows.next(cells) && cells.size() > 1) return candidate;
  }
  RowScanner rows(text, start, ' ');
  if (!rows.next(cells) || cells.size() == 1) return ',';
  const std::size_t first = cells.size();
  return !rows.next(cells) || cells.size() == first ? ' ' : ',';
}

}  // namespace

std::optional<double> parse_number(std::string_view text) {
  if (!text.empty() && text.front() == '+') text.remove_prefix(1);
  double value = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (status == std::errc::invalid_argument || end != text.data() + text.size()) return std::nullopt;
  // from_chars leaves the value alone when out of range; strtod gives infinity or zero.
  if (status == std::errc::result_out_of_range) return std::strtod(std::string(text).c_str(), nullptr);
  return value;
}

std::string line_and_column(const std::string& where, std::string_view text, std::size_t position) {
  const std::string_view before = text.substr(0, std::min(position, text.size()));
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  const std::size_t line_start = before.rfind('\n') + 1;  // npos + 1 is 0
  return fmt::format("{}:{}:{}", where, line, before.size() - line_start + 1);
}

CsvTable::CsvTable(std::string text, std::string where) : text_(std::move(text)), where_(std::move(where)) {
  const std::size_t start = text_.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0;
  separator_ = find_separator(text_, start);
  RowScanner rows(text_, start, separator_);
  std::vector<std::string_view> cells;
  if (!rows.next(cells))
    throw Error(ErrorKind::input, "holds no rows", where_, "write a header line and one row per step");
  if (rows.open_quote())
    throw Error(ErrorKind::input, "a quoted field is never closed", line_and_column(where_, text_, *rows.open_quote()));
  if (cells.size() > kMaxColumns)
    throw Error(ErrorKind::input, fmt::format("more than {} columns", kMaxColumns),
                line_and_column(where_, text_, rows.row_start()));

  const auto numbers = std::count_if(cells.begin(), cells.end(), [&](auto cell) { return number(cell).has_value(); });
  const bool no_text =
      std::all_of(cells.begin(), cells.end(), [&](auto cell) { return is_missing(cell) || number(cell).has_value(); });
  has_header_ = numbers == 0 || !no_text;
  data_start_ = has_header_ ? rows.position() : rows.row_start();
  std::vector<std::string_view> names = cells;
  if (!has_header_) {
    RowScanner comment(rows.last_comment(), 0, separator_);
    if (!comment.next(names) || names.size() != cells.size()) names.assign(cells.size(), {});
  }
  std::unordered_set<std::string> taken;
  for (const std::string_view raw : names) {
    std::string name = raw.empty() ? fmt::format("column{}", columns_.size() + 1) : unescape_quotes(raw);
    if (taken.contains(name)) name += fmt::format(".{}", columns_.size() + 1);
    taken.insert(name);
    columns_.push_back(std::move(name));
  }
}

std::optional<double> CsvTable::number(std::string_view cell) const {
  const std::optional<double> value = parse_number(cell);
  if (value || separator_ != ';' || cell.size() > 40) return value;
  std::string with_point(cell);
  std::replace(with_point.begin(), with_point.end(), ',', '.');
  return parse_number(with_point);
}

bool CsvTable::is_repeated_header(std::string_view cell, std::size_t column) const {
  return has_header_ && unescape_quotes(cell) == columns_[column];
}

std::vector<bool> CsvTable::numeric_columns() const {
  std::vector<std::size_t> numbers(columns_.size()), texts(columns_.size());
  RowScanner rows(text_, data_start_, separator_);
  std::vector<std::string_view> cells;
  for (std::size_t i = 0; i < kSampledRows && rows.next(cells); ++i)
    for (std::size_t column = 0; column < std::min(cells.size(), columns_.size()); ++column) {
      const std::string_view cell = cells[column];
      if (number(cell))
        ++numbers[column];
      else if (!is_missing(cell) && !is_repeated_header(cell, column))
        ++texts[column];
    }
  std::vector<bool> numeric(columns_.size());
  for (std::size_t column = 0; column < columns_.size(); ++column)
    numeric[column] = numbers[column] > 0 && numbers[column] >= texts[column];
  return numeric;
}

bool CsvTable::read(std::span<const std::size_t> wanted,
                    const std::function<void(std::span<const CsvCell>)>& row) const {
  const auto fail = [&](const std::string& what, std::size_t position, const char* hint) {
    throw Error(ErrorKind::input, what, line_and_column(where_, text_, position), hint);
  };
  RowScanner rows(text_, data_start_, separator_);
  std::vector<std::string_view> cells;
  std::vector<CsvCell> values(wanted.size());
  while (rows.next(cells)) {
    if (rows.open_quote() && text_.find_first_of("\r\n", *rows.open_quote()) != std::string::npos)
      fail("a quoted field is never closed", *rows.open_quote(), "add the missing quotation mark");
    if (rows.open_quote() || (rows.at_unfinished_line() && cells.size() < columns_.size())) return false;
    while (cells.size() > columns_.size() && cells.back().empty()) cells.pop_back();
    if (cells.size() > columns_.size())
      fail(fmt::format("more cells than the {} columns of the first row", columns_.size()), rows.row_start(),
           "give every row as many cells as the header has; quote text that holds separators");
    bool repeated_header = false;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      const std::string_view cell = wanted[i] < cells.size() ? cells[wanted[i]] : std::string_view();
      const std::optional<double> value = number(cell);
      values[i] = {value.value_or(0), value.has_value()};
      if (value || is_missing(cell)) continue;
      if (!is_repeated_header(cell, wanted[i]))
        fail(fmt::format("expected a number in column '{}', found '{}'", columns_[wanted[i]], cell.substr(0, 40)),
             static_cast<std::size_t>(cell.data() - text_.data()), "leave the cell empty when there is no value");
      repeated_header = true;
    }
    if (!repeated_header) row(values);
  }
  return true;
}

}  // namespace eureka
