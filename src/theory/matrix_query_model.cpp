#include "theory/matrix_query_model.h"

namespace eureka::theory {
namespace {

StackedKeys query_key_features(const StackedKeys& data) {
  const Index d = data.keys.cols(), tokens = data.tokens;
  StackedKeys features{tokens, Matrix(data.keys.rows() * tokens, d * d)};
  Index row = 0;
  for (Index query = 0; query < data.keys.rows(); ++query) {
    const auto x = data.of(query / tokens);
    for (Index j = 0; j < tokens; ++j, ++row)
      for (Index k = 0; k < d; ++k) features.keys.row(row).segment(k * d, d) = data.keys(query, k) * x.row(j);
  }
  return features;
}

// Every query of an example sees the same values.
Matrix values_per_query(const StackedKeys& data, const Matrix& value_weight) {
  const Matrix values = data.keys * value_weight;
  Matrix all(values.rows() * data.tokens, values.cols());
  for (Index query = 0; query < values.rows(); ++query)
    all.middleRows(query * data.tokens, data.tokens) =
        values.middleRows(query / data.tokens * data.tokens, data.tokens);
  return all;
}

}  // namespace

MatrixQueryModel::MatrixQueryModel(const StackedKeys& data, const Matrix& value_weight, AttentionMap map)
    : width_(data.keys.cols()),
      factor_(static_cast<double>(data.tokens)),
      rows_(query_key_features(data), values_per_query(data, value_weight), map) {}

double MatrixQueryModel::loss_and_gradient(const Vector& at, Vector& gradient) const {
  const double loss = rows_.loss_and_gradient(at, gradient);
  gradient *= factor_;
  return factor_ * loss;
}

Curvature MatrixQueryModel::curvature(const Vector& at) const {
  Curvature c = rows_.curvature(at);
  c.loss *= factor_;
  c.gradient *= factor_;
  c.gauss_newton *= factor_;
  c.residual *= factor_;
  return c;
}

Eigen::Map<const Matrix> FactoredQueryModel::queries(const Vector& at) const {
  return {at.data(), full_.width(), rank_};
}

Eigen::Map<const Matrix> FactoredQueryModel::keys(const Vector& at) const {
  return {at.data() + full_.width() * rank_, full_.width(), rank_};
}

Vector FactoredQueryModel::product(const Vector& at) const {
  const Matrix w = queries(at) * keys(at).transpose();
  return Eigen::Map<const Vector>(w.data(), w.size());
}

Matrix FactoredQueryModel::product_slopes(const Vector& at) const {
  const Index d = full_.width(), half = d * rank_;
  const auto q = queries(at), k = keys(at);
  Matrix slopes = Matrix::Zero(d * d, 2 * half);
  for (Index i = 0; i < d; ++i)
    for (Index j = 0; j < d; ++j)
      for (Index m = 0; m < rank_; ++m) {
        slopes(i * d + j, i * rank_ + m) = k(j, m);
        slopes(i * d + j, half + j * rank_ + m) = q(i, m);
      }
  return slopes;
}

Vector FactoredQueryModel::pull_back(const Vector& at, const Vector& by_weight) const {
  const Index d = full_.width(), half = d * rank_;
  const Eigen::Map<const Matrix> g(by_weight.data(), d, d);
  Vector gradient(2 * half);
  Eigen::Map<Matrix>(gradient.data(), d, rank_) = g * keys(at);
  Eigen::Map<Matrix>(gradient.data() + half, d, rank_) = g.transpose() * queries(at);
  return gradient;
}

double FactoredQueryModel::loss_and_gradient(const Vector& at, Vector& gradient) const {
  Vector by_weight;
  const double loss = full_.loss_and_gradient(product(at), by_weight);
  gradient = pull_back(at, by_weight);
  return loss;
}

Curvature FactoredQueryModel::curvature(const Vector& at) const {
  const Curvature full = full_.curvature(product(at));
  const Matrix slopes = product_slopes(at);
  const Index d = full_.width(), half = d * rank_;
  Curvature c{full.loss, pull_back(at, full.gradient), slopes.transpose() * full.gauss_newton * slopes,
              slopes.transpose() * full.residual * slopes};
  // W is bilinear in its factors: the gradient by W couples row i of W_Q with row j of W_K.
  for (Index i = 0; i < d; ++i)
    for (Index j = 0; j < d; ++j)
      for (Index m = 0; m < rank_; ++m) {
        c.residual(i * rank_ + m, half + j * rank_ + m) += full.gradient[i * d + j];
        c.residual(half + j * rank_ + m, i * rank_ + m) += full.gradient[i * d + j];
      }
  return c;
}

Matrix FactoredQueryModel::fisher(const Vector& at) const {
  const Matrix slopes = product_slopes(at);
  return slopes.transpose() * full_.fisher(product(at)) * slopes;
}

Matrix FactoredQueryModel::attention_gram(const Vector& at) const {
  const Matrix slopes = product_slopes(at);
  return slopes.transpose() * full_.attention_gram(product(at)) * slopes;
}

}  // namespace eureka::theory
