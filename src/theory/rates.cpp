#include "theory/rates.h"

#include <algorithm>
#include <cmath>

namespace eureka::theory {

double descent_step(const Conditioning& c) { return 2 / (c.smallest + c.largest); }

double descent_rate(double kappa) { return (kappa - 1) / (kappa + 1); }

double heavy_ball_step(const Conditioning& c) {
  const double root = std::sqrt(c.smallest) + std::sqrt(c.largest);
  return 4 / (root * root);
}

double heavy_ball_rate(double kappa) { return descent_rate(std::sqrt(kappa)); }

double heavy_ball_momentum(double kappa) { return heavy_ball_rate(kappa) * heavy_ball_rate(kappa); }

double worst_case_steps(double kappa, double eps) { return kappa * -std::log(eps) / 4; }

double ema_stability_limit(double beta) { return 2 * (1 + beta) / (1 - beta); }

double adam_steps(double kappa_d, double eps, double beta1) {
  const double averaged = worst_case_steps(kappa_d, eps) * (1 - beta1) / (1 + beta1);
  return beta1 > 0 ? std::max(averaged, std::log(eps) / std::log(beta1)) : averaged;
}

PredictedCurve::PredictedCurve(const EigenSystem& hessian, const Vector& error, double eta)
    : eigenvalues_(hessian.values.cwiseMax(0)),
      weights_((hessian.vectors.transpose() * error).array().square()),
      eta_(eta) {}

double PredictedCurve::loss(double step) const {
  return 0.5 * (eigenvalues_.array() * weights_.array() * (1 - eta_ * eigenvalues_.array()).abs().pow(2 * step)).sum();
}

std::optional<Index> PredictedCurve::steps_to(double eps) const {
  const double target = eps * loss(0);
  if (eta_ * eigenvalues_.maxCoeff() >= 2) return std::nullopt;
  Index low = 0, high = 1;
  while (loss(static_cast<double>(high)) > target) {
    if (high > Index{1} << 50) return std::nullopt;
    low = high;
    high *= 2;
  }
  while (high - low > 1) {
    const Index middle = low + (high - low) / 2;
    (loss(static_cast<double>(middle)) > target ? low : high) = middle;
  }
  return high;
}

}  // namespace eureka::theory
