#include "theory/local_rate.h"

#include <algorithm>
#include <cmath>

#include "theory/optimizer.h"
#include "theory/rates.h"
#include "theory/teacher.h"

namespace eureka::theory {
namespace {

// A well-conditioned run shrinks by the asked factor before its inner eigen-directions have died out and the slowest
// ones rule: it goes on for so many steps, or down to rounding.
constexpr Index kStepsToSettle = 200;

// Least-squares slope of ln(values) over the second half.
double late_slope(const std::vector<double>& values) {
  const std::size_t first = values.size() / 2;
  const double count = static_cast<double>(values.size() - first), middle = (count - 1) / 2;
  double xy = 0, xx = 0;
  for (std::size_t i = first; i < values.size(); ++i) {
    const double x = static_cast<double>(i - first) - middle;
    xy += x * std::log(values[i]);
    xx += x * x;
  }
  return xy / xx;
}

double predicted_rate(const Conditioning& c, const LocalRateOptions& options) {
  if (options.heavy_ball) return heavy_ball_rate(c.kappa());
  return options.cautious ? 1 - 1 / c.kappa() : descent_rate(c.kappa());
}

}  // namespace

LocalRate measure_local_rate(const Problem& problem, const Vector& solution, const LocalRateOptions& options) {
  const EigenSystem system = eigen_system(problem.gauss_newton(solution));
  LocalRate result;
  const Conditioning c = result.spectrum = conditioning(system.values);
  const double kappa = c.kappa(), rate = predicted_rate(c, options);
  result.predicted = 1 - rate;
  const double eta = options.heavy_ball ? heavy_ball_step(c) : options.cautious ? 1 / c.largest : descent_step(c);
  const double beta = options.heavy_ball ? heavy_ball_momentum(kappa) : 0;

  const double relative_radius = options.radius.value_or(std::min(1e-3, 1e-2 / kappa));
  const double radius = relative_radius * solution.norm();
  // Rounding leaves an error of about 1e-16 kappa |w*|: a fit below it would measure nothing.
  const double rounding = 2e-16 * kappa / relative_radius;
  const double stop = std::max(options.stop, rounding);
  const Vector start_error = radius * normal_vector(solution.size(), options.seed, "theory start").normalized();
  if (!options.heavy_ball) result.predicted_steps = PredictedCurve(system, start_error, eta).steps_to(options.eps);

  Vector x = solution + start_error, before = x, gradient;
  const bool by_loss = c.nulls > 0;
  const auto limit = static_cast<Index>(std::log(stop) / std::log(rate) * 2) + 400;
  std::vector<double> history;
  double initial_loss = 0;
  for (Index step = 0; step <= limit; ++step) {
    const double loss = problem.loss_and_gradient(x, gradient);
    if (step == 0) initial_loss = loss;
    if (!result.measured_steps && loss <= options.eps * initial_loss) result.measured_steps = step;
    if (options.keep_curve) result.curve.push_back(loss / initial_loss);
    const double size = by_loss ? std::sqrt(loss / initial_loss) : (x - solution).norm() / radius;
    // Below this the loss is rounding.
    if (!(size > 0) || (by_loss && loss < 1e-28)) break;
    history.push_back(size);
    result.run_steps = step;
    if (size < (step < kStepsToSettle ? std::min(stop, 100 * rounding) : stop) || size > 1e3) break;
    const Vector next = x - eta * gradient + beta * (x - before);
    before = x;
    x = next;
  }
  result.measured = history.size() < 4 ? std::nan("") : -std::expm1(late_slope(history));
  return result;
}

}  // namespace eureka::theory
