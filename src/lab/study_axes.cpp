#include "lab/study_axes.h"

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <set>

#include "base/exact_math.h"
#include "base/printable.h"
#include "base/suggest.h"

namespace eureka {
namespace {

constexpr std::string_view kAxes = "axes.";
constexpr std::int64_t kMostValues = 1000;

// One axis: the overrides of each of its values.
using Axis = std::vector<ConfigEntries>;

enum class Spacing { linear, log };
constexpr auto enum_names(Spacing) { return std::array{"linear", "log"}; }

struct RangeHead {
  double from = std::nan("");
  double to = std::nan("");
  std::int64_t points = 0;
  Spacing spacing = Spacing::linear;

  template <class V>
  void visit(V& v) {
    v("from", from, "the first value");
    v("to", to, "the last value");
    v("points", points, Range{2, kMostValues}, "how many values");
    v("spacing", spacing, "equal differences, or equal ratios");
  }
};

// { from, to, points, spacing } multiplied out.
Axis range_axis(const std::string& option, const ConfigEntries& parts) {
  const OptionList infos = describe<RangeHead>();
  const std::string where = parts.begin()->second.where;
  OptionValues values;
  for (const auto& [name, entry] : parts) {
    const OptionInfo* info = find_option(infos, name);
    if (info == nullptr)
      throw Error(ErrorKind::config, fmt::format("unknown key '{}' in the axis '{}'", name, option), entry.where,
                  did_you_mean(name, option_names(infos)));
    values[name] = check_option(*info, entry.value, fmt::format("axes.{}.{}", option, name), entry.where);
  }
  RangeHead range;
  assign(range, values);
  const bool positive = range.from > 0 && range.to > 0;
  if (!std::isfinite(range.from) || !std::isfinite(range.to) || range.points == 0 ||
      (range.spacing == Spacing::log && !positive))
    throw Error(ErrorKind::config, fmt::format("the axis '{}' needs from, to and points", option), where,
                "for example { from = 1e-3, to = 8e-3, points = 4, spacing = \"log\" }; log needs both above 0");
  Axis axis;
  for (std::int64_t i = 0; i < range.points; ++i) {
    const double share = static_cast<double>(i) / static_cast<double>(range.points - 1);
    const double value = range.spacing == Spacing::log ? range.from * exact::pow(range.to / range.from, share)
                                                       : range.from + (range.to - range.from) * share;
    // Six digits are what a person would have written, and what fits in a name.
    axis.push_back({{option, {std::stod(fmt::format("{:.6g}", value)), where}}});
  }
  return axis;
}

std::vector<Axis> read_axes(const ConfigDocument& document, const std::string& file_name) {
  std::map<std::string, Axis> by_option;
  for (const auto& [key, list] : document.lists) {
    if (!key.starts_with(kAxes)) continue;
    const std::string option = key.substr(kAxes.size());
    if (list.empty()) throw Error(ErrorKind::config, fmt::format("the axis '{}' has no values", option), file_name);
    for (const ConfigEntry& entry : list) by_option[option].push_back({{option, entry}});
  }
  std::map<std::string, ConfigEntries> ranges;
  for (const auto& [key, entry] : document.entries) {
    if (!key.starts_with(kAxes)) continue;
    const std::size_t dot = key.rfind('.');
    if (dot < kAxes.size() || find_option(describe<RangeHead>(), key.substr(dot + 1)) == nullptr)
      throw Error(ErrorKind::config, fmt::format("the axis '{}' has one value only", key.substr(kAxes.size())),
                  entry.where, "an axis is a list [1, 2, 3], or { from = 1, to = 3, points = 3 }");
    ranges[key.substr(kAxes.size(), dot - kAxes.size())][key.substr(dot + 1)] = entry;
  }
  for (const auto& [option, parts] : ranges) by_option[option] = range_axis(option, parts);
  std::vector<Axis> axes;
  if (const auto list = document.tables.find("axes.list"); list != document.tables.end()) axes.push_back(list->second);
  for (auto& [option, axis] : by_option) axes.push_back(std::move(axis));
  return axes;
}

std::string value_text(const OptionValue& value) {
  const auto* text = std::get_if<std::string>(&value);
  return text != nullptr ? *text : to_toml(value);
}

// "train.lr=0.003,task.noise=0.1"
std::string point_name(const ConfigEntries& overrides) {
  std::string name;
  for (const auto& [key, entry] : overrides)
    name += fmt::format("{}{}={}", name.empty() ? "" : ",", key, value_text(entry.value));
  return name;
}

}  // namespace

std::vector<StudyPoint> read_points(const ConfigDocument& document, const std::string& file_name) {
  std::vector<StudyPoint> points(1);
  for (const Axis& axis : read_axes(document, file_name)) {
    std::vector<StudyPoint> longer;
    for (const StudyPoint& point : points)
      for (const ConfigEntries& value : axis) {
        longer.push_back(point);
        for (const auto& [key, entry] : value)
          if (!longer.back().overrides.emplace(key, entry).second)
            throw Error(ErrorKind::config, fmt::format("two axes are over '{}'", key), entry.where);
      }
    points = std::move(longer);
    if (points.size() > static_cast<std::size_t>(kMostValues))
      throw Error(ErrorKind::config, fmt::format("the axes have more than {} points", kMostValues), file_name);
  }
  std::set<std::string> names;
  for (StudyPoint& point : points) {
    point.name = point_name(point.overrides);
    const std::string where = point.overrides.empty() ? file_name : point.overrides.begin()->second.where;
    if (!names.insert(point.name).second)
      throw Error(ErrorKind::config, fmt::format("the point {} is there twice", point.name), where);
    if (point.name.find_first_of("/\\\"") != std::string::npos || !is_printable(point.name) || point.name.size() > 200)
      throw Error(ErrorKind::config, fmt::format("the point '{}' cannot name a directory", point.name), where,
                  "make it an [[arm]] with a name of its own");
  }
  return points;
}

}  // namespace eureka
