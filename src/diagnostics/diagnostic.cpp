#include "diagnostics/diagnostic.h"

#include <fmt/format.h>

#include <cmath>

namespace eureka {

void NumberRow::append(const std::string& name, double value) {
  if (std::isfinite(value)) numbers_.emplace_back(diagnostic_ + "/" + name, value);
}

void NumberRow::add(const std::string& number, int layer, double value) {
  append(fmt::format("{}/layer{}", number, layer), value);
}

void NumberRow::add_heads(const std::string& number, int layer, const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  add(number, layer, sum / static_cast<double>(values.size()));
  for (std::size_t head = 0; head < values.size(); ++head)
    append(fmt::format("{}/layer{}/head{}", number, layer, head), values[head]);
}

}  // namespace eureka
