#include "theory/attention_map.h"

#include <cmath>

#include "base/error.h"
#include "theory/softmax_jacobian.h"

namespace eureka::theory {
namespace {

AttentionPoint linear_at(const AttentionMap& map, const Vector& logits) {
  AttentionPoint point;
  point.elementwise = true;
  point.weights = logits / map.temperature;
  point.first = Vector::Constant(logits.size(), 1 / map.temperature);
  point.second = Vector::Zero(logits.size());
  return point;
}

AttentionPoint sigmoid_at(const AttentionMap& map, const Vector& logits) {
  const double bias = map.bias.value_or(-std::log(static_cast<double>(logits.size())));
  AttentionPoint point;
  point.elementwise = true;
  point.weights = 1 / (1 + (-(logits.array() / map.temperature + bias)).exp());
  point.first = point.weights.array() * (1 - point.weights.array()) / map.temperature;
  point.second = point.first.array() * (1 - 2 * point.weights.array()) / map.temperature;
  return point;
}

// The norm kinds: which divisor holds, the row's own deviation or the temperature.
AttentionPoint normalized_at(const AttentionMap& map, const Vector& logits) {
  const double tokens = static_cast<double>(logits.size());
  const Vector centered = logits.array() - logits.mean();
  const double variance = centered.squaredNorm() / tokens + map.epsilon;
  const double deviation = std::sqrt(variance);
  const bool own = map.kind == AttentionKind::norm ||
                   (map.kind == AttentionKind::norm_min ? deviation < map.temperature : deviation > map.temperature);
  if (own && variance <= 0)
    throw Error(ErrorKind::input, "norm attention divides by the deviation of the logits, and these are all equal", {},
                "start away from zero weights, or give epsilon above 0");
  AttentionPoint point;
  point.slope = map.gain / (own ? deviation : map.temperature);
  point.weights = softmax(point.slope * centered);
  if (own) {
    point.pull = 1 / (tokens * variance);
    point.centered = centered;
  }
  return point;
}

}  // namespace

AttentionPoint AttentionMap::at(const Vector& logits) const {
  if (kind == AttentionKind::linear) return linear_at(*this, logits);
  if (kind == AttentionKind::sigmoid) return sigmoid_at(*this, logits);
  if (kind != AttentionKind::softmax) return normalized_at(*this, logits);
  AttentionPoint point;
  point.slope = 1 / temperature;
  point.weights = softmax(logits, temperature);
  return point;
}

namespace {

// (I - pull v v^T) x
Matrix without_centered(const AttentionPoint& point, const Matrix& x) {
  if (point.pull == 0) return x;
  return x - point.pull * point.centered * (point.centered.transpose() * x);
}

}  // namespace

Matrix AttentionPoint::apply(const Matrix& x) const {
  if (elementwise) return x.array().colwise() * first.array();
  return slope * apply_jacobian(weights, without_centered(*this, x));
}

Matrix AttentionPoint::apply_transposed(const Matrix& x) const {
  if (elementwise) return x.array().colwise() * first.array();
  return slope * without_centered(*this, apply_jacobian(weights, x));
}

Matrix AttentionPoint::apply_second(const Vector& c, const Matrix& x) const {
  if (elementwise) return x.array().colwise() * (c.array() * second.array());
  Matrix y = slope * slope * without_centered(*this, apply_second_derivative(weights, c, without_centered(*this, x)));
  if (pull == 0) return y;
  // The divisor itself bends: with b = J c, -slope pull [b v^T + v b^T + (b.v)(P - 3 pull v v^T)].
  const Vector b = weights.array() * (c.array() - weights.dot(c));
  const double along = b.dot(centered), factor = slope * pull;
  const Eigen::RowVectorXd by_v = centered.transpose() * x;
  y.noalias() -= factor * b * by_v;
  y.noalias() -= factor * centered * (b.transpose() * x);
  y.noalias() -= factor * along * (x.rowwise() - x.colwise().mean());
  y.noalias() += 3 * factor * along * pull * centered * by_v;
  return y;
}

}  // namespace eureka::theory
