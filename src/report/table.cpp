#include "report/table.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "base/error.h"
#include "base/printable.h"

namespace eureka {
namespace {

constexpr std::string_view kIndent = " ";

struct Range {
  std::uint32_t first, last;
};

constexpr std::array<Range, 8> kZeroWidth = {{{0x0000, 0x001F},
                                              {0x007F, 0x009F},
                                              {0x0300, 0x036F},
                                              {0x1AB0, 0x1AFF},
                                              {0x1DC0, 0x1DFF},
                                              {0x200B, 0x200F},
                                              {0x20D0, 0x20FF},
                                              {0xFE00, 0xFE0F}}};
constexpr std::array<Range, 9> kDoubleWidth = {{{0x1100, 0x115F},
                                                {0x2E80, 0x303E},
                                                {0x3041, 0xA4CF},
                                                {0xAC00, 0xD7A3},
                                                {0xF900, 0xFAFF},
                                                {0xFE30, 0xFE6F},
                                                {0xFF00, 0xFF60},
                                                {0x1F300, 0x1FAFF},
                                                {0x20000, 0x3FFFD}}};

template <std::size_t N>
bool contains(const std::array<Range, N>& ranges, std::uint32_t code) {
  return std::any_of(ranges.begin(), ranges.end(), [&](Range r) { return code >= r.first && code <= r.last; });
}

// Takes an escape sequence such as "\x1b[1m" off the front; false when there is none.
bool take_escape(std::string_view& text) {
  if (!text.starts_with("\x1b[")) return false;
  std::size_t end = 2;
  while (end < text.size() && (text[end] < '@' || text[end] > '~')) ++end;
  text.remove_prefix(std::min(end + 1, text.size()));
  return true;
}

}  // namespace

int display_width(std::string_view text) {
  int width = 0;
  while (!text.empty()) {
    if (take_escape(text)) continue;
    const std::uint32_t code = take_code_point(text).value_or('?');
    if (!contains(kZeroWidth, code)) width += contains(kDoubleWidth, code) ? 2 : 1;
  }
  return width;
}

namespace {

struct Letter {
  std::string_view bytes;
  int width = 0;
};

std::vector<Letter> letters_of(std::string_view text) {
  std::vector<Letter> letters;
  while (!text.empty()) {
    const std::string_view before = text;
    if (!take_escape(text)) (void)take_code_point(text);
    const std::string_view bytes = before.substr(0, before.size() - text.size());
    letters.push_back({bytes, display_width(bytes)});
  }
  return letters;
}

}  // namespace

std::string shortened(std::string_view text, int width) {
  if (display_width(text) <= width) return std::string(text);
  if (width < 1) return "";
  const std::vector<Letter> letters = letters_of(text);
  std::string head, tail;
  int room = width / 2;
  for (const Letter& letter : letters) {
    if (letter.width > room) break;
    head += letter.bytes;
    room -= letter.width;
  }
  room = width - 1 - display_width(head);
  for (auto letter = letters.rbegin(); letter != letters.rend() && letter->width <= room; ++letter) {
    tail.insert(0, letter->bytes);
    room -= letter->width;
  }
  return head + "…" + tail;
}

std::string clipped(std::string_view line, int columns) {
  if (display_width(line) <= columns) return std::string(line);
  if (columns < 1) return "";
  std::string out;
  int room = columns - 1;
  bool has_escape = false;
  for (const Letter& letter : letters_of(line)) {
    if (letter.width > room) break;
    has_escape |= letter.bytes.starts_with('\x1b');
    out += letter.bytes;
    room -= letter.width;
  }
  return out + "…" + (has_escape ? "\x1b[0m" : "");
}

std::string wrapped(const std::string& words, int width, const std::string& first, const std::string& rest) {
  const std::string text = printable(words);
  std::string out, line = first;
  bool has_word = false;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    const std::string word = text.substr(begin, end - begin);
    if (has_word && display_width(line) + 1 + display_width(word) > width) {
      out += line + "\n";
      line = rest;
      has_word = false;
    }
    if (has_word) line += ' ';
    line += word;
    has_word = true;
    begin = end + 1;
  }
  return out + line + "\n";
}

void TextTable::add_row(std::vector<std::string> cells) {
  EUREKA_CHECK(cells.size() <= columns_.size(), "a table row has more cells than the table has columns");
  cells.resize(columns_.size());
  for (std::string& cell : cells) cell = printable(cell);
  rows_.push_back(std::move(cells));
}

std::vector<int> TextTable::widths(const TableStyle& style) const {
  std::vector<int> widths;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    widths.push_back(display_width(columns_[i].name));
    for (const auto& row : rows_) widths[i] = std::max(widths[i], display_width(row[i]));
  }
  if (style.most_of_first > 0 && !widths.empty()) widths[0] = std::min(widths[0], style.most_of_first);
  return widths;
}

int TextTable::width(const TableStyle& style) const {
  int total = display_width(kIndent);
  for (const int width : widths(style)) total += width + style.gap;
  return total - (columns_.empty() ? 0 : style.gap);
}

std::string TextTable::str(const TableStyle& style) const {
  const std::vector<int> widths = this->widths(style);
  const auto line = [&](const auto& cell_of) {
    std::string out(kIndent);
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const std::string cell = i == 0 ? shortened(cell_of(i), widths[i]) : cell_of(i);
      const std::string padding(static_cast<std::size_t>(widths[i] - display_width(cell)), ' ');
      if (i > 0) out.append(static_cast<std::size_t>(style.gap), ' ');
      out += columns_[i].align == Align::right ? padding + cell : cell + padding;
    }
    out.erase(out.find_last_not_of(' ') + 1);
    return out;
  };
  const std::string header = line([&](std::size_t i) -> const std::string& { return columns_[i].name; });
  std::string out = style.bold_header ? "\x1b[1m" + header + "\x1b[0m\n" : header + "\n";
  for (const auto& row : rows_) out += line([&](std::size_t i) -> const std::string& { return row[i]; }) + "\n";
  return out;
}

}  // namespace eureka
