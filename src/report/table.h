// Aligned text tables for the terminal.
//
//   TextTable table({{"rule", Align::left}, {"moments"}, {"median step"}});
//   table.add_row({"softmax", "8/10", "1130"});
//   print("{}", Layout{table.str()});
//
//    rule      moments   median step
//    softmax      8/10          1130
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace eureka {

enum class Align { left, right };

struct TableColumn {
  std::string name;
  Align align = Align::right;
};

struct TableStyle {
  bool bold_header = false;
  int gap = 3;            // between columns
  int most_of_first = 0;  // longer cells of the first column are shortened to this; 0: none is
};

class TextTable {
 public:
  explicit TextTable(std::vector<TableColumn> columns) : columns_(std::move(columns)) {}

  // Missing cells at the end are empty. What a terminal would obey in a cell is escaped.
  void add_row(std::vector<std::string> cells);

  // One line per row, each ended by '\n', without spaces at the end.
  std::string str(bool bold_header = false) const { return str(TableStyle{.bold_header = bold_header}); }
  std::string str(const TableStyle& style) const;

  // Of its lines.
  int width(const TableStyle& style = {}) const;

 private:
  std::vector<int> widths(const TableStyle& style) const;

  std::vector<TableColumn> columns_;
  std::vector<std::vector<std::string>> rows_;
};

// Terminal columns taken by UTF-8 text: combining marks and color escapes take none, East Asian wide letters and emoji
// two. Each byte that is not valid UTF-8 counts one.
int display_width(std::string_view text);

// The beginning and the end of a text that takes more than `width` columns, with "…" between: what tells names apart
// may stand at either. For text without escapes.
std::string shortened(std::string_view text, int width);

// The beginning of a line that takes more than `columns`, with "…" at its end; colors are closed.
std::string clipped(std::string_view line, int columns);

// The `words` in lines no wider than `width`: the first begins with `first`, the others with `rest`.
std::string wrapped(const std::string& words, int width, const std::string& first = "", const std::string& rest = "");

}  // namespace eureka
