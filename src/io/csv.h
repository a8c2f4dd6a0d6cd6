// Tables of numbers in text, as programs and people write them.
//
//   CsvTable table(read_file("log.csv"), "log.csv");
//   table.columns()                                     {"step", "val_accuracy"}
//   table.read({0, 1}, [&](std::span<const CsvCell> row) { if (row[0].present && row[1].present) ... });
//
// Separator (comma, semicolon, tab or spaces) and header are found from the first rows; quoted fields, '#' comments,
// blank lines, a byte-order mark and any kind of line end are understood. A first row of numbers only means there is no
// header: the columns are then called column1, column2, ... or as a comment line just above says (numpy writes these).
// Cells are parsed only when asked for, without an allocation per cell.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace eureka {

struct CsvCell {
  double value = 0;      // may be NaN or infinite when the file says so
  bool present = false;  // false for an empty cell, "null", "n/a" and the like
};

class CsvTable {
 public:
  // `where` names the text in errors. Throws Error(input) when there is no table in it.
  CsvTable(std::string text, std::string where);

  const std::vector<std::string>& columns() const { return columns_; }
  bool has_header() const { return has_header_; }

  // Per column: do the first thousand rows hold numbers there, and text no more often? A slip of the pen does not make
  // a column of numbers one of text; read() will name it.
  std::vector<bool> numeric_columns() const;

  // Calls `row` with the wanted cells of each data row in turn. A cell that is neither number nor empty is an Error
  // with line and column; so is a row with more cells than columns. A header repeated in the middle (logs appended to
  // by a resumed run) is passed over. Returns false when the last row was torn, and so left out.
  bool read(std::span<const std::size_t> wanted, const std::function<void(std::span<const CsvCell>)>& row) const;

 private:
  std::optional<double> number(std::string_view cell) const;
  bool is_repeated_header(std::string_view cell, std::size_t column) const;

  std::string text_;
  std::string where_;
  char separator_ = ',';
  bool has_header_ = false;
  std::vector<std::string> columns_;
  std::size_t data_start_ = 0;
};

// The whole of `text` as a number: decimal or scientific, sign, nan, inf, infinity in any case. Overflow gives
// infinity.
std::optional<double> parse_number(std::string_view text);

// "file.csv:12:5" for a position in `text`; lines and columns count from 1, columns in bytes.
std::string line_and_column(const std::string& where, std::string_view text, std::size_t position);

}  // namespace eureka
