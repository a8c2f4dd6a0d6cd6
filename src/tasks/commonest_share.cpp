#include "tasks/commonest_share.h"

#include <vector>

namespace eureka {
namespace {

using Series = std::vector<double>;  // coefficients of a power series, cut off after as many

Series product(const Series& a, const Series& b) {
  Series c(a.size(), 0.0);
  for (std::size_t i = 0; i < a.size(); ++i)
    for (std::size_t k = 0; k + i < a.size() && a[i] != 0; ++k) c[i + k] += a[i] * b[k];
  return c;
}

Series power(Series base, std::int64_t exponent) {
  Series result(base.size(), 0.0);
  result[0] = 1;
  for (; exponent > 0; exponent /= 2, base = product(base, base))
    if (exponent % 2 == 1) result = product(result, base);
  return result;
}

}  // namespace

// P(no value more than m times) is a coefficient of (sum over k <= m of z^k / k!)^values, z = x draws / values, over
// that of the whole exponential series.
double commonest_share(std::int64_t draws, std::int64_t values) {
  const auto size = static_cast<std::size_t>(draws) + 1;
  double all = 1;
  for (std::int64_t k = 1; k <= draws; ++k) all *= static_cast<double>(draws) / static_cast<double>(k);
  Series capped(size, 0.0);
  capped[0] = 1;
  double term = 1, expected = 1;
  for (std::size_t most = 1; most < size; ++most) {
    term *= static_cast<double>(draws) / static_cast<double>(values) / static_cast<double>(most);
    capped[most] = term;
    const double more = 1 - power(capped, values).back() / all;
    if (more < 1e-12) break;
    expected += more;
  }
  return expected / static_cast<double>(draws);
}

}  // namespace eureka
