// Condition numbers of small dense matrices.
#pragma once

#include "theory/linear_algebra.h"

namespace eureka::theory {

struct EigenSystem {
  Vector values;   // ascending
  Matrix vectors;  // one per column
};

// Of a symmetric matrix; the part that is not symmetric is rounding and dropped.
EigenSystem eigen_system(const Matrix& symmetric);
Vector eigenvalues(const Matrix& symmetric);

// Eigenvalues at most this fraction of the largest are structural zeros: shifts of logits, gauge directions.
inline constexpr double kNullFraction = 1e-12;

struct Conditioning {
  double smallest = 0;  // of the eigenvalues that are not structural zeros
  double largest = 0;
  Index nulls = 0;

  double kappa() const { return largest / smallest; }
};

Conditioning conditioning(const Vector& ascending_eigenvalues, double null_fraction = kNullFraction);
Conditioning conditioning(const Matrix& symmetric, double null_fraction = kNullFraction);

// Of metric^-1 symmetric, on the range of `symmetric`: what a preconditioner leaves to be done. Both positive
// semi-definite, with the same null space if any.
Conditioning pencil_conditioning(const Matrix& symmetric, const Matrix& metric, double null_fraction = kNullFraction);

// Of D^-1/2 M D^-1/2, D the diagonal of M.
Conditioning diagonal_conditioning(const Matrix& symmetric, double null_fraction = kNullFraction);

// Of the matrix restricted to the vectors orthogonal to `direction`.
Conditioning conditioning_across(const Matrix& symmetric, const Vector& direction);

}  // namespace eureka::theory
