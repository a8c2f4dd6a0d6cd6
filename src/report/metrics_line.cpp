#include "report/metrics_line.h"

#include <charconv>
#include <cmath>
#include <limits>

namespace eureka {

void MetricsLine::parse(std::string_view line) {
  if (parse_plain(line)) return;
  strict_ = parse_metrics_row(line, "");
  step_ = static_cast<double>(strict_.step);
  numbers_.assign(strict_.numbers.begin(), strict_.numbers.end());
}

std::optional<double> MetricsLine::find(std::string_view name) const {
  for (const auto& [known, value] : numbers_)
    if (known == name) return value;
  return std::nullopt;
}

// {"step":25,"val_loss":0.5,"x":null}
bool MetricsLine::parse_plain(std::string_view line) {
  numbers_.clear();
  if (line.size() < 2 || line.front() != '{' || line.back() != '}') return false;
  line = line.substr(1, line.size() - 2);
  step_ = -1;
  while (!line.empty()) {
    if (line.front() != '"') return false;
    const std::size_t end = line.find('"', 1);
    if (end == std::string_view::npos || end + 1 >= line.size() || line[end + 1] != ':') return false;
    const std::string_view name = line.substr(1, end - 1);
    if (name.find('\\') != std::string_view::npos) return false;
    line.remove_prefix(end + 2);
    double value = std::numeric_limits<double>::quiet_NaN();
    if (line.starts_with("null")) {
      line.remove_prefix(4);
    } else {
      const auto [rest, problem] = std::from_chars(line.data(), line.data() + line.size(), value);
      // JSON knows no names of numbers.
      if (problem != std::errc() || !std::isfinite(value)) return false;
      line.remove_prefix(static_cast<std::size_t>(rest - line.data()));
    }
    if (!line.empty() && (line.front() != ',' || line.size() == 1)) return false;
    if (!line.empty()) line.remove_prefix(1);
    if (name == "format") return false;
    if (name == "step")
      step_ = value;
    else
      numbers_.emplace_back(name, value);
  }
  return step_ >= 0 && step_ == std::floor(step_) && !numbers_.empty();
}

}  // namespace eureka
