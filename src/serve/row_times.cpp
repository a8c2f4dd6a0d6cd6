#include "serve/row_times.h"

#include <algorithm>
#include <map>

#include "base/error.h"
#include "io/tfevents.h"

namespace eureka::serve {
namespace {

constexpr std::uint64_t kMostBytes = 32 << 20;
constexpr std::size_t kMostFiles = 16;

}  // namespace

std::optional<std::vector<double>> row_times(const OpenDirectory& run, const std::vector<double>& steps) {
  const auto directory = run.below("tb");
  if (!directory || steps.empty()) return std::nullopt;
  std::map<double, double> written;  // a run that was resumed has written some steps twice: the last counts
  try {
    for (const std::string& name : directory->files("events.out.tfevents.", kMostFiles))
      for (const ScalarSeries& series : parse_tfevents(directory->read(name.c_str(), kMostBytes).value_or(""), name))
        for (const ScalarPoint& point : series.points) written[static_cast<double>(point.step)] = point.wall_time;
  } catch (const Error&) {
    return std::nullopt;
  }
  if (written.empty()) return std::nullopt;
  std::vector<double> seconds;
  for (const double step : steps) {
    const auto behind = written.upper_bound(step);
    const double at = behind == written.begin() ? behind->second : std::prev(behind)->second;
    seconds.push_back(std::max(at - written.begin()->second, seconds.empty() ? 0 : seconds.back()));
  }
  return seconds;
}

}  // namespace eureka::serve
