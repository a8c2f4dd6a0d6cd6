#include "stats/distributions.h"

#include <cmath>
#include <numbers>

#include "base/error.h"

namespace eureka {
namespace {

// Regularized incomplete beta function by its continued fraction (modified Lentz), for x <= (a + 1) / (a + b + 2).
double beta_fraction(double a, double b, double x) {
  constexpr double tiny = 1e-300;
  double c = 1, d = 1 - (a + b) * x / (a + 1);
  d = 1 / (std::abs(d) < tiny ? tiny : d);
  double value = d;
  for (int m = 1; m <= 1000; ++m) {
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    for (const double term : {even, odd}) {
      d = 1 + term * d;
      c = 1 + term / c;
      d = 1 / (std::abs(d) < tiny ? tiny : d);
      if (std::abs(c) < tiny) c = tiny;
      value *= d * c;
    }
    if (std::abs(d * c - 1) < 1e-16) break;
  }
  return value;
}

double incomplete_beta(double a, double b, double x) {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  const double front =
      std::exp(std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) + a * std::log(x) + b * std::log1p(-x));
  if (x <= (a + 1) / (a + b + 2)) return front * beta_fraction(a, b, x) / a;
  return 1 - front * beta_fraction(b, a, 1 - x) / b;
}

// The increasing function's argument at which it is `target`.
template <class Function>
double solve_increasing(const Function& function, double target) {
  double low = -1, high = 1;
  while (function(low) > target) low *= 2;
  while (function(high) < target) high *= 2;
  for (int i = 0; i < 200 && low < high; ++i) {
    const double middle = 0.5 * (low + high);
    if (middle <= low || middle >= high) break;
    (function(middle) < target ? low : high) = middle;
  }
  return 0.5 * (low + high);
}

void check_probability(double probability) {
  EUREKA_CHECK(probability > 0 && probability < 1, "a quantile needs a probability between 0 and 1");
}

}  // namespace

double normal_cdf(double z) { return 0.5 * std::erfc(-z / std::numbers::sqrt2); }

double normal_quantile(double probability) {
  check_probability(probability);
  // the upper half through the lower one, where the tail keeps its digits
  if (probability > 0.5) return -normal_quantile(1 - probability);
  return solve_increasing(normal_cdf, probability);
}

double chi_square_tail(double x) { return x <= 0 ? 1 : std::erfc(std::sqrt(x / 2)); }

double chi_square_quantile(double probability) {
  check_probability(probability);
  const double z = normal_quantile(0.5 + 0.5 * probability);
  return z * z;
}

double student_t_cdf(double t, double degrees) {
  const double tail = 0.5 * incomplete_beta(degrees / 2, 0.5, degrees / (degrees + t * t));
  return t > 0 ? 1 - tail : tail;
}

double student_t_quantile(double probability, double degrees) {
  check_probability(probability);
  EUREKA_CHECK(degrees > 0, "Student's t needs degrees of freedom");
  if (probability > 0.5) return -student_t_quantile(1 - probability, degrees);
  return solve_increasing([degrees](double t) { return student_t_cdf(t, degrees); }, probability);
}

double fair_coin_cdf(std::size_t heads, std::size_t tosses) {
  if (heads >= tosses) return 1;
  const auto n = static_cast<double>(tosses);
  double sum = 0;
  for (std::size_t k = 0; k <= heads; ++k) {
    const auto hits = static_cast<double>(k);
    sum += std::exp(std::lgamma(n + 1) - std::lgamma(hits + 1) - std::lgamma(n - hits + 1) - n * std::numbers::ln2);
  }
  return sum;
}

}  // namespace eureka
