#include "base/exact_paths.h"

#include <array>
#include <limits>

namespace eureka::exact {
namespace {

// The factorial series' terms of one parity from `first` on, with alternating signs: -1/first!, 1/(first + 2)!, ...
template <std::size_t kTerms>
constexpr std::array<DoubleDouble, kTerms> alternating_factorials(std::size_t first) {
  const auto all = inverse_factorials<2 * kTerms + 3>();
  std::array<DoubleDouble, kTerms> terms;
  for (std::size_t i = 0; i < kTerms; ++i) terms[i] = i % 2 == 0 ? -all[first + 2 * i] : all[first + 2 * i];
  return terms;
}

// x = quadrant pi/2 + rest, |rest| <= pi/4.
struct AngleReduction {
  int quadrant;
  DoubleDouble rest;
};

AngleReduction reduce_angle(double x) {
  const double quarters = nearest_whole(x / kHalfPiParts[0]);
  std::array<double, 9> terms = {x};
  for (std::size_t i = 0; i < 4; ++i) {
    const DoubleDouble product = two_product(-quarters, kHalfPiParts[i]);
    terms[2 * i + 1] = product.high;
    terms[2 * i + 2] = product.low;
  }
  // Near a multiple of pi/2 the leading terms cancel; three passes leave as much precision as if summed in fourfold
  // (Ogita, Rump, Oishi 2005).
  for (int pass = 0; pass < 3; ++pass) {
    for (std::size_t i = terms.size() - 1; i > 0; --i) {
      const DoubleDouble sum = two_sum(terms[i - 1], terms[i]);
      terms[i - 1] = sum.high;
      terms[i] = sum.low;
    }
  }
  double low = 0;
  for (std::size_t i = terms.size() - 1; i > 0; --i) low += terms[i];
  return {static_cast<int>(quarters), ordered_two_sum(terms[0], low)};
}

DoubleDouble sin_of_rest(DoubleDouble r) {
  constexpr auto kTerms = alternating_factorials<13>(3);
  const DoubleDouble square = r * r;
  return r + r * (square * power_series(kTerms, square, 8));
}

DoubleDouble cos_of_rest(DoubleDouble r) {
  constexpr auto kTerms = alternating_factorials<14>(2);
  const DoubleDouble square = r * r;
  return DoubleDouble{1} + square * power_series(kTerms, square, 9);
}

DoubleDouble sin_in_quadrant(int quadrant, DoubleDouble rest) {
  const DoubleDouble value = quadrant % 2 == 0 ? sin_of_rest(rest) : cos_of_rest(rest);
  return (quadrant & 2) == 0 ? value : -value;
}

}  // namespace

DoubleDouble accurate_log(double x) {
  const bool subnormal = x < std::numeric_limits<double>::min();
  const auto [scaled_exponent, cell, r] = reduce_for_log(subnormal ? x * 0x1.0p54 : x);
  const double exponent = subnormal ? scaled_exponent - 54 : scaled_exponent;
  constexpr auto kTerms = inverse_progression<13>(-1, 2, 1);
  const DoubleDouble series = r + r * r * power_series(kTerms, r, 7);
  const DoubleDouble high = two_sum(exponent * kLn2Parts[0] + cell.high, exponent * kLn2Parts[1]);
  const DoubleDouble low = DoubleDouble{cell.low, cell.lowest} + DoubleDouble{exponent * kLn2Parts[2]};
  return high + low + series;
}

Scaled accurate_exp(DoubleDouble x) {
  const double steps = nearest_whole(x.high * (kExpSteps / kLn2.high));
  const auto whole = static_cast<int>(steps);
  const DoubleDouble r =
      two_sum(x.high - steps * kExpStepParts[0], -steps * kExpStepParts[1]) + two_sum(x.low, -steps * kExpStepParts[2]);
  constexpr auto kTerms = inverse_factorials<12>();
  const DoubleDouble power = kExpTable[static_cast<std::size_t>(whole) % kExpSteps];
  return {power * power_series(kTerms, r, 6), whole >> 7};
}

DoubleDouble accurate_sin(double x) {
  const auto [quadrant, rest] = reduce_angle(x);
  return sin_in_quadrant(quadrant, rest);
}

DoubleDouble accurate_cos(double x) {
  const auto [quadrant, rest] = reduce_angle(x);
  return sin_in_quadrant(quadrant + 1, rest);
}

}  // namespace eureka::exact
