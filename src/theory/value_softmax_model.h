// Model C: the logits themselves are trained. L = |V softmax(z/tau) - y|^2 / 2 with V (p x T) given, or trained too;
// then the parameters are [z; vec V]. Here, and only here, the condition number of J decides alone: with V = I it is
// squared.
#pragma once

#include "theory/problem.h"

namespace eureka::theory {

class ValueSoftmaxModel final : public Problem {
 public:
  ValueSoftmaxModel(Matrix values, Vector target, double temperature = 1);            // trains z
  ValueSoftmaxModel(Index outputs, Index tokens, Vector target, double temperature);  // trains z and V

  Index dimension() const override;
  double loss_and_gradient(const Vector& at, Vector& gradient) const override;
  Curvature curvature(const Vector& at) const override;
  Matrix gauss_newton(const Vector& at) const override;
  Matrix fisher(const Vector& at) const override;          // J/tau^2, of z alone
  Matrix attention_gram(const Vector& at) const override;  // J^2/tau^2

 private:
  bool trains_values() const { return given_values_.size() == 0; }
  Eigen::Map<const Matrix> values_of(const Vector& at) const;
  Vector weights_of(const Vector& at) const;
  Matrix output_slopes(const Vector& at) const;

  Matrix given_values_;
  Index outputs_, tokens_;
  Vector target_;
  double temperature_;
};

}  // namespace eureka::theory
