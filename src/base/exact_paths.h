// The two ways to a value that exact_math.h rounds; for that file and for tests. A fast path is right to 65 bits,
// enough to round all but one result in a thousand; an accurate one serves the rest.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "base/double_double.h"
#include "base/exact_tables.h"

namespace eureka::exact {

// value * 2^exponent
struct Scaled {
  DoubleDouble value;
  int exponent = 0;
};

// Relative error of the fast paths.
constexpr double kFastError = 0x1.0p-65;

// `x` positive and finite, for the fast path normal as well. Relative error of the accurate path below 2^-102.
inline DoubleDouble fast_log(double x);
DoubleDouble accurate_log(double x);

// |x| < 750. The value lies between 0.99 and 2; the relative error of the accurate path is below 2^-102.
inline Scaled fast_exp(double x);
Scaled accurate_exp(DoubleDouble x);

// |x| < 2^30 and not so small that its square underflows. Relative errors below 2^-102, near the zeros too.
DoubleDouble accurate_sin(double x);
DoubleDouble accurate_cos(double x);

// The nearest whole number, for |x| < 2^51.
inline double nearest_whole(double x) { return (x + 0x1.8p52) - 0x1.8p52; }

// x = 2^exponent mantissa with the mantissa between sqrt(1/2) and sqrt(2); mantissa times the cell's inverse is
// 1 + rest, exactly.
struct LogReduction {
  double exponent;
  const LogCell& cell;
  DoubleDouble rest;
};

inline LogReduction reduce_for_log(double x) {
  const auto bits = std::bit_cast<std::int64_t>(x);
  constexpr std::int64_t kBitsOfRootHalf = 0x3fe6a09e667f3bcd;
  const std::int64_t exponent = (bits - kBitsOfRootHalf) >> 52;
  const double mantissa = std::bit_cast<double>(bits - exponent * (std::int64_t{1} << 52));
  const LogCell& cell = kLogTable[static_cast<std::size_t>(mantissa * kLogSteps + 0.5) - kFirstLogCell];
  const double head = head_of(mantissa);
  return {static_cast<double>(exponent), cell, two_sum(head * cell.inverse - 1, (mantissa - head) * cell.inverse)};
}

inline DoubleDouble fast_log(double x) {
  const auto [exponent, cell, rest] = reduce_for_log(x);
  const double r = rest.high, r2 = r * r;
  // r - r^2/2 + r^3/3 - ...: the first two terms in two parts, the others in one.
  const double head = head_of(r);
  const double tail = (r - head) + rest.low;
  const DoubleDouble first = ordered_two_sum(exponent * kLn2Parts[0] + cell.high, r);
  const DoubleDouble second = ordered_two_sum(first.high, -0.5 * head * head);
  const double cubic = r * r2 * ((1.0 / 3 - r / 4) + r2 * ((0.2 - r / 6) + r2 * ((1.0 / 7 - r / 8) + r2 * (1.0 / 9))));
  const double small = (exponent * kLn2Parts[1] + cell.low) + (rest.low - 0.5 * tail * (r + head));
  return ordered_two_sum(second.high, ((first.low + second.low) + small) + cubic);
}

inline Scaled fast_exp(double x) {
  const double steps = nearest_whole(x * (kExpSteps / kLn2.high));
  const auto whole = static_cast<int>(steps);
  const double high = x - steps * kExpStepParts[0], low = steps * (kExpStepParts[1] + kExpStepParts[2]);
  const double r = high - low, r2 = r * r;
  const double head = head_of(r);
  const double tail = (high - head) - low;
  // exp(r) - 1 - r
  const double curved = r2 * ((0.5 + r / 6) + r2 * ((1.0 / 24 + r / 120) + r2 * (1.0 / 720)));
  const DoubleDouble power = kExpTable[static_cast<std::size_t>(whole) % kExpSteps];
  const double power_head = head_of(power.high);
  const double power_tail = (power.high - power_head) + power.low;
  const DoubleDouble sum = ordered_two_sum(power_head, power_head * head);
  const double small = power_tail + power_tail * (r + curved) + power_head * (tail + curved);
  return {ordered_two_sum(sum.high, sum.low + small), whole >> 7};
}

}  // namespace eureka::exact
