#include "train/records/metrics_row.h"

#include <fmt/format.h>

#include <limits>

#include "io/json.h"

namespace eureka {
namespace {

constexpr RecordKind kKind{"a row of metrics", 1,
                           "the file was changed by hand: start the run again in another directory"};

}  // namespace

std::optional<double> MetricsRow::find(std::string_view name) const {
  for (const auto& [own, value] : numbers)
    if (own == name) return value;
  return std::nullopt;
}

double MetricsRow::at(std::string_view name) const {
  const auto value = find(name);
  EUREKA_CHECK(value, fmt::format("the row of metrics has '{}'", name));
  return *value;
}

bool judges_rather(std::string_view name, std::string_view known) {
  return known.empty() || (name.starts_with("val_") && !known.starts_with("val_"));
}

double MetricsRow::validation_metric() const {
  EUREKA_CHECK(!numbers.empty(), "a row of metrics has numbers");
  return numbers.front().second;
}

Json to_json(const MetricsRow& row) {
  Json json{{"step", row.step}};
  for (const auto& [name, value] : row.numbers) json[name] = value;
  return json;
}

std::string to_text(const MetricsRow& row) { return to_json(row).dump(); }

MetricsRow metrics_row(const RecordReader& fields) {
  MetricsRow row{.step = fields.get<std::int64_t>("step"), .numbers = {}};
  for (const std::string& key : fields.keys())
    if (key != "step")
      row.add(key, fields.get<std::optional<double>>(key).value_or(std::numeric_limits<double>::quiet_NaN()));
  if (row.numbers.empty()) fields.refuse("it has no numbers");
  return row;
}

MetricsRow parse_metrics_row(std::string_view line, const std::string& where, const std::vector<std::string>& needed) {
  const RecordReader fields(line, kKind, where);
  MetricsRow row = metrics_row(fields);
  for (const std::string& name : needed)
    if (!row.find(name)) fields.refuse(fmt::format("'{}' is missing", name));
  return row;
}

std::vector<MetricsRow> read_metrics(const fs::path& run_directory, const std::vector<std::string>& needed) {
  std::vector<MetricsRow> rows;
  for_each_line(run_directory / "metrics.jsonl", [&](std::string_view line, const std::string& where) {
    rows.push_back(parse_metrics_row(line, where, needed));
  });
  return rows;
}

}  // namespace eureka
