// One row of attention in double, forward and backward, from what a rule says of its own weights (RowLaw). The kernels
// compute the same in float32; this is for rows that no kernel has seen.
#pragma once

#include <vector>

#include "kernels/fused_rules.h"

namespace eureka {

struct ArrayRow {
  std::vector<double> logits, weights;      // q.k of the visible keys, and what the rule makes of them
  std::vector<double> d_weights, d_logits;  // gradients by these

  // Requires: at least one logit. `width`: of a head.
  void work_out(const FusedRule& rule, double scale, double width);
  // After work_out.
  void pass_back(const FusedRule& rule);

 private:
  void entmax15();

  RowLaw law_;
  double mean_ = 0;
};

}  // namespace eureka
