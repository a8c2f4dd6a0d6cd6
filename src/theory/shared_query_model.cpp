#include "theory/shared_query_model.h"

#include "base/error.h"
#include "theory/softmax_jacobian.h"

namespace eureka::theory {

SharedQueryModel::SharedQueryModel(StackedKeys data, Matrix values, AttentionMap map)
    : data_(std::move(data)), given_values_(std::move(values)), outputs_(given_values_.cols()), map_(map) {
  EUREKA_CHECK(given_values_.rows() == data_.keys.rows() && given_values_.size() > 0, "one value per token");
  targets_ = Matrix::Zero(data_.examples(), outputs_);
}

SharedQueryModel::SharedQueryModel(StackedKeys data, Index outputs, AttentionMap map)
    : data_(std::move(data)), outputs_(outputs), map_(map) {
  targets_ = Matrix::Zero(data_.examples(), outputs_);
}

Index SharedQueryModel::dimension() const {
  const Index d = data_.keys.cols();
  return trains_values() ? d + d * outputs_ : d;
}

AttentionPoint SharedQueryModel::attention(const Vector& at, Index example) const {
  return map_.at(data_.of(example) * at.head(data_.keys.cols()));
}

Matrix SharedQueryModel::values_of(const Vector& at, Index example) const {
  if (!trains_values()) return given_values_.middleRows(example * data_.tokens, data_.tokens);
  const Index d = data_.keys.cols();
  return data_.of(example) * Eigen::Map<const Matrix>(at.data() + d, d, outputs_);
}

Matrix SharedQueryModel::outputs(const Vector& at) const {
  Matrix result(data_.examples(), outputs_);
  for (Index i = 0; i < result.rows(); ++i) result.row(i) = attention(at, i).weights.transpose() * values_of(at, i);
  return result;
}

// d o / d parameters, p x dimension.
Matrix SharedQueryModel::output_slopes(const AttentionPoint& point, const Matrix& values, Index example) const {
  const Index d = data_.keys.cols();
  Matrix slopes = Matrix::Zero(outputs_, dimension());
  slopes.leftCols(d) = values.transpose() * point.apply(data_.of(example));
  if (!trains_values()) return slopes;
  const Vector mean = data_.of(example).transpose() * point.weights;
  for (Index l = 0; l < d; ++l)
    for (Index k = 0; k < outputs_; ++k) slopes(k, d + l * outputs_ + k) = mean[l];
  return slopes;
}

double SharedQueryModel::loss_and_gradient(const Vector& at, Vector& gradient) const {
  if (map_.kind == AttentionKind::softmax && !trains_values()) return softmax_loss_and_gradient(at, gradient);
  const Index d = data_.keys.cols();
  const double examples = static_cast<double>(data_.examples());
  double loss = 0;
  gradient = Vector::Zero(dimension());
  for (Index i = 0; i < data_.examples(); ++i) {
    const AttentionPoint point = attention(at, i);
    const Matrix values = values_of(at, i);
    const Vector r = values.transpose() * point.weights - targets_.row(i).transpose();
    loss += 0.5 * r.squaredNorm();
    gradient.head(d) += data_.of(i).transpose() * point.apply_transposed(values * r);
    if (!trains_values()) continue;
    const Vector mean = data_.of(i).transpose() * point.weights;
    Eigen::Map<Matrix>(gradient.data() + d, d, outputs_) += mean * r.transpose();
  }
  gradient /= examples;
  return loss / examples;
}

// The loop of every long run: no memory is taken per example.
double SharedQueryModel::softmax_loss_and_gradient(const Vector& w, Vector& gradient) const {
  const Index tokens = data_.tokens;
  const double examples = static_cast<double>(data_.examples()), slope = 1 / map_.temperature;
  Vector s = data_.keys * w, product(tokens);  // product: U r
  double loss = 0;
  for (Index i = 0; i < data_.examples(); ++i) {
    auto row = s.segment(i * tokens, tokens);
    const double top = row.maxCoeff();
    row = ((row.array() - top) * slope).exp();
    row /= row.sum();
    const auto values = given_values_.middleRows(i * tokens, tokens);
    product.setZero();
    for (Index k = 0; k < outputs_; ++k) {
      const double r = values.col(k).dot(row) - targets_(i, k);
      loss += 0.5 * r * r;
      product += r * values.col(k);
    }
    row = row.array() * (product.array() - product.dot(row));
  }
  gradient.noalias() = data_.keys.transpose() * s;
  gradient *= slope / examples;
  return loss / examples;
}

Curvature SharedQueryModel::curvature(const Vector& at) const {
  const Index d = data_.keys.cols(), n = dimension();
  Curvature result{0, Vector::Zero(n), Matrix::Zero(n, n), Matrix::Zero(n, n)};
  for (Index i = 0; i < data_.examples(); ++i) {
    const auto x = data_.of(i);
    const AttentionPoint point = attention(at, i);
    const Matrix values = values_of(at, i);
    const Vector r = values.transpose() * point.weights - targets_.row(i).transpose();
    const Matrix slopes = output_slopes(point, values, i);
    result.loss += 0.5 * r.squaredNorm();
    result.gradient += slopes.transpose() * r;
    result.gauss_newton.noalias() += slopes.transpose() * slopes;
    result.residual.topLeftCorner(d, d) += x.transpose() * point.apply_second(values * r, x);
    if (!trains_values()) continue;
    const Matrix mean_slope = x.transpose() * point.apply(x);  // d (X^T a) / d w
    for (Index l = 0; l < d; ++l)
      for (Index k = 0; k < outputs_; ++k) {
        result.residual.row(d + l * outputs_ + k).head(d) += r[k] * mean_slope.row(l);
        result.residual.col(d + l * outputs_ + k).head(d) += r[k] * mean_slope.row(l).transpose();
      }
  }
  const double examples = static_cast<double>(data_.examples());
  result.loss /= examples;
  result.gradient /= examples;
  result.gauss_newton /= examples;
  result.residual /= examples;
  return result;
}

Matrix SharedQueryModel::gauss_newton(const Vector& at) const {
  Matrix all(data_.examples() * outputs_, dimension());
  for (Index i = 0; i < data_.examples(); ++i)
    all.middleRows(i * outputs_, outputs_) = output_slopes(attention(at, i), values_of(at, i), i);
  return all.transpose() * all / static_cast<double>(data_.examples());
}

Matrix SharedQueryModel::fisher(const Vector& at) const {
  EUREKA_CHECK(map_.kind == AttentionKind::softmax && !trains_values(), "F is the metric of softmax in w alone");
  const Index d = data_.keys.cols();
  Matrix sum = Matrix::Zero(d, d);
  for (Index i = 0; i < data_.examples(); ++i) {
    const Vector a = attention(at, i).weights;
    const auto x = data_.of(i);
    const Eigen::RowVectorXd mean = a.transpose() * x;
    const Matrix centered = (x.rowwise() - mean).array().colwise() * a.array().sqrt();
    sum.noalias() += centered.transpose() * centered;
  }
  return sum / (static_cast<double>(data_.examples()) * map_.temperature * map_.temperature);
}

Matrix SharedQueryModel::attention_gram(const Vector& at) const {
  EUREKA_CHECK(!trains_values(), "G2 is a metric in w alone");
  Matrix all(data_.keys.rows(), data_.keys.cols());
  for (Index i = 0; i < data_.examples(); ++i)
    all.middleRows(i * data_.tokens, data_.tokens) = attention(at, i).apply(data_.of(i));
  return all.transpose() * all / static_cast<double>(data_.examples());
}

}  // namespace eureka::theory
