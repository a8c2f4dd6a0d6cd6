// Does gradient descent near a solution converge at the rate its spectrum predicts? Measures it.
//
//   const LocalRate rate = measure_local_rate(student_of(teacher, {}), teacher.query, {});
//   rate.measured / rate.predicted                  1, within a few per cent
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "theory/problem.h"
#include "theory/spectrum.h"

namespace eureka::theory {

struct LocalRateOptions {
  std::optional<double> radius;  // |e_0| / |w*|; min(1e-3, 1e-2 / kappa) when left out, where the quadratic rules
  double stop = 1e-7;       // the run ends when the error (or the root of the loss) has shrunk by this, or to rounding;
                            // a run of under 200 steps goes on, so that only the slowest directions are left
  double eps = 1e-8;        // of the loss, for the number of steps
  std::uint64_t seed = 1;   // of the direction of e_0
  bool heavy_ball = false;  // instead of gradient descent
  bool cautious = false;    // step 1/L instead of 2/(mu + L)
  bool keep_curve = false;
};

struct LocalRate {
  Conditioning spectrum;
  double predicted = 0;                  // 1 - rho per step, of the error
  double measured = 0;                   // slope of the logarithm over the second half of the run
  std::optional<Index> predicted_steps;  // to eps, from the exact curve; not for heavy ball
  std::optional<Index> measured_steps;
  Index run_steps = 0;
  std::vector<double> curve;  // loss / initial loss
};

// `solution` must have zero loss. The rate is that of the error, or of the root of the loss where structural null
// directions leave an error that never shrinks.
LocalRate measure_local_rate(const Problem& problem, const Vector& solution, const LocalRateOptions& options);

}  // namespace eureka::theory
