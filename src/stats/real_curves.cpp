#include "stats/real_curves.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <limits>

#include "base/embedded.h"
#include "base/error.h"

namespace eureka {

namespace {

// Columns of a line, separated by tabs; the values of the curve by spaces.
enum Field { kKind, kSource, kDirection, kLevel, kTruth, kStep, kWidth, kFirst, kSpacing, kValues, kFields };

class LineReader {
 public:
  LineReader(std::string_view line, std::string where) : where_(std::move(where)) {
    for (std::string_view& field : fields_) field = next(line, '\t');
  }

  std::string_view text(Field field) const { return fields_[field]; }

  double number(std::string_view text) const {
    if (text == "nan") return std::numeric_limits<double>::quiet_NaN();
    double value = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (problem != std::errc() || end != text.data() + text.size())
      throw Error(ErrorKind::input, fmt::format("'{}' is no number", text), where_);
    return value;
  }
  double number(Field field) const { return number(fields_[field]); }

  std::vector<CurvePoint> points() const {
    std::vector<CurvePoint> points;
    const double first = number(kFirst), spacing = number(kSpacing);
    for (std::string_view rest = fields_[kValues]; !rest.empty();)
      points.push_back({first + spacing * static_cast<double>(points.size()), number(next(rest, ' '))});
    return points;
  }

 private:
  static std::string_view next(std::string_view& rest, char separator) {
    const std::size_t end = std::min(rest.size(), rest.find(separator));
    const std::string_view part = rest.substr(0, end);
    rest.remove_prefix(std::min(rest.size(), end + 1));
    return part;
  }

  std::string where_;
  std::array<std::string_view, kFields> fields_;
};

LabeledCurve curve_of(const LineReader& line) {
  LabeledCurve curve;
  curve.kind = line.text(kKind);
  curve.source = line.text(kSource);
  curve.direction = line.text(kDirection) == "up" ? Direction::up : Direction::down;
  if (line.text(kLevel) != "-") curve.plateau_level = line.number(kLevel);
  const std::string_view truth = line.text(kTruth);
  curve.ending = truth == "under_way" ? Ending::before_half_way
                 : truth == "either"  ? Ending::past_half_way
                                      : Ending::at_rest;
  if (truth == "moment" || truth == "either") curve.moments.push_back({line.number(kStep), line.number(kWidth)});
  curve.is_positive = !curve.moments.empty();
  curve.points = line.points();
  return curve;
}

}  // namespace

std::vector<LabeledCurve> parse_real_curves(std::string_view text, const std::string& where) {
  std::vector<LabeledCurve> curves;
  while (!text.empty()) {
    const std::size_t end = std::min(text.size(), text.find('\n'));
    curves.push_back(curve_of(LineReader(text.substr(0, end), fmt::format("{}:{}", where, curves.size() + 1))));
    text.remove_prefix(std::min(text.size(), end + 1));
  }
  return curves;
}

std::vector<LabeledCurve> real_curves(CurveHalf half) {
  const std::string_view name = half == CurveHalf::tuning ? "tuning.tsv" : "held_out.tsv";
  for (const EmbeddedFile& file : real_curve_files::files()) {
    if (file.name == name) return parse_real_curves(file.text, std::string(name));
  }
  EUREKA_CHECK(false, "the real curves are not compiled in");
  return {};
}

}  // namespace eureka
