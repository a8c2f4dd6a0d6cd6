#include "io/number_lists.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace eureka {
namespace {

constexpr std::string_view kSteps = ".steps", kValues = ".values", kHistory = "history.";

const NumberList* find(const std::vector<NumberList>& lists, const std::string& name) {
  const auto found = std::find_if(lists.begin(), lists.end(), [&](const NumberList& one) { return one.name == name; });
  return found == lists.end() ? nullptr : &*found;
}

// A metric of Sacred: values, and the steps they belong to.
struct Metric {
  std::string name;
  const NumberList* steps;
  const NumberList* values;
};

std::vector<Metric> metrics_with_steps(const std::vector<NumberList>& lists) {
  std::vector<Metric> metrics;
  for (const NumberList& list : lists) {
    if (!list.name.ends_with(kSteps)) continue;
    const std::string name = list.name.substr(0, list.name.size() - kSteps.size());
    const NumberList* values = find(lists, name + std::string(kValues));
    if (values != nullptr && values->values.size() == list.values.size()) metrics.push_back({name, &list, values});
  }
  return metrics;
}

JsonTable by_steps(const std::vector<Metric>& metrics) {
  std::map<double, std::size_t> row_of;
  for (const Metric& metric : metrics)
    for (const double step : metric.steps->values)
      if (step == step) row_of.emplace(step, 0);
  JsonTable table;
  JsonColumn steps{"step", {}, {}};
  for (auto& [step, row] : row_of) {
    row = table.rows++;
    steps.rows.push_back(row);
    steps.values.push_back(step);
  }
  table.columns.push_back(std::move(steps));
  for (const Metric& metric : metrics) {
    std::map<std::size_t, double> values;  // of a step that was logged twice the last counts
    for (std::size_t i = 0; i < metric.values->values.size(); ++i)
      if (const auto row = row_of.find(metric.steps->values[i]); row != row_of.end())
        values[row->second] = metric.values->values[i];
    JsonColumn column{metric.name, {}, {}};
    for (const auto& [row, value] : values) {
      column.rows.push_back(row);
      column.values.push_back(value);
    }
    table.columns.push_back(std::move(column));
  }
  return table;
}

JsonTable by_epoch(const std::vector<NumberList>& lists) {
  JsonTable table;
  for (const NumberList& list : lists) {
    const bool inside = list.name.starts_with(kHistory);
    JsonColumn column{inside ? list.name.substr(kHistory.size()) : list.name, {}, list.values};
    column.rows.resize(list.values.size());
    std::iota(column.rows.begin(), column.rows.end(), std::size_t{0});
    table.rows = std::max(table.rows, column.rows.size());
    if (!column.values.empty()) table.columns.push_back(std::move(column));
  }
  const auto is_epoch = [](const JsonColumn& column) { return column.name == "epoch"; };
  if (table.columns.empty() || std::any_of(table.columns.begin(), table.columns.end(), is_epoch)) return table;
  JsonColumn epochs{"epoch", {}, {}};
  for (std::size_t row = 0; row < table.rows; ++row) {
    epochs.rows.push_back(row);
    epochs.values.push_back(static_cast<double>(row + 1));
  }
  table.columns.insert(table.columns.begin(), std::move(epochs));
  return table;
}

}  // namespace

JsonTable columns_of_lists(const std::vector<NumberList>& lists) {
  const std::vector<Metric> metrics = metrics_with_steps(lists);
  return metrics.empty() ? by_epoch(lists) : by_steps(metrics);
}

}  // namespace eureka
