// Constants and tables of exact_paths.h, made while compiling.
#pragma once

#include <array>
#include <cstddef>

#include "base/double_double.h"

namespace eureka::exact {

// Sums of parts; the first ones are short, so that whole numbers times them are exact.
constexpr double kLn2Parts[] = {0x1.62e42fefa38p-1, 0x1.ef35793c768p-45, -0x1.9ff0342542fc3p-90};
constexpr double kHalfPiParts[] = {0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54, -0x1.f1976b7ed8fbcp-110,
                                   0x1.4cf98e804177dp-164};
constexpr DoubleDouble kLn2 = {0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56};

// 1/0!, 1/1!, 1/2!, ...
template <std::size_t kTerms>
constexpr std::array<DoubleDouble, kTerms> inverse_factorials() {
  std::array<DoubleDouble, kTerms> terms = {DoubleDouble{1}};
  for (std::size_t i = 1; i < kTerms; ++i) terms[i] = terms[i - 1] / DoubleDouble{static_cast<double>(i)};
  return terms;
}

// sign / first, sign^2 / (first + step), sign^3 / (first + 2 step), ...
template <std::size_t kTerms>
constexpr std::array<DoubleDouble, kTerms> inverse_progression(double sign, double first, double step) {
  std::array<DoubleDouble, kTerms> terms;
  double numerator = sign;
  for (std::size_t i = 0; i < kTerms; ++i, numerator *= sign)
    terms[i] = DoubleDouble{numerator} / DoubleDouble{first + step * static_cast<double>(i)};
  return terms;
}

// 2^(i / 128). exp(x) = 2^(whole / 128) exp(rest) with |rest| <= ln 2 / 256.
constexpr int kExpSteps = 128;
constexpr double kExpStepParts[] = {0x1.62e42fef8p-8, 0x1.1cf79abc8p-43, 0x1.e3b39803f2f6bp-79};  // ln 2 / 128
constexpr auto kExpTable = [] {
  std::array<DoubleDouble, kExpSteps> table;
  constexpr auto kTerms = inverse_factorials<28>();
  for (std::size_t i = 0; i < table.size(); ++i)
    table[i] = power_series(kTerms, kLn2 * DoubleDouble{static_cast<double>(i) / kExpSteps});
  return table;
}();

// log m = -log inverse + log(m inverse) for a mantissa m near cell / 128: the inverse has 13 bits, so that m inverse is
// exact in two parts, and is 1 where m is near 1. -log inverse = high + low + lowest; high is a multiple of 2^-42, so
// that it adds to multiples of kLn2Parts[0] without error.
struct LogCell {
  double inverse, high, low, lowest;
};
constexpr int kLogSteps = 128;
constexpr std::size_t kFirstLogCell = 90, kLastLogCell = 181;  // 128 sqrt(1/2), 128 sqrt(2)
constexpr auto kLogTable = [] {
  std::array<LogCell, kLastLogCell - kFirstLogCell + 1> table;
  constexpr auto kTerms = inverse_progression<24>(1, 1, 2);
  for (std::size_t i = 0; i < table.size(); ++i) {
    const auto steps = static_cast<std::int64_t>(kFirstLogCell + i);
    const double inverse = static_cast<double>(((std::int64_t{kLogSteps} << 13) / steps + 1) >> 1) * 0x1.0p-12;
    // log y = 2 atanh((y - 1) / (y + 1))
    const DoubleDouble s = DoubleDouble{1 - inverse} / DoubleDouble{1 + inverse};
    const DoubleDouble log = DoubleDouble{2} * s * power_series(kTerms, s * s);
    const double high = (log.high + 0x1.8p10) - 0x1.8p10;
    const DoubleDouble rest = DoubleDouble{log.high - high} + DoubleDouble{log.low};
    table[i] = {inverse, high, rest.high, rest.low};
  }
  return table;
}();

}  // namespace eureka::exact
