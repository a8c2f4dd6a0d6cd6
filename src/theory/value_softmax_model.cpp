#include "theory/value_softmax_model.h"

#include "base/error.h"
#include "theory/softmax_jacobian.h"

namespace eureka::theory {

ValueSoftmaxModel::ValueSoftmaxModel(Matrix values, Vector target, double temperature)
    : given_values_(std::move(values)),
      outputs_(given_values_.rows()),
      tokens_(given_values_.cols()),
      target_(std::move(target)),
      temperature_(temperature) {}

ValueSoftmaxModel::ValueSoftmaxModel(Index outputs, Index tokens, Vector target, double temperature)
    : outputs_(outputs), tokens_(tokens), target_(std::move(target)), temperature_(temperature) {}

Index ValueSoftmaxModel::dimension() const { return trains_values() ? tokens_ + outputs_ * tokens_ : tokens_; }

Eigen::Map<const Matrix> ValueSoftmaxModel::values_of(const Vector& at) const {
  return {trains_values() ? at.data() + tokens_ : given_values_.data(), outputs_, tokens_};
}

Vector ValueSoftmaxModel::weights_of(const Vector& at) const { return softmax(at.head(tokens_), temperature_); }

double ValueSoftmaxModel::loss_and_gradient(const Vector& at, Vector& gradient) const {
  const Vector a = weights_of(at);
  const auto values = values_of(at);
  const Vector r = values * a - target_;
  gradient.resize(dimension());
  gradient.head(tokens_) = apply_jacobian(a, values.transpose() * r) / temperature_;
  if (trains_values()) Eigen::Map<Matrix>(gradient.data() + tokens_, outputs_, tokens_) = r * a.transpose();
  return 0.5 * r.squaredNorm();
}

// d o / d parameters, p x dimension.
Matrix ValueSoftmaxModel::output_slopes(const Vector& at) const {
  const Vector a = weights_of(at);
  Matrix slopes = Matrix::Zero(outputs_, dimension());
  slopes.leftCols(tokens_) = apply_jacobian(a, values_of(at).transpose()).transpose() / temperature_;
  if (trains_values())
    for (Index k = 0; k < outputs_; ++k) slopes.row(k).segment(tokens_ + k * tokens_, tokens_) = a.transpose();
  return slopes;
}

Curvature ValueSoftmaxModel::curvature(const Vector& at) const {
  const Vector a = weights_of(at);
  const auto values = values_of(at);
  const Vector r = values * a - target_;
  const Index n = dimension();
  const Matrix eye = Matrix::Identity(tokens_, tokens_);
  Curvature c{0.5 * r.squaredNorm(), output_slopes(at).transpose() * r, gauss_newton(at), Matrix::Zero(n, n)};
  c.residual.topLeftCorner(tokens_, tokens_) =
      apply_second_derivative(a, values.transpose() * r, eye) / (temperature_ * temperature_);
  if (!trains_values()) return c;
  const Matrix slope = apply_jacobian(a, eye) / temperature_;
  for (Index k = 0; k < outputs_; ++k) {
    c.residual.block(0, tokens_ + k * tokens_, tokens_, tokens_) = r[k] * slope;
    c.residual.block(tokens_ + k * tokens_, 0, tokens_, tokens_) = r[k] * slope;
  }
  return c;
}

Matrix ValueSoftmaxModel::gauss_newton(const Vector& at) const {
  const Matrix slopes = output_slopes(at);
  return slopes.transpose() * slopes;
}

Matrix ValueSoftmaxModel::fisher(const Vector& at) const {
  EUREKA_CHECK(!trains_values(), "F is a metric of the logits alone");
  return jacobian(weights_of(at)) / (temperature_ * temperature_);
}

Matrix ValueSoftmaxModel::attention_gram(const Vector& at) const {
  EUREKA_CHECK(!trains_values(), "G2 is a metric of the logits alone");
  const Matrix j = jacobian(weights_of(at)) / temperature_;
  return j * j;
}

}  // namespace eureka::theory
