// Numbers of 106 bits as unevaluated sums of two doubles, made of IEEE +, -, *, / alone (Dekker 1971, Knuth). Products
// split their factors instead of using FMA, so every processor gives the same bits; compile with -ffp-contract=off.
// Everything is constexpr: tables can be made while compiling.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace eureka {

struct DoubleDouble {
  double high = 0, low = 0;  // high is the double nearest to the sum
};

// a + b without error.
constexpr DoubleDouble two_sum(double a, double b) {
  const double sum = a + b;
  const double b_part = sum - a;
  return {sum, (a - (sum - b_part)) + (b - b_part)};
}

// The same for |a| >= |b| or a = 0.
constexpr DoubleDouble ordered_two_sum(double a, double b) {
  const double sum = a + b;
  return {sum, b - (sum - a)};
}

// a * b without error, while nothing overflows or underflows.
constexpr DoubleDouble two_product(double a, double b) {
  constexpr double kSplitter = 0x1.0p27 + 1;
  const double a_scaled = kSplitter * a, b_scaled = kSplitter * b;
  const double a_head = a_scaled - (a_scaled - a), b_head = b_scaled - (b_scaled - b);
  const double a_tail = a - a_head, b_tail = b - b_head;
  const double product = a * b;
  return {product, ((a_head * b_head - product) + a_head * b_tail + a_tail * b_head) + a_tail * b_tail};
}

constexpr DoubleDouble operator-(DoubleDouble a) { return {-a.high, -a.low}; }

constexpr DoubleDouble operator+(DoubleDouble a, DoubleDouble b) {
  const DoubleDouble highs = two_sum(a.high, b.high), lows = two_sum(a.low, b.low);
  const DoubleDouble sum = ordered_two_sum(highs.high, highs.low + lows.high);
  return ordered_two_sum(sum.high, sum.low + lows.low);
}

constexpr DoubleDouble operator*(DoubleDouble a, DoubleDouble b) {
  const DoubleDouble product = two_product(a.high, b.high);
  return ordered_two_sum(product.high, product.low + (a.high * b.low + a.low * b.high));
}

constexpr DoubleDouble operator/(DoubleDouble a, DoubleDouble b) {
  const double first = a.high / b.high;
  const DoubleDouble rest = a + -(b * DoubleDouble{first});
  const double second = rest.high / b.high;
  const DoubleDouble rest_of_rest = rest + -(b * DoubleDouble{second});
  return ordered_two_sum(first, second) + DoubleDouble{rest_of_rest.high / b.high};
}

// c0 + x (c1 + x (c2 + ...)). From coefficient `rough` on, plain doubles do: the caller knows those terms are small.
template <std::size_t kTerms>
constexpr DoubleDouble power_series(const std::array<DoubleDouble, kTerms>& coefficients, DoubleDouble x,
                                    std::size_t rough = kTerms) {
  std::size_t term = kTerms;
  double tail = 0;
  while (term > rough) tail = tail * x.high + coefficients[--term].high;
  DoubleDouble sum = {tail};
  while (term > 0) sum = sum * x + coefficients[--term];
  return sum;
}

// The value with its lowest 27 bits cleared: products of two such heads are exact.
constexpr double head_of(double x) {
  return std::bit_cast<double>(std::bit_cast<std::uint64_t>(x) & ~((std::uint64_t{1} << 27) - 1));
}

// x rounded to odd: itself if it is a double, else whichever double next to it ends in a set bit. Rounding that to a
// format at least two bits shorter gives what rounding the whole sum at once would.
constexpr double rounded_to_odd(DoubleDouble x) {
  if (x.low == 0) return x.high;
  const bool inwards = (x.low < 0) == (x.high > 0);
  return std::bit_cast<double>((std::bit_cast<std::uint64_t>(x.high) - (inwards ? 1 : 0)) | 1);
}

}  // namespace eureka
