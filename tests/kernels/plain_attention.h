// Attention rules in double, written as one reads them, and derivatives by central differences.
#pragma once

#include <cmath>
#include <functional>
#include <numeric>
#include <utility>
#include <vector>

#include "kernels/buffer.h"
#include "kernels/single_rows.h"
#include "support/rule_variants.h"

namespace eureka {

using Vector = std::vector<double>;

// d sum(weight * f(x)) / dx by central differences.
inline Vector slopes(const std::function<Vector(const Vector&)>& f, Vector x, const Vector& weight,
                     double step = 1e-5) {
  Vector result(x.size());
  const auto total = [&] {
    double sum = 0;
    const Vector y = f(x);
    for (std::size_t i = 0; i < y.size(); ++i) sum += weight[i] * y[i];
    return sum;
  };
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double start = x[i];
    x[i] = start + step;
    const double above = total();
    x[i] = start - step;
    result[i] = (above - total()) / (2 * step);
    x[i] = start;
  }
  return result;
}

// One row of logits and what rules read off it.
struct PlainRow {
  PlainRow(double multiple_, double inverse_root_width_, Vector logits_, Vector visible_)
      : multiple(multiple_),
        inverse_root_width(inverse_root_width_),
        logits(std::move(logits_)),
        visible(std::move(visible_)) {
    for (const double v : visible) keys += v;
    keys = std::max(keys, 1.0);
    for (std::size_t i = 0; i < logits.size(); ++i) mean += visible[i] * logits[i] / keys;
    for (std::size_t i = 0; i < logits.size(); ++i) variance += visible[i] * std::pow(logits[i] - mean, 2) / keys;
  }

  double scale() const { return multiple * inverse_root_width; }
  // weight(logit) of every visible key.
  Vector each(const std::function<double(double)>& weight) const {
    Vector out(logits.size(), 0.0);
    for (std::size_t i = 0; i < out.size(); ++i)
      if (visible[i] != 0) out[i] = weight(logits[i]);
    return out;
  }
  // The same, divided by their sum and `more`.
  Vector shares(const std::function<double(double)>& weight, double more = 0) const {
    Vector out = each(weight);
    const double total = std::accumulate(out.begin(), out.end(), more);
    for (double& x : out) x = total > 0 ? x / total : 0;
    return out;
  }
  Vector softmax(double factor) const {
    return shares([&](double logit) { return std::exp(factor * (logit - mean)); });
  }

  double multiple, inverse_root_width;
  Vector logits, visible;
  double keys = 0, mean = 0, variance = 0;
};

inline Vector plain_rule(const SoftmaxOptions&, const PlainRow& row) { return row.softmax(row.scale()); }

inline Vector plain_rule(const NormSoftmaxOptions& options, const PlainRow& row) {
  const double squares = row.variance * row.keys;
  const double degrees =
      options.deviation == NormSoftmaxOptions::Deviation::sample_std ? std::max(1.0, row.keys - 1) : row.keys;
  const double variance = squares / degrees + options.epsilon;
  const double deviation =
      options.deviation == NormSoftmaxOptions::Deviation::variance ? variance : std::sqrt(variance);
  const double root_width = options.spread / row.inverse_root_width;
  if (options.cap == NormSoftmaxOptions::Cap::inverse_scale)
    return row.softmax(options.spread / std::min(deviation, root_width / row.multiple));
  return row.softmax(row.multiple * options.spread / std::min(deviation, root_width));
}

inline Vector plain_rule(const SigmoidOptions& options, const PlainRow& row) {
  const double bias = options.bias == SigmoidOptions::Bias::log_keys ? std::log(row.keys) : 0;
  return row.each([&](double logit) { return 1 / (1 + std::exp(-row.scale() * logit + bias)); });
}

inline Vector plain_rule(const LinearOptions& options, const PlainRow& row) {
  return row.each([&](double logit) { return row.scale() * logit / (options.mean ? row.keys : 1); });
}

inline Vector plain_rule(const SoftmaxOneOptions&, const PlainRow& row) {
  return row.shares([&](double logit) { return std::exp(row.scale() * logit); }, 1);
}

inline Vector plain_rule(const ScalableSoftmaxOptions&, const PlainRow& row) {
  return row.softmax(row.scale() * std::log(row.keys));
}

inline Vector plain_rule(const Entmax15Options&, const PlainRow& row) {
  // The threshold by bisection: between the largest minus one and the largest.
  double low = -1e30;
  for (std::size_t i = 0; i < row.logits.size(); ++i)
    if (row.visible[i] != 0) low = std::max(low, row.scale() * row.logits[i] / 2 - 1);
  double high = low + 1;
  const auto above = [&](double tau) {
    return [&row, tau](double logit) { return std::pow(std::max(0.0, row.scale() * logit / 2 - tau), 2); };
  };
  for (int i = 0; i < 100; ++i) {
    const double tau = (low + high) / 2;
    const Vector weights = row.each(above(tau));
    (std::accumulate(weights.begin(), weights.end(), 0.0) > 1 ? low : high) = tau;
  }
  return row.shares(above(low));
}

template <class Options>
concept HasPlainVersion = requires(const Options& options, const PlainRow& row) {
  plain_rule(options, row);
};

inline Vector kernel_weights(const RowRule& rule, const PlainRow& row) {
  const std::size_t keys = row.logits.size();
  Buffer logits(round_up(keys)), weights(round_up(keys)), visible(round_up(keys));
  for (std::size_t i = 0; i < keys; ++i) {
    logits.data()[i] = static_cast<float>(row.logits[i]);
    visible.data()[i] = static_cast<float>(row.visible[i]);
  }
  row_weights(rule, {.multiple = static_cast<float>(row.multiple),
                     .inverse_root_width = static_cast<float>(row.inverse_root_width),
                     .logits = logits.data(),
                     .weights = weights.data(),
                     .keys = keys,
                     .visible = visible.data()});
  return Vector(weights.data(), weights.data() + keys);
}

// A rule without a plain version above is its own: what is made of its rows, and its gradients, are tested all the
// same; its weights are compared with those of libtorch in tests/nn.
inline Vector plain_weights(const RowRule& rule, const PlainRow& row) {
  return std::visit(
      [&]<class Options>(const Options& options) {
        if constexpr (HasPlainVersion<Options>)
          return plain_rule(options, row);
        else
          return kernel_weights(rule, row);
      },
      rule);
}

// Differences of float32 weights take larger steps and are less exact.
struct DifferenceStep {
  double step = 1e-5, slack = 1;
};
inline DifferenceStep step_for(const RowRule& rule) {
  return std::visit(
      []<class Options>(const Options&) {
        return HasPlainVersion<Options> ? DifferenceStep{} : DifferenceStep{1e-2, 100};
      },
      rule);
}

// The variants of all rules that have rows of their own.
inline const std::vector<RuleVariant>& row_variants() {
  static const std::vector<RuleVariant> all = [] {
    std::vector<RuleVariant> variants;
    for (const RuleVariant& variant : rule_variants())
      if (kRowRuleNames[make_fused_rule(variant.rule, variant.options).row.index()] == variant.rule)
        variants.push_back(variant);
    return variants;
  }();
  return all;
}

inline RowRule row_rule(const RuleVariant& variant) { return make_fused_rule(variant.rule, variant.options).row; }

}  // namespace eureka
