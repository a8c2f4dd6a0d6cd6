// Optimizers on a Problem, one step at a time, and the record of a run.
//
//   Run run = minimize(problem, start, *heavy_ball(eta, beta), {.eps = 1e-8, .max_steps = 20000});
//   run.first_hit       first step with loss <= eps * initial loss
//   run.last_above      last step with loss above it: a method that hits and leaves again has last_above > first_hit
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "theory/problem.h"

namespace eureka::theory {

class Optimizer {
 public:
  virtual ~Optimizer() = default;

  // The next point. `loss` and `gradient` are those at `x`.
  virtual Vector step(const Problem& problem, const Vector& x, double loss, const Vector& gradient) = 0;

  // A method without memory that does not move will never move again.
  virtual bool memoryless() const { return true; }
};
using OptimizerPtr = std::unique_ptr<Optimizer>;

OptimizerPtr gradient_descent(double eta);
OptimizerPtr heavy_ball(double eta, double beta);    // x - eta g + beta (x - x_before)
OptimizerPtr ema_momentum(double eta, double beta);  // x - eta m, m = beta m + (1 - beta) g

struct AdamOptions {
  double rate = 1e-3;
  double decay = 1;  // the rate is multiplied by this after each step
  double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-15;
};
OptimizerPtr adam(const AdamOptions& options);
OptimizerPtr sign_descent(double rate, double decay);

// x - eta M^-1 g with a fixed symmetric M; its null space stays untouched.
OptimizerPtr preconditioned(const Matrix& metric, double eta);

// x - eta (M(x) + damping tr M I)^-1 g, M the Fisher metric F or the gram G2 of the attention at x.
enum class Metric { fisher, attention_gram };
OptimizerPtr natural_gradient(Metric metric, double eta, double damping = 1e-12);

// Gauss-Newton with Levenberg and Marquardt's damping: down by 5 after a step that helps, up by 5 until one does.
OptimizerPtr gauss_newton();

struct RunOptions {
  double eps = 1e-8;
  Index max_steps = 20000;
  bool stop_at_hit = false;
  bool keep_curve = false;
};

struct Run {
  std::optional<Index> first_hit;
  std::optional<Index> last_above;  // there whenever the initial loss is not zero
  Index steps = 0;                  // taken; fewer than max_steps when it hit, diverged or stood still
  bool diverged = false;
  double initial_loss = 0;
  std::vector<double> curve;  // loss / initial loss, per step

  // Below eps from some step to the end of the run.
  bool stayed() const { return first_hit && !diverged && *last_above < steps; }
};

Run minimize(const Problem& problem, const Vector& start, Optimizer& optimizer, const RunOptions& options);

}  // namespace eureka::theory
