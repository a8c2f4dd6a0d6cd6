// One row of metrics.jsonl: a step and any number of named numbers, in order. Whoever has a number to report adds it;
// the file, TensorBoard and the observers of a run take whatever is in the row.
//
//   MetricsRow row{.step = 25};
//   row.add("val_accuracy", 0.61);
//   row.find("val_accuracy")                     0.61
//   std::vector<MetricsRow> rows = read_metrics("runs/a");
//
// A number that is not finite is written as null, and read as NaN.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/files.h"
#include "io/json.h"
#include "train/records/record.h"

namespace eureka {

struct MetricsRow {
  std::int64_t step = 0;                                // updates done
  std::vector<std::pair<std::string, double>> numbers;  // first what the run is judged by, on the validation samples

  void add(std::string name, double value) { numbers.emplace_back(std::move(name), value); }
  std::optional<double> find(std::string_view name) const;

  // One that must be there: see `needed` below.
  double at(std::string_view name) const;

  double validation_metric() const;
};

// Whether a run is judged by this number rather than by `known`: by the first of all, until there is one on validation
// samples. Only of a run that was watched in another program may the first rows lack it.
bool judges_rather(std::string_view name, std::string_view known);

inline constexpr const char* kValidationLoss = "val_loss";

// One line of JSON, without its end; and the object in it, for a record that holds a row.
std::string to_text(const MetricsRow& row);
Json to_json(const MetricsRow& row);
MetricsRow metrics_row(const RecordReader& fields);

// Throws Error(input) at `where` when it is no row, or lacks a number that is `needed`.
MetricsRow parse_metrics_row(std::string_view line, const std::string& where,
                             const std::vector<std::string>& needed = {});

// All whole lines of a run's metrics.jsonl; a torn last one, left by a crash, is dropped. Throws Error(input) with file
// and line.
std::vector<MetricsRow> read_metrics(const fs::path& run_directory, const std::vector<std::string>& needed = {});

}  // namespace eureka
