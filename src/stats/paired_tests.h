// Tests on pairs: the same seed with and without a change. Two-sided.
#pragma once

#include <cstddef>
#include <span>

namespace eureka {

struct SignTest {
  std::size_t positive = 0;
  std::size_t negative = 0;
  double p = 1;  // exact binomial; 1 without pairs
};
SignTest sign_test(std::size_t positive, std::size_t negative);

struct SignedRank {
  std::size_t pairs = 0;    // with a difference; zeros tell nothing and are left out
  double positive_sum = 0;  // of the ranks of positive differences (V in R)
  bool exact = true;
  double p = 1;  // 1 without pairs
};
// Wilcoxon's signed-rank test. Exact, ties included, up to 50 pairs; beyond that normal with corrections for ties and
// continuity.
SignedRank signed_rank_test(std::span<const double> differences);

}  // namespace eureka
