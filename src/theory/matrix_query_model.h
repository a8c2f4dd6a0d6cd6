// Model B: T queries and a matrix weight. S_i = X_i W X_i^T / tau, A_i the softmax of its rows, O_i = A_i X_i V with V
// given, L = 1/(2N) sum |O_i - Y_i|^2.
//
// It *is* model A on N T rows: query q of example i has the features x_iq (x) x_ij, and the weight is vec W. So nothing
// is derived twice; losses and curvatures are T times those of model A, which averages over N T rows.
#pragma once

#include "theory/shared_query_model.h"

namespace eureka::theory {

// Parameters: vec W, d^2 of them.
class MatrixQueryModel final : public Problem {
 public:
  MatrixQueryModel(const StackedKeys& data, const Matrix& value_weight, AttentionMap map);

  void set_targets(Matrix targets) { rows_.set_targets(std::move(targets)); }  // (N T) x p

  Index dimension() const override { return rows_.dimension(); }
  double loss_and_gradient(const Vector& at, Vector& gradient) const override;
  Curvature curvature(const Vector& at) const override;
  Matrix gauss_newton(const Vector& at) const override { return factor_ * rows_.gauss_newton(at); }
  Matrix fisher(const Vector& at) const override { return factor_ * rows_.fisher(at); }
  Matrix attention_gram(const Vector& at) const override { return factor_ * rows_.attention_gram(at); }

  Matrix outputs(const Vector& at) const { return rows_.outputs(at); }

  Index width() const { return width_; }
  const SharedQueryModel& as_shared_query() const { return rows_; }

 private:
  Index width_;
  double factor_;
  SharedQueryModel rows_;
};

// Model B with W = W_Q W_K^T (each d x k). Parameters: [vec W_Q; vec W_K]. (W_Q R, W_K R^-T) computes the same for
// every invertible R: k^2 directions without curvature at a stationary point.
class FactoredQueryModel final : public Problem {
 public:
  FactoredQueryModel(MatrixQueryModel full, Index rank) : full_(std::move(full)), rank_(rank) {}

  void set_targets(Matrix targets) { full_.set_targets(std::move(targets)); }

  Index dimension() const override { return 2 * full_.width() * rank_; }
  double loss_and_gradient(const Vector& at, Vector& gradient) const override;
  Curvature curvature(const Vector& at) const override;
  Matrix fisher(const Vector& at) const override;
  Matrix attention_gram(const Vector& at) const override;

  Matrix outputs(const Vector& at) const { return full_.outputs(product(at)); }
  Vector product(const Vector& at) const;  // vec(W_Q W_K^T)

 private:
  Eigen::Map<const Matrix> queries(const Vector& at) const;
  Eigen::Map<const Matrix> keys(const Vector& at) const;
  Matrix product_slopes(const Vector& at) const;  // d vec W / d [vec W_Q; vec W_K]
  Vector pull_back(const Vector& at, const Vector& by_weight) const;

  MatrixQueryModel full_;
  Index rank_;
};

}  // namespace eureka::theory
