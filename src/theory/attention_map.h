// How logits become attention weights, with first and second derivatives, for one row.
//
//   const AttentionPoint point = AttentionMap{AttentionKind::norm}.at(logits);
//   point.weights                          phi(s)
//   point.apply(X)                         Phi X, Phi = d phi / d s; O(T) per column, never formed
//   point.apply_transposed(X)              Phi is not symmetric for the norm kinds
//   point.apply_second(c, X)               (Hessian of s -> c . phi(s)) X
//
//   softmax   softmax(s/tau)                        norm      softmax(g s / sd(s)), sd the population deviation
//   linear    s/tau                                 norm_min  softmax(g s / min(sd, tau))
//   sigmoid   sigmoid(s/tau - ln T)                 norm_max  softmax(g s / max(sd, tau))
#pragma once

#include <array>
#include <optional>

#include "theory/linear_algebra.h"

namespace eureka::theory {

enum class AttentionKind { softmax, linear, sigmoid, norm, norm_min, norm_max };
inline constexpr std::array kAttentionKinds = {AttentionKind::softmax,  AttentionKind::linear,
                                               AttentionKind::sigmoid,  AttentionKind::norm,
                                               AttentionKind::norm_min, AttentionKind::norm_max};
constexpr auto enum_names(AttentionKind) {
  return std::array{"softmax", "linear", "sigmoid", "norm", "norm_min", "norm_max"};
}
inline const char* name_of(AttentionKind kind) { return enum_names(kind)[static_cast<std::size_t>(kind)]; }

struct AttentionPoint {
  Vector weights;

  Matrix apply(const Matrix& x) const;
  Matrix apply_transposed(const Matrix& x) const;
  Matrix apply_second(const Vector& c, const Matrix& x) const;

  // Phi = diag(first) and Hess = diag(c o second) when elementwise; else Phi = slope J (I - pull v v^T), where v are
  // the centered logits and pull = 1/(T sd^2), or 0 where the deviation does not enter.
  bool elementwise = false;
  Vector first, second;
  double slope = 1;
  double pull = 0;
  Vector centered;
};

struct AttentionMap {
  AttentionKind kind = AttentionKind::softmax;
  double temperature = 1;
  double gain = 1;             // g of the norm kinds
  double epsilon = 0;          // added to the variance under the root
  std::optional<double> bias;  // of sigmoid; -ln T when left out

  Vector weights(const Vector& logits) const { return at(logits).weights; }

  // Throws Error(input) for a norm kind on equal logits when epsilon is 0: there is no deviation to divide by.
  AttentionPoint at(const Vector& logits) const;
};

}  // namespace eureka::theory
