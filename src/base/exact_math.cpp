#include "base/exact_math.h"

#include <cmath>
#include <limits>

#include "base/error.h"
#include "base/exact_paths.h"

namespace eureka::exact {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kSmallestNormal = std::numeric_limits<double>::min();

// 2^exponent, for normal results.
double power_of_two(int exponent) { return std::bit_cast<double>(static_cast<std::uint64_t>(exponent + 1023) << 52); }

// x * 2^exponent; in two steps, since 2^exponent itself may be out of range.
double scaled(double x, int exponent) { return x * power_of_two(exponent / 2) * power_of_two(exponent - exponent / 2); }

// Rounds once, also where the result is subnormal.
double rounded(const Scaled& x) {
  const auto [value, exponent] = x;
  if (exponent > -1022 || (exponent == -1022 && value.high >= 1)) return scaled(value.high, exponent);
  // Beside 2^52 units of the subnormals' spacing the sum is rounded to that spacing.
  const double shift = power_of_two(-1022 - exponent);
  const DoubleDouble sum = two_sum(shift, value.high);
  return scaled(sum.high + rounded_to_odd(two_sum(sum.low, value.low)) - shift, exponent);
}

// Whether high + low rounds to the same double wherever the exact value is within kFastError.
bool settles(DoubleDouble fast) {
  const double error = kFastError * fast.high;
  return fast.high + (fast.low + error) == fast.high + (fast.low - error);
}

// 1 + x + x^2/2 + x^3/6 for |x| < 2^-30, rounded once: double-double is too short where x is next to nothing.
double one_plus_small(DoubleDouble x) {
  const DoubleDouble head = two_sum(1, x.high);
  const double curved = x.low + x.high * x.high * (0.5 + x.high / 6);
  return head.high + rounded_to_odd(two_sum(head.low, curved));
}
constexpr double kSmall = 0x1.0p-30;

// Whether base^exponent can be the midpoint of two doubles. It has 54 bits then: from 3 on no more than 34 factors, no
// root beyond the 32nd. Or it is a power of two below the smallest double.
bool may_tie(double base, double exponent) {
  const std::uint64_t mantissa = std::bit_cast<std::uint64_t>(base) & ((std::uint64_t{1} << 52) - 1);
  const bool power_of_two = (mantissa & (mantissa - 1)) == 0;  // and some others
  const bool few_factors = exponent > 0 && exponent <= 34 && exponent * 32 == nearest_whole(exponent * 32);
  return power_of_two || few_factors;
}

// What is within the error of pow from a midpoint is taken to be it.
Scaled without_error_at_ties(const Scaled& x) {
  constexpr double kShift = 0x1.8p-38;  // makes multiples of 2^-90
  return {ordered_two_sum(x.value.high, (x.value.low + kShift) - kShift), x.exponent};
}

// Out of line: the fast paths stay small.
[[gnu::noinline]] double exp_by_accurate_path(double x) {
  return std::abs(x) < kSmall ? one_plus_small({x}) : rounded(accurate_exp({x}));
}

[[gnu::noinline]] double log_by_accurate_path(double x) { return accurate_log(x).high; }

// Subnormal, zero, negative, infinite or not a number.
[[gnu::noinline]] double log_of_special(double x) {
  if (x == 0) return -kInfinity;
  if (x < 0) return kNan;
  if (!(x < kSmallestNormal)) return x;
  return accurate_log(x).high;
}

}  // namespace

double exp(double x) {
  if (std::abs(x) < 708) [[likely]] {
    const auto [value, exponent] = fast_exp(x);
    if (settles(value)) [[likely]]
      return value.high * power_of_two(exponent);
  } else if (!(std::abs(x) < 750)) {
    return x > 0 ? kInfinity : x < 0 ? 0 : x;
  }
  return exp_by_accurate_path(x);
}

float exp(float x) {
  if (!(std::abs(x) < 128)) return x > 0 ? std::numeric_limits<float>::infinity() : x < 0 ? 0 : x;
  const auto [value, exponent] = fast_exp(static_cast<double>(x));
  return static_cast<float>(rounded_to_odd(value) * power_of_two(exponent));
}

double log(double x) {
  if (!(x >= kSmallestNormal && x < kInfinity)) [[unlikely]]
    return log_of_special(x);
  const DoubleDouble fast = fast_log(x);
  if (settles(fast)) [[likely]]
    return fast.high;
  return log_by_accurate_path(x);
}

float log(float x) {
  const auto wide = static_cast<double>(x);
  if (!(wide > 0 && wide < kInfinity)) return static_cast<float>(log_of_special(wide));
  return static_cast<float>(rounded_to_odd(fast_log(wide)));
}

double sin(double x) {
  if (!(std::abs(x) < kInfinity)) return kNan;
  EUREKA_CHECK(std::abs(x) < 0x1.0p30, "exact::sin: argument too large");
  return std::abs(x) < 0x1.0p-27 ? x : accurate_sin(x).high;
}

double cos(double x) {
  if (!(std::abs(x) < kInfinity)) return kNan;
  EUREKA_CHECK(std::abs(x) < 0x1.0p30, "exact::cos: argument too large");
  return std::abs(x) < 0x1.0p-27 ? 1 : accurate_cos(x).high;
}

double pow(double base, double exponent) {
  if (base == 1 || exponent == 0) return 1;
  EUREKA_CHECK(!(base < 0), "exact::pow: negative base");
  const double about = exponent * log(base);
  if (!(std::abs(about) < 750)) return about > 0 ? kInfinity : about < 0 ? 0 : kNan;
  if (std::abs(about) < 0x1.0p-60) return 1;
  const DoubleDouble power = accurate_log(base) * DoubleDouble{exponent};
  if (std::abs(about) < kSmall) return one_plus_small(power);
  const Scaled result = accurate_exp(power);
  return rounded(may_tie(base, exponent) ? without_error_at_ties(result) : result);
}

}  // namespace eureka::exact
