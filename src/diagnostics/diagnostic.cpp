#include "diagnostics/diagnostic.h"

#include <fmt/format.h>

#include <cmath>
#include <map>

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

std::string unit_of_number(const std::string& diagnostic, const std::string& number) {
  static const std::map<std::pair<std::string, std::string>, std::string> units = [] {
    std::map<std::pair<std::string, std::string>, std::string> found;
    for (const std::string& name : Registry<Diagnostic>::instance().names())
      for (const NumberInfo& info : Registry<Diagnostic>::instance().make(name)->numbers())
        found[{name, info.name}] = info.unit;
    return found;
  }();
  const auto unit = units.find({diagnostic, number});
  return unit != units.end() ? unit->second : "";
}

}  // namespace eureka
