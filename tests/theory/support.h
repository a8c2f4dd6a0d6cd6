// What the tests of this layer share: comparison of arrays, finite differences, random rows.
#pragma once

#include <gtest/gtest.h>

#include <functional>

#include "base/random.h"
#include "theory/problem.h"
#include "theory/softmax_jacobian.h"
#include "theory/teacher.h"

namespace eureka::theory {

inline constexpr double kOracle = 1e-11;  // the published values have this many digits

inline double largest_difference(const Matrix& a, const Matrix& b) { return (a - b).cwiseAbs().maxCoeff(); }

// Relative to the largest entry of b.
inline double relative_difference(const Matrix& a, const Matrix& b) {
  return largest_difference(a, b) / std::max(1e-300, b.cwiseAbs().maxCoeff());
}

inline Vector vector_of(std::initializer_list<double> values) {
  return Eigen::Map<const Vector>(values.begin(), static_cast<Index>(values.size()));
}

inline Matrix matrix_of(Index rows, std::initializer_list<double> values) {
  return Eigen::Map<const Matrix>(values.begin(), rows, static_cast<Index>(values.size()) / rows);
}

// J^+ x = P diag(1/a) P x with P = I - 11^T/T, J the softmax Jacobian of the row a.
inline Matrix apply_pseudo_inverse(const Vector& a, const Matrix& x) {
  Matrix y = x.rowwise() - x.colwise().mean();
  y.array().colwise() /= a.array();
  return y.rowwise() - y.colwise().mean();
}

// The Hessian of a problem by central differences of its gradient.
inline Matrix difference_hessian(const Problem& problem, const Vector& at, double h = 1e-5) {
  Matrix hessian(at.size(), at.size());
  for (Index i = 0; i < at.size(); ++i) {
    Vector above = at, below = at, up, down;
    above[i] += h;
    below[i] -= h;
    problem.loss_and_gradient(above, up);
    problem.loss_and_gradient(below, down);
    hessian.row(i) = (up - down) / (2 * h);
  }
  return hessian;
}

inline Vector difference_gradient(const Problem& problem, const Vector& at, double h = 1e-6) {
  Vector gradient(at.size());
  for (Index i = 0; i < at.size(); ++i) {
    Vector above = at, below = at;
    above[i] += h;
    below[i] -= h;
    gradient[i] = (problem.loss(above) - problem.loss(below)) / (2 * h);
  }
  return gradient;
}

// Logits of every temper: flat, peaked, one-hot, so peaked that weights underflow, with and without duplicates.
inline void for_random_logits(const std::function<void(const Vector&)>& check) {
  std::uint64_t seed = 1;
  for (const Index tokens : {2, 3, 5, 8, 16, 33})
    for (const double scale : {0.0, 0.3, 1.0, 3.0, 10.0, 60.0, 500.0})
      for (const bool duplicates : {false, true}) {
        Vector z = scale * normal_vector(tokens, ++seed, "row test");
        if (duplicates && tokens >= 5) z[1] = z[3] = z[0];
        if (duplicates && tokens >= 8) z[6] = z[7];
        SCOPED_TRACE(testing::Message() << "T " << tokens << " scale " << scale << (duplicates ? " duplicates" : ""));
        check(z);
      }
}

}  // namespace eureka::theory
