// Model A: one query w shared by all examples. Example i has T tokens X_i (T x d) and values U_i (T x p):
//
//   a_i = phi(X_i w),   o_i = U_i^T a_i,   L = 1/(2N) sum |o_i - y_i|^2
//
// The values are either given, or U_i = X_i V with V (d x p) trained too; then the parameters are [w; vec V].
//
//   SharedQueryModel model({tokens, keys}, values, map);      keys: X_1 over X_2 over ...
//   model.set_targets(model.outputs(teacher));                zero loss at the teacher
#pragma once

#include "theory/attention_map.h"
#include "theory/problem.h"

namespace eureka::theory {

// N examples of `tokens` rows each, one below the other.
struct StackedKeys {
  Index tokens = 0;
  Matrix keys;  // (N T) x d

  Index examples() const { return keys.rows() / tokens; }
  auto of(Index example) const { return keys.middleRows(example * tokens, tokens); }
};

class SharedQueryModel final : public Problem {
 public:
  // Given values, (N T) x p.
  SharedQueryModel(StackedKeys data, Matrix values, AttentionMap map);
  // Values X V, with V trained.
  SharedQueryModel(StackedKeys data, Index outputs, AttentionMap map);

  void set_targets(Matrix targets) { targets_ = std::move(targets); }  // N x p

  Index dimension() const override;
  double loss_and_gradient(const Vector& at, Vector& gradient) const override;
  Curvature curvature(const Vector& at) const override;
  Matrix gauss_newton(const Vector& at) const override;
  Matrix fisher(const Vector& at) const override;  // softmax with given values only
  Matrix attention_gram(const Vector& at) const override;

  Matrix outputs(const Vector& at) const;  // N x p

  const StackedKeys& data() const { return data_; }
  const AttentionMap& map() const { return map_; }
  AttentionPoint attention(const Vector& at, Index example) const;

 private:
  bool trains_values() const { return given_values_.size() == 0; }
  Matrix values_of(const Vector& at, Index example) const;
  Matrix output_slopes(const AttentionPoint& point, const Matrix& values, Index example) const;
  double softmax_loss_and_gradient(const Vector& w, Vector& gradient) const;

  StackedKeys data_;
  Matrix given_values_;
  Index outputs_;
  AttentionMap map_;
  Matrix targets_;
};

}  // namespace eureka::theory
