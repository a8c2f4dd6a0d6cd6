// Attention rules in double, written as one reads them, and derivatives by central differences.
#pragma once

#include <cmath>
#include <functional>
#include <vector>

#include "kernels/attention_rows.h"

namespace eureka {

using Vector = std::vector<double>;

// d sum(weight * f(x)) / dx by central differences.
inline Vector slopes(const std::function<Vector(const Vector&)>& f, Vector x, const Vector& weight) {
  Vector result(x.size());
  const auto total = [&] {
    double sum = 0;
    const Vector y = f(x);
    for (std::size_t i = 0; i < y.size(); ++i) sum += weight[i] * y[i];
    return sum;
  };
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double start = x[i], step = 1e-5;
    x[i] = start + step;
    const double above = total();
    x[i] = start - step;
    result[i] = (above - total()) / (2 * step);
    x[i] = start;
  }
  return result;
}

inline Vector plain_weights(const RowRule& rule, double multiple, const Vector& logits, const Vector& visible) {
  double keys = 0, mean = 0, square = 0;
  for (const double v : visible) keys += v;
  keys = std::max(keys, 1.0);
  for (std::size_t i = 0; i < logits.size(); ++i) mean += visible[i] * logits[i] / keys;
  for (std::size_t i = 0; i < logits.size(); ++i) square += visible[i] * std::pow(logits[i] - mean, 2) / keys;
  const double scale = multiple * rule.inverse_root_width;
  Vector out(logits.size(), 0.0);
  const auto softmax = [&](double factor) {
    double total = 0;
    for (std::size_t i = 0; i < out.size(); ++i)
      total += out[i] = visible[i] != 0 ? std::exp(factor * (logits[i] - mean)) : 0;
    for (double& x : out) x = total > 0 ? x / total : 0;
  };
  switch (rule.kind) {
    case RowRuleKind::softmax:
      softmax(scale);
      break;
    case RowRuleKind::norm_softmax: {
      const double variance = square + rule.epsilon;
      const double deviation = rule.by_variance ? variance : std::sqrt(variance);
      softmax(multiple / std::min(deviation, 1.0 / rule.inverse_root_width));
      break;
    }
    case RowRuleKind::sigmoid:
      for (std::size_t i = 0; i < out.size(); ++i)
        out[i] = visible[i] / (1 + std::exp(-scale * logits[i] + (rule.log_keys_bias ? std::log(keys) : 0)));
      break;
    case RowRuleKind::softmax_one: {
      double total = 1;
      for (std::size_t i = 0; i < out.size(); ++i) total += out[i] = visible[i] * std::exp(scale * logits[i]);
      for (double& x : out) x /= total;
      break;
    }
    case RowRuleKind::scalable_softmax:
      softmax(scale * std::log(keys));
      break;
    case RowRuleKind::entmax15: {
      // The threshold by bisection: between the largest minus one and the largest.
      double low = -1e30;
      for (std::size_t i = 0; i < out.size(); ++i)
        if (visible[i] != 0) low = std::max(low, scale * logits[i] / 2 - 1);
      double high = low + 1;
      const auto fill = [&](double tau) {
        double total = 0;
        for (std::size_t i = 0; i < out.size(); ++i)
          total += out[i] = visible[i] * std::pow(std::max(0.0, scale * logits[i] / 2 - tau), 2);
        return total;
      };
      for (int i = 0; i < 100; ++i) (fill((low + high) / 2) > 1 ? low : high) = (low + high) / 2;
      const double total = fill(low);
      for (double& x : out) x = total > 0 ? x / total : 0;
      break;
    }
    case RowRuleKind::linear:
      for (std::size_t i = 0; i < out.size(); ++i) out[i] = visible[i] * scale * logits[i] / (rule.mean ? keys : 1);
      break;
  }
  return out;
}

}  // namespace eureka
