// Rank starvation: why a softmax that looks at few tokens ill-conditions a shared query.
//
// Let A_i be the active tokens of example i, delta_i the largest weight outside, and q = sum_i (|A_i| - 1). On the
// subspace of w that tell no active tokens of an example apart, of dimension at least d - q, w^T GN w <= w^T B w with
//
//   B = 1/(N tau^2) sum_i delta_i^2 |(U_i - 1 u_i^T) outside A_i|^2 (X_i - 1 x_i0^T)^T (X_i - 1 x_i0^T) outside A_i,
//
// u_i the mean value and x_i0 one active token. So by Courant and Fischer the k-th smallest eigenvalue of GN is at most
// the k-th smallest of B on that subspace: d - q eigenvalues are O(delta^2).
#pragma once

#include "theory/teacher.h"

namespace eureka::theory {

// Bounds on the d - q smallest eigenvalues of the Gauss-Newton matrix of the softmax student at w*, ascending; empty
// when q >= d. Requires: teacher.active names at least one token per example.
Vector starvation_bounds(const Teacher& teacher, double temperature = 1);

}  // namespace eureka::theory
