// Dense linear algebra of a few hundred rows in plain loops of doubles, whose bits do not depend on the processor:
// Eigen would join multiplications and additions where a processor can, and rows of metrics are the same bytes
// everywhere.
#pragma once

#include <cstddef>
#include <vector>

namespace eureka {

// Row-major.
struct SmallMatrix {
  SmallMatrix(std::size_t rows_, std::size_t columns_) : rows(rows_), columns(columns_), values(rows_ * columns_) {}

  double& operator()(std::size_t row, std::size_t column) { return values[row * columns + column]; }
  double operator()(std::size_t row, std::size_t column) const { return values[row * columns + column]; }

  std::size_t rows, columns;
  std::vector<double> values;
};

// Of a symmetric matrix, in no order: Jacobi's rotations.
std::vector<double> symmetric_eigenvalues(SmallMatrix matrix);

// X with A X = B. Requires: A is symmetric and positive definite.
SmallMatrix solve_positive(SmallMatrix a, SmallMatrix b);

// X' Y
SmallMatrix transposed_product(const SmallMatrix& x, const SmallMatrix& y);

}  // namespace eureka
