// A small least-squares problem with everything known about its curvature. The models A, B and C are problems; spectra,
// rates and optimizers are written against this.
#pragma once

#include "theory/linear_algebra.h"

namespace eureka::theory {

// The Hessian in its two parts: the Gauss-Newton (outer-product) part, positive semi-definite and all there is at zero
// loss, and the part that carries the residuals.
struct Curvature {
  double loss = 0;
  Vector gradient;
  Matrix gauss_newton;
  Matrix residual;

  Matrix hessian() const { return gauss_newton + residual; }
};

class Problem {
 public:
  virtual ~Problem() = default;

  virtual Index dimension() const = 0;
  virtual double loss_and_gradient(const Vector& at, Vector& gradient) const = 0;
  virtual Curvature curvature(const Vector& at) const = 0;
  virtual Matrix gauss_newton(const Vector& at) const { return curvature(at).gauss_newton; }

  // Two metrics that see neither labels nor values. Through the softmax Jacobian J of every row:
  virtual Matrix fisher(const Vector& at) const = 0;          // F: one factor J, the Hessian of the mean KL divergence
  virtual Matrix attention_gram(const Vector& at) const = 0;  // G2: two factors J, the Hessian of mean |a - a*|^2 / 2

  double loss(const Vector& at) const {
    Vector ignored;
    return loss_and_gradient(at, ignored);
  }
};

}  // namespace eureka::theory
