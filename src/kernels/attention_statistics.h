// How well conditioned the softmax Jacobian J = diag(a) - a a^T of every attention row is, while a model trains: O(T)
// per row, no eigen-solver, in float32 and vectorized. theory/row_spectrum.h is the same in float64, with the
// derivations.
//
//   AttentionRowStatistics s = attention_statistics({.weights = row, .keys = t + 1}, 0.05F);   // a causal row's prefix
//   HeadStatistics head = summarize(all_rows_of_a_head);
//
// Float32 weights underflow below e^-103. Given the logits as well, logarithms come from these and nothing is lost;
// without them a weight of 0 counts as the smallest float, `underflowed` is set, and log10_kappa bounds kappa from
// below only.
#pragma once

#include <cstddef>
#include <span>

namespace eureka {

struct StatisticsRow {
  const float* weights = nullptr;  // sum to one over the visible keys
  std::size_t keys = 0;
  const float* visible = nullptr;  // 1 or 0 per key; nullptr: all. Hidden keys do not count at all
  const float* logits = nullptr;   // optional; weights = softmax(scale * logits) over the visible keys
  float scale = 1;
};

// Eigenvalues 0 = lambda_1 <= lambda_2 <= ... <= lambda_T of J. A row with fewer than two visible keys has keys < 2 and
// zeros elsewhere.
struct AttentionRowStatistics {
  float keys = 0;                                   // T: the visible ones
  float trace = 0;                                  // tr J = 1 - sum a^2
  float frobenius = 0;                              // |J|_F
  float effective_rank = 0;                         // (tr J)^2 / |J|_F^2, from 1 to T - 1
  float largest_low = 0, largest_high = 0;          // bounds on lambda_T
  float smallest_low = 0, smallest_high = 0;        // bounds on lambda_2
  float log10_kappa_low = 0, log10_kappa_high = 0;  // bounds on lambda_T / lambda_2
  float log_pseudo_determinant = 0;                 // ln T + sum ln a
  float entropy = 0;                                // nats
  float participation = 0;                          // 1 / sum a^2
  float active = 0;                                 // weights above the threshold
  bool underflowed = false;
};

AttentionRowStatistics attention_statistics(const StatisticsRow& row, float threshold);

struct StatisticSummary {
  float mean = 0, percentile_5 = 0, median = 0, percentile_95 = 0;
};

struct HeadStatistics {
  std::size_t rows = 0;         // with at least two visible keys; the others are left out
  std::size_t underflowed = 0;  // of these
  // Sum over rows of (active - 1): to be compared with the head's parameter dimension, 2 d d_k - d_k^2.
  std::size_t active_degrees = 0;
  StatisticSummary trace, frobenius, effective_rank, largest_low, largest_high, smallest_low, smallest_high,
      log10_kappa_low, log10_kappa_high, log_pseudo_determinant, entropy, participation, active;
};

HeadStatistics summarize(std::span<const AttentionRowStatistics> rows);

}  // namespace eureka
