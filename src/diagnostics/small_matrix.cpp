#include "diagnostics/small_matrix.h"

#include <cmath>

namespace eureka {

std::vector<double> symmetric_eigenvalues(SmallMatrix a) {
  const std::size_t n = a.rows;
  double whole = 0;
  for (const double value : a.values) whole += value * value;
  constexpr int kMostSweeps = 60;
  constexpr double kDone = 1e-30;  // of the square of the whole matrix
  for (int sweep = 0; sweep < kMostSweeps; ++sweep) {
    double off = 0;
    for (std::size_t p = 0; p < n; ++p)
      for (std::size_t q = p + 1; q < n; ++q) off += 2 * a(p, q) * a(p, q);
    if (!(off > kDone * whole)) break;
    for (std::size_t p = 0; p < n; ++p)
      for (std::size_t q = p + 1; q < n; ++q) {
        if (a(p, q) == 0) continue;
        const double theta = (a(q, q) - a(p, p)) / (2 * a(p, q));
        const double t = (theta < 0 ? -1 : 1) / (std::abs(theta) + std::sqrt(theta * theta + 1));
        const double c = 1 / std::sqrt(t * t + 1), s = t * c;
        for (std::size_t i = 0; i < n; ++i) {
          const double x = a(p, i), y = a(q, i);
          a(p, i) = c * x - s * y;
          a(q, i) = s * x + c * y;
        }
        for (std::size_t i = 0; i < n; ++i) {
          const double x = a(i, p), y = a(i, q);
          a(i, p) = c * x - s * y;
          a(i, q) = s * x + c * y;
        }
      }
  }
  std::vector<double> eigenvalues;
  for (std::size_t i = 0; i < n; ++i) eigenvalues.push_back(a(i, i));
  return eigenvalues;
}

// Cholesky's L L' = A in place, then forward and back.
SmallMatrix solve_positive(SmallMatrix a, SmallMatrix b) {
  const std::size_t n = a.rows;
  for (std::size_t j = 0; j < n; ++j) {
    for (std::size_t k = 0; k < j; ++k)
      for (std::size_t i = j; i < n; ++i) a(i, j) -= a(i, k) * a(j, k);
    const double inverse = 1 / std::sqrt(a(j, j));
    for (std::size_t i = j; i < n; ++i) a(i, j) *= inverse;
  }
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t k = 0; k < i; ++k)
      for (std::size_t c = 0; c < b.columns; ++c) b(i, c) -= a(i, k) * b(k, c);
    for (std::size_t c = 0; c < b.columns; ++c) b(i, c) /= a(i, i);
  }
  for (std::size_t i = n; i-- > 0;) {
    for (std::size_t k = i + 1; k < n; ++k)
      for (std::size_t c = 0; c < b.columns; ++c) b(i, c) -= a(k, i) * b(k, c);
    for (std::size_t c = 0; c < b.columns; ++c) b(i, c) /= a(i, i);
  }
  return b;
}

SmallMatrix transposed_product(const SmallMatrix& x, const SmallMatrix& y) {
  SmallMatrix product(x.columns, y.columns);
  for (std::size_t row = 0; row < x.rows; ++row)
    for (std::size_t i = 0; i < x.columns; ++i) {
      const double factor = x(row, i);
      for (std::size_t j = 0; j < y.columns; ++j) product(i, j) += factor * y(row, j);
    }
  return product;
}

}  // namespace eureka
