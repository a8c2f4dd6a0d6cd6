#include "diagnostics/array_row.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "base/exact_math.h"

namespace eureka {

void ArrayRow::work_out(const FusedRule& rule, double scale, double width) {
  const auto keys = static_cast<double>(logits.size());
  RowFacts facts{.keys = keys, .inverse_root_width = 1 / std::sqrt(width)};
  facts.multiple = scale * std::sqrt(width) * static_cast<double>(rule.scale_factor);
  mean_ = std::accumulate(logits.begin(), logits.end(), 0.0) / keys;
  for (const double s : logits) facts.variance += (s - mean_) * (s - mean_) / keys;
  law_ = rule.law(facts);
  weights.resize(logits.size());
  if (rule.form() == RowForm::entmax15) return entmax15();
  if (rule.form() == RowForm::sigmoid) {
    for (std::size_t i = 0; i < weights.size(); ++i)
      weights[i] = 1 / (1 + exact::exp(law_.shift - law_.sharpness * logits[i]));
    return;
  }
  const bool with_one = rule.form() == RowForm::softmax_one;
  double top = law_.sharpness * *std::max_element(logits.begin(), logits.end());
  if (with_one) top = std::max(top, 0.0);
  double sum = with_one ? exact::exp(-top) : 0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    weights[i] = exact::exp(law_.sharpness * logits[i] - top);
    sum += weights[i];
  }
  for (double& weight : weights) weight /= sum;
}

// max(0, u / 2 - tau)^2: with the keys in falling order, the first so many of them whose own tau leaves them above it.
void ArrayRow::entmax15() {
  std::vector<double> half(logits.size());
  for (std::size_t i = 0; i < half.size(); ++i) half[i] = law_.sharpness * logits[i] / 2;
  std::vector<double> sorted = half;
  std::sort(sorted.begin(), sorted.end(), std::greater<>());
  const double top = sorted.front();
  double tau = -1, sum = 0, square = 0;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    const double x = sorted[i] - top, count = static_cast<double>(i + 1);
    sum += x;
    square += x * x;
    const double mean = sum / count, inside = (1 - (square - count * mean * mean)) / count;
    const double candidate = mean - std::sqrt(std::max(inside, 0.0));
    if (candidate > x) break;
    tau = candidate;
  }
  for (std::size_t i = 0; i < half.size(); ++i) {
    const double above = std::max(0.0, half[i] - top - tau);
    weights[i] = above * above;
  }
}

void ArrayRow::pass_back(const FusedRule& rule) {
  const RowForm form = rule.form();
  d_logits.resize(logits.size());
  if (form == RowForm::sigmoid) {
    for (std::size_t i = 0; i < logits.size(); ++i) d_logits[i] = weights[i] * (1 - weights[i]) * d_weights[i];
  } else if (form == RowForm::entmax15) {
    double total = 0, along = 0;
    for (std::size_t i = 0; i < logits.size(); ++i) {
      total += std::sqrt(weights[i]);
      along += std::sqrt(weights[i]) * d_weights[i];
    }
    for (std::size_t i = 0; i < logits.size(); ++i)
      d_logits[i] = std::sqrt(weights[i]) * (d_weights[i] - along / total);
  } else {
    const double along = std::inner_product(weights.begin(), weights.end(), d_weights.begin(), 0.0);
    for (std::size_t i = 0; i < logits.size(); ++i) d_logits[i] = weights[i] * (d_weights[i] - along);
  }
  // From the scaled logits to q.k, and through the sharpness where that answers to them.
  double by_sharpness = 0;
  for (std::size_t i = 0; i < logits.size(); ++i) by_sharpness += d_logits[i] * logits[i];
  for (std::size_t i = 0; i < logits.size(); ++i)
    d_logits[i] = law_.sharpness * (d_logits[i] - law_.pull * by_sharpness * (logits[i] - mean_));
}

}  // namespace eureka
