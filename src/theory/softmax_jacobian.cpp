#include "theory/softmax_jacobian.h"

#include <fmt/format.h>

#include <cmath>

#include "base/error.h"

namespace eureka::theory {

Vector log_softmax(const Vector& logits, double temperature) {
  const Vector z = (logits.array() - logits.maxCoeff()) / temperature;
  return z.array() - std::log(z.array().exp().sum());
}

Vector softmax(const Vector& logits, double temperature) {
  const Vector e = ((logits.array() - logits.maxCoeff()) / temperature).exp();
  return e / e.sum();
}

void check_coefficients(const Vector& coefficients) {
  if (coefficients.size() == 0)
    throw Error(ErrorKind::input, "an attention row needs at least one coefficient", {},
                "for example: --coefficients 0.7,0.2,0.1");
  for (Index i = 0; i < coefficients.size(); ++i) {
    const double a = coefficients[i];
    if (!std::isfinite(a))
      throw Error(ErrorKind::input, fmt::format("coefficient {} is {}, not a number that can be used", i + 1, a), {},
                  "attention coefficients are finite and between 0 and 1");
    if (a < 0)
      throw Error(ErrorKind::input, fmt::format("coefficient {} is negative: {:g}", i + 1, a), {},
                  "attention coefficients are at least 0; if these are logits, give them as --logits");
  }
  const double sum = coefficients.sum();
  if (std::abs(sum - 1) > 1e-6)
    throw Error(ErrorKind::input, fmt::format("the coefficients sum to {:.9g}, not to 1", sum), {},
                "divide them by their sum; if these are logits, give them as --logits");
}

void check_logits(const Vector& logits, double temperature) {
  if (logits.size() == 0)
    throw Error(ErrorKind::input, "an attention row needs at least one logit", {}, "for example: --logits 1,2,4");
  for (Index i = 0; i < logits.size(); ++i)
    if (!std::isfinite(logits[i]))
      throw Error(ErrorKind::input, fmt::format("logit {} is {}, not a number that can be used", i + 1, logits[i]), {},
                  "leave hidden tokens out of the row");
  if (!(temperature > 0) || !std::isfinite(temperature))
    throw Error(ErrorKind::input, fmt::format("the temperature is {:g}", temperature), {}, "it must be above 0");
}

Matrix apply_jacobian(const Vector& a, const Matrix& x) {
  const Eigen::RowVectorXd mean = a.transpose() * x;
  return (x.rowwise() - mean).array().colwise() * a.array();
}

Matrix apply_second_derivative(const Vector& a, const Vector& c, const Matrix& x) {
  const Vector b = a.array() * (c.array() - a.dot(c));
  Matrix y = x.array().colwise() * b.array();
  y.noalias() -= b * (a.transpose() * x);
  y.noalias() -= a * (b.transpose() * x);
  return y;
}

Matrix jacobian(const Vector& a) { return apply_jacobian(a, Matrix::Identity(a.size(), a.size())); }

}  // namespace eureka::theory
