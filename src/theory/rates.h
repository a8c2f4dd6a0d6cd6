// How fast gradient methods converge on a quadratic, from its eigenvalues: closed forms, and the exact loss curve.
#pragma once

#include <optional>

#include "theory/spectrum.h"

namespace eureka::theory {

// Gradient descent with the best constant step 2/(mu + L): the error shrinks by (kappa-1)/(kappa+1) per step.
double descent_step(const Conditioning& c);
double descent_rate(double kappa);

// Heavy ball with the best constants; the rate holds asymptotically, up to a factor growing with the step.
double heavy_ball_step(const Conditioning& c);
double heavy_ball_momentum(double kappa);
double heavy_ball_rate(double kappa);

// kappa ln(1/eps) / 4: steps at descent_rate(kappa) until the loss is at eps of its start, for large kappa; the worst
// case over starts.
double worst_case_steps(double kappa, double eps);

// x -= eta m, m an exponential average of gradients: unstable on curvature lambda iff eta lambda exceeds this; 38 at
// 0.9.
double ema_stability_limit(double beta);

// A heuristic, not a theorem: tuned constant-rate Adam near the solution, kappa_d the condition after diagonal scaling.
double adam_steps(double kappa_d, double eps, double beta1 = 0.9);

// The loss of gradient descent on a quadratic, exactly: L_k = 1/2 sum_j lambda_j c_j^2 (1 - eta lambda_j)^(2k).
class PredictedCurve {
 public:
  // `error`: how far the start is from the minimum.
  PredictedCurve(const EigenSystem& hessian, const Vector& error, double eta);

  double loss(double step) const;

  // The first step with loss <= eps * loss(0); nothing when the step size is too large to get there.
  std::optional<Index> steps_to(double eps) const;

 private:
  Vector eigenvalues_, weights_;
  double eta_;
};

}  // namespace eureka::theory
