// How the weights a of one attention row answer to its scaled logits z: numbers of the Jacobian J = da/dz.
//
//   RowJacobian j = row_jacobian(rule, facts, row);          row: logits and weights of the visible keys
//
// For softmax J = diag(a) - a a', and likewise for whatever is a softmax in the end. All comes from the logits in
// double, in units of the second largest weight: float32 weights of a peaked row have underflowed, these numbers have
// not. Eigenvalues are roots of a secular equation, found to rounding in O(keys) per step.
#pragma once

#include <optional>
#include <vector>

#include "kernels/fused_rules.h"

namespace eureka {

struct RowJacobian {
  double trace = 0;
  std::optional<double> effective_rank;  // trace^2 / |J|^2, unless J = 0
  std::optional<double> active_keys;     // 1 / sum of a^2, where the weights are shares

  // Eigenvalues, orthogonal to (1,...,1) where J cannot feel that. Nothing for a rule that divides by the spread of its
  // logits: it is flat in one more direction by construction, and J is not symmetric.
  struct Extremes {
    double largest = 0, smallest = 0, log10_condition = 0;
  };
  std::optional<Extremes> extremes;
};

// The visible keys of one row. Requires: at least two.
struct JacobianRow {
  std::vector<double> logits;   // q.k
  std::vector<double> weights;  // read for rules whose weights are no function of exp(logits)
};

// `scale`: that of the scaled logits. Nothing for a rule whose form is not known.
std::optional<RowJacobian> row_jacobian(const FusedRule& rule, const RowFacts& facts, double scale,
                                        const JacobianRow& row);

}  // namespace eureka
