// The spectrum of the softmax Jacobian J = diag(a) - a a^T of one row, from the logarithms of its weights: eigenvalues
// by the secular equation, and bounds and moments that need no eigenvalue at all.
//
//   const RowSpectrum spectrum(log_softmax(logits));
//   spectrum.log_eigenvalue(1)                      ln lambda_2, right to its last digits even at lambda_2 = e^-800
//   const RowStatistics s = row_statistics(log_softmax(logits));        O(T)
//
// Everything is scaled by the second largest weight before it is summed: nothing cancels in a near one-hot row, and
// nothing underflows in one so peaked that all weights but the largest are 0 in float64. A weight of exactly 0 has
// logarithm -infinity and brings an eigenvalue 0.
#pragma once

#include <vector>

#include "theory/linear_algebra.h"

namespace eureka::theory {

class RowSpectrum {
 public:
  // Requires: exp(log_weights) sums to one.
  explicit RowSpectrum(const Vector& log_weights);

  Index size() const { return static_cast<Index>(log_eigenvalues_.size()); }

  // Ascending; the first is the structural zero of J 1 = 0, logarithm -infinity.
  double log_eigenvalue(Index k) const { return log_eigenvalues_[static_cast<std::size_t>(k)]; }
  double eigenvalue(Index k) const;
  Vector eigenvalues() const;

  // ln(lambda_T / lambda_2); NaN for T = 1, infinite when a weight is 0 (and T > 2).
  double log_kappa() const;

 private:
  // The eigenvalue between two distinct weights, of which the lower stands at `gap`, as a logarithm.
  static double root_between(const std::vector<double>& distinct, const std::vector<double>& count, std::size_t gap);

  std::vector<double> log_eigenvalues_;  // ascending
};

struct Bounds {
  double low = 0;
  double high = 0;
};

// Logarithms are natural. For T = 1, where J = 0, bounds and ratios are NaN.
struct RowStatistics {
  Index tokens = 0;
  double largest = 0;             // a_max
  double rest = 0;                // sum of the others, never 1 - a_max
  double trace = 0;               // tr J
  double frobenius = 0;           // |J|_F
  double cube_trace = 0;          // tr J^3
  double effective_rank = 0;      // (tr J)^2 / |J|_F^2, from 1 to T-1
  Bounds log_largest;             // of lambda_T
  Bounds log_smallest;            // of lambda_2
  Bounds log_kappa;               // of lambda_T / lambda_2
  double log_pseudo_determinant;  // ln of the product of the T-1 largest eigenvalues
  double entropy = 0;
  double participation = 0;  // 1 / sum a^2
};

RowStatistics row_statistics(const Vector& log_weights);

}  // namespace eureka::theory
