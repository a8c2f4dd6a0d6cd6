// The softmax of one attention row and its Jacobian J = diag(a) - a a^T, never formed: every product is O(T) per
// column.
//
//   const Vector a = softmax(logits, temperature);
//   apply_jacobian(a, x)                     J x = a o (x - a.x); d softmax(z/tau)/dz is J/tau
//   apply_second_derivative(a, c, x)         S(c) x, S(c) the Hessian of z -> c . softmax(z)
//
// Requires: a is on the simplex (check_coefficients() says so to a user). Matrices stand for several columns at once.
#pragma once

#include "theory/linear_algebra.h"

namespace eureka::theory {

Vector softmax(const Vector& logits, double temperature = 1);

// ln softmax(logits / temperature): finite where the weights themselves underflow to 0.
Vector log_softmax(const Vector& logits, double temperature = 1);

// Throws Error(input) unless the coefficients can be an attention row: there are some, each is finite and not negative,
// and they sum to one within 1e-6.
void check_coefficients(const Vector& coefficients);

// Throws Error(input) unless there are logits, all finite, and the temperature is positive and finite.
void check_logits(const Vector& logits, double temperature);

Matrix apply_jacobian(const Vector& a, const Matrix& x);

Matrix apply_second_derivative(const Vector& a, const Vector& c, const Matrix& x);

Matrix jacobian(const Vector& a);

}  // namespace eureka::theory
