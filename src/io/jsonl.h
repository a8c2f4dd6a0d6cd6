// The numbers in logs of JSON objects, by column.
//
//   JsonTable table = parse_json_rows(text, "metrics.jsonl");
//   for (const JsonColumn& column : table.columns) ... column.name, column.rows, column.values
//
// A row is an object: one per line (JSONL), one after another, the elements of an array, or the "log_history" of a
// Hugging Face trainer_state.json; or there is one object of lists, as in a history of Keras. Nested keys are joined
// with '.'; text, booleans, nulls and lists are passed over; NaN, Infinity and -Infinity, which Python writes, are
// numbers. When the text ends inside a row (a log being written, a crash) that row is dropped; any other mistake is an
// Error with line and column.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace eureka {

struct JsonColumn {
  std::string name;
  std::vector<std::size_t> rows;  // ascending, from 0; a row without this key is left out
  std::vector<double> values;     // one for each of rows
};

struct JsonTable {
  std::vector<JsonColumn> columns;  // in order of first appearance, none of them empty
  std::size_t rows = 0;
  bool torn = false;  // the text ended inside a row
};

// `where` names the text in errors.
JsonTable parse_json_rows(std::string_view text, const std::string& where);

}  // namespace eureka
