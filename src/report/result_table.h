// One table of results, four ways to print it: aligned for the terminal, CSV for figures, JSON for programs, Markdown
// for documents.
//
//   ResultTable table({{"kappa", "kappa", "{:.3g}"}, {"steps", "steps to eps", "{:.0f}"}});
//   table.add_row({kappa, steps ? ResultCell(*steps) : ResultCell()});
//   table.text();  table.csv();  table.json();  table.markdown();
//
// A cell that is empty or NaN prints as "-", is empty in CSV and null in JSON. CSV and JSON keep every digit.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "io/json.h"
#include "report/table.h"

namespace eureka {

struct ResultColumn {
  std::string key;    // in CSV and JSON
  std::string title;  // in text and Markdown
  std::string format = "{:.4g}";
  Align align = Align::right;
};

using ResultCell = std::variant<std::monostate, double, std::string>;

class ResultTable {
 public:
  explicit ResultTable(std::vector<ResultColumn> columns) : columns_(std::move(columns)) {}

  // One cell per column.
  void add_row(std::vector<ResultCell> cells);

  // Takes the column with this key out, if there is one.
  void drop_column(const std::string& key);

  std::string text(bool bold_header = false) const;
  std::string markdown() const;
  std::string csv() const;
  Json json() const;

  const std::vector<std::vector<ResultCell>>& rows() const { return rows_; }

 private:
  std::string shown(std::size_t column, const ResultCell& cell) const;

  std::vector<ResultColumn> columns_;
  std::vector<std::vector<ResultCell>> rows_;
};

}  // namespace eureka
