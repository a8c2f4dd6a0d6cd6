#include "report/result_table.h"

#include <fmt/format.h>

#include <cmath>

#include "base/error.h"
#include "io/json.h"

namespace eureka {
namespace {

const double* number_in(const ResultCell& cell) {
  const double* value = std::get_if<double>(&cell);
  return value != nullptr && !std::isnan(*value) ? value : nullptr;
}

std::string quoted(const std::string& text) {
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string result = "\"";
  for (const char letter : text) {
    if (letter == '"') result += '"';
    result += letter;
  }
  return result + '"';
}

}  // namespace

void ResultTable::add_row(std::vector<ResultCell> cells) {
  EUREKA_CHECK(cells.size() == columns_.size(), "one cell per column");
  rows_.push_back(std::move(cells));
}

void ResultTable::drop_column(const std::string& key) {
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    if (columns_[i].key != key) continue;
    const auto place = static_cast<std::ptrdiff_t>(i);
    columns_.erase(columns_.begin() + place);
    for (auto& row : rows_) row.erase(row.begin() + place);
    return;
  }
}

std::string ResultTable::shown(std::size_t column, const ResultCell& cell) const {
  if (const auto* text = std::get_if<std::string>(&cell)) return *text;
  const double* value = number_in(cell);
  return value != nullptr ? fmt::format(fmt::runtime(columns_[column].format), *value) : "-";
}

std::string ResultTable::text(bool bold_header) const {
  std::vector<TableColumn> columns;
  for (const ResultColumn& column : columns_) columns.push_back({column.title, column.align});
  TextTable table(columns);
  for (const auto& row : rows_) {
    std::vector<std::string> cells;
    for (std::size_t i = 0; i < row.size(); ++i) cells.push_back(shown(i, row[i]));
    table.add_row(std::move(cells));
  }
  return table.str(bold_header);
}

std::string ResultTable::markdown() const {
  std::string head = "|", rule = "|", body;
  for (const ResultColumn& column : columns_) {
    head += fmt::format(" {} |", column.title);
    rule += column.align == Align::left ? "---|" : "---:|";
  }
  for (const auto& row : rows_) {
    body += '|';
    for (std::size_t i = 0; i < row.size(); ++i) body += fmt::format(" {} |", shown(i, row[i]));
    body += '\n';
  }
  return head + '\n' + rule + '\n' + body;
}

std::string ResultTable::csv() const {
  std::string result;
  for (const ResultColumn& column : columns_) {
    if (!result.empty()) result += ',';
    result += quoted(column.key);
  }
  result += '\n';
  for (const auto& row : rows_) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (i > 0) result += ',';
      if (const auto* text = std::get_if<std::string>(&row[i])) result += quoted(*text);
      if (const double* value = number_in(row[i])) result += fmt::format("{}", *value);
    }
    result += '\n';
  }
  return result;
}

Json ResultTable::json() const {
  Json list = Json::array();
  for (const auto& row : rows_) {
    Json object;
    for (std::size_t i = 0; i < row.size(); ++i) {
      auto& member = object[columns_[i].key];
      if (const auto* text = std::get_if<std::string>(&row[i])) member = *text;
      if (const double* value = number_in(row[i])) member = *value;
    }
    list.push_back(std::move(object));
  }
  return list;
}

}  // namespace eureka
