#include "stats/value_grain.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <string_view>

#include "base/exact_math.h"

namespace eureka {

namespace {

constexpr double kLeastSample = 1e-4;  // more samples than this tells of need no rule
constexpr double kMostSample = 0.02;   // a coarser grid tells of few values seen, not of few samples
constexpr double kOffMultiple = 0.02;  // logs are rounded
constexpr int kMostDigits = 7;         // a float as it is has more
constexpr double kMostUnit = 0.02;     // of the largest value: a coarser grid is a count

// value = d.ddd * 10^exponent with so many digits, the fewest that tell it from others.
struct Written {
  int digits = 0, exponent = 0;
};

Written written(double value) {
  std::array<char, 32> buffer{};
  const auto end =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), std::abs(value), std::chars_format::scientific).ptr;
  const std::string_view text(buffer.data(), static_cast<std::size_t>(end - buffer.data()));
  const std::size_t e = text.find('e');
  Written result{.digits = static_cast<int>(e > 1 ? e - 1 : e)};
  const std::size_t sign = e + 1;  // always there
  std::from_chars(text.data() + sign + (text[sign] == '+' ? 1 : 0), end, result.exponent);
  return result;
}

double power_of_ten(int exponent) { return exact::pow(10.0, exponent); }

}  // namespace

double one_sample_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  if (values.front() < 0 || values.back() > 1) return 0;
  double smallest = 1;
  for (std::size_t i = 1; i < values.size(); ++i)
    if (values[i] > values[i - 1] + kLeastSample / 2) smallest = std::min(smallest, values[i] - values[i - 1]);
  const auto is_multiple = [&](double value) {
    return std::abs(value / smallest - std::round(value / smallest)) < kOffMultiple;
  };
  return smallest >= kLeastSample && smallest <= kMostSample && std::ranges::all_of(values, is_multiple) ? smallest : 0;
}

Rounding::Rounding(std::span<const double> values) {
  int least = 0;
  double largest = 0;
  for (const double value : values) {
    if (value == 0) continue;
    const Written text = written(value);
    const int unit = text.exponent - text.digits + 1;
    least = digits_ == 0 ? unit : std::min(least, unit);
    digits_ = std::max(digits_, text.digits);
    largest = std::max(largest, std::abs(value));
  }
  least_ = power_of_ten(least);
  is_rounded_ = digits_ > 0 && digits_ <= kMostDigits && least_ <= kMostUnit * largest;
}

double Rounding::unit_at(double value) const {
  if (!is_rounded_) return 0;
  if (value == 0) return least_;
  return std::max(least_, power_of_ten(written(value).exponent + 1 - digits_));
}

}  // namespace eureka
