// How sharply each head attends, and how far apart its scaled logits lie.
#include <algorithm>
#include <cmath>
#include <limits>

#include "base/exact_math.h"
#include "diagnostics/attention_heads.h"
#include "kernels/fused_rules.h"

namespace eureka {
namespace {

// Sums over the rows of one head. A row is a query; only its visible keys exist, and one key leaves nothing to choose.
struct HeadSums {
  double rows = 0;
  double entropy = 0, largest_weight = 0, logit_deviation = 0;
  bool has_entropy = true;  // weights below 0 (linear attention) are no shares
  Mean deviation_after;     // of a rule that normalizes the logits itself
  double logit_max = 0;
  double queries = 0, keys = 0, q_square = 0, k_square = 0, v_square = 0;  // keys are others in cross-attention
};

// Of the visible keys of one row.
struct RowNumbers {
  double entropy = 0, largest_weight = 0, logit_deviation = 0, logit_max = 0;
  bool has_entropy = true;
};

// Entropy is that of the shares a / sum(a), so that rules whose rows do not add up to one have it too.
RowNumbers numbers_of(const float* weights, const float* logits, double scale, const std::vector<std::int64_t>& keys) {
  RowNumbers row;
  double sum = 0, weighted_log = 0, mean = 0;
  double largest = -std::numeric_limits<double>::infinity();
  for (const std::int64_t key : keys) {
    const double weight = static_cast<double>(weights[key]);
    const double z = scale * static_cast<double>(logits[key]);
    mean += z;
    row.logit_max = std::max(row.logit_max, std::abs(z));
    largest = std::max(largest, weight);
    sum += weight;
    if (weight < 0) row.has_entropy = false;
    if (weight > 0) weighted_log += weight * exact::log(weight);
  }
  const auto count = static_cast<double>(keys.size());
  mean /= count;
  double square = 0;
  for (const std::int64_t key : keys) {
    const double away = scale * static_cast<double>(logits[key]) - mean;
    square += away * away;
  }
  row.logit_deviation = std::sqrt(square / count);
  row.largest_weight = largest;
  if (sum <= 0) row.has_entropy = false;
  if (row.has_entropy) row.entropy = exact::log(sum) - weighted_log / sum;
  return row;
}

class Attention final : public Diagnostic {
 public:
  explicit Attention(const NoOptions&) {}

  std::vector<NumberInfo> numbers() const override {
    return {
        {"entropy", "share of log(keys)", "mean entropy of a row of weights: 0 one key, 1 all keys alike"},
        {"largest_weight", "weight", "mean over rows of the largest weight"},
        {"logit_deviation", "scaled logits", "mean over rows of their deviation; below 1 softmax is nearly flat"},
        {"logit_deviation_after", "scaled logits", "the same behind the division by NormSoftmax, where there is one"},
        {"logit_max", "scaled logits", "largest absolute value; above 100 a row is one-hot"},
        {"q_norm", "length", "root mean square over tokens of the length of a query"},
        {"k_norm", "length", "root mean square over tokens of the length of a key"},
        {"v_norm", "length", "root mean square over tokens of the length of a value"}};
  }

  ObservationRequest wants() const override {
    return {.points = {Point::q, Point::k, Point::v, Point::logits, Point::weights}};
  }

  void see(const ObservationView& view) override {
    const TensorView& weights = view.value(Point::weights);
    if (!weights.exists()) return;
    std::vector<HeadSums>& heads = heads_.at(view.layer, weights.sizes[1]);
    for (std::int64_t s = 0; s < view.samples; ++s) {
      for (std::int64_t query = 0; query < weights.sizes[2]; ++query) {
        const std::vector<std::int64_t>& keys = visible_.find(view.mask, s, query, weights.sizes[3]);
        const double log_keys = keys.size() > 1 ? exact::log(static_cast<double>(keys.size())) : 1;
        if (keys.empty()) continue;
        for (std::size_t head = 0; head < heads.size(); ++head)
          see_row(view, s, head, query, keys, log_keys, heads[head]);
      }
      for (std::size_t head = 0; head < heads.size(); ++head) see_tokens(view, s, head, heads[head]);
    }
  }

  void report(NumberRow& row) override {
    const auto add = [&](const char* name, const auto& number) { heads_.add(row, name, number); };
    add("entropy", [](const HeadSums& head) { return head.has_entropy ? head.entropy / head.rows : kNone; });
    add("largest_weight", [](const HeadSums& head) { return head.largest_weight / head.rows; });
    add("logit_deviation", [](const HeadSums& head) { return head.logit_deviation / head.rows; });
    add("logit_deviation_after", [](const HeadSums& head) { return head.deviation_after.value(); });
    add("logit_max", [](const HeadSums& head) { return head.logit_max; });
    add("q_norm", [](const HeadSums& head) { return std::sqrt(head.q_square / head.queries); });
    add("k_norm", [](const HeadSums& head) { return std::sqrt(head.k_square / head.keys); });
    add("v_norm", [](const HeadSums& head) { return std::sqrt(head.v_square / head.keys); });
    heads_.clear();
  }

 private:
  static constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

  static void see_row(const ObservationView& view, std::int64_t sample, std::size_t head, std::int64_t query,
                      const std::vector<std::int64_t>& keys, double log_keys, HeadSums& sums) {
    const auto h = static_cast<std::int64_t>(head);
    const auto scale = static_cast<double>(view.scale[head]);
    const RowNumbers row = numbers_of(view.value(Point::weights).row(sample, h, query),
                                      view.value(Point::logits).row(sample, h, query), scale, keys);
    sums.logit_max = std::max(sums.logit_max, row.logit_max);
    if (keys.size() < 2) return;
    sums.rows += 1;
    sums.entropy += row.entropy / log_keys;
    sums.has_entropy = sums.has_entropy && row.has_entropy;
    sums.largest_weight += row.largest_weight;
    sums.logit_deviation += row.logit_deviation;
    if (view.rule == nullptr || !view.rule->normalizes_rows) return;
    const double deviation = row.logit_deviation / scale, width = static_cast<double>(view.inverse_root_width);
    const RowLaw law = view.rule->law({.keys = static_cast<double>(keys.size()),
                                       .variance = deviation * deviation,
                                       .multiple = scale / width,
                                       .inverse_root_width = width});
    sums.deviation_after.add(law.sharpness * deviation);
  }

  static void see_tokens(const ObservationView& view, std::int64_t sample, std::size_t head, HeadSums& sums) {
    const auto h = static_cast<std::int64_t>(head);
    sums.queries += static_cast<double>(view.value(Point::q).sizes[2]);
    sums.keys += static_cast<double>(view.value(Point::k).sizes[2]);
    sums.q_square += square_of(view.value(Point::q), sample, h);
    sums.k_square += square_of(view.value(Point::k), sample, h);
    sums.v_square += square_of(view.value(Point::v), sample, h);
  }

  PerHead<HeadSums> heads_;
  VisibleKeys visible_;
};

EUREKA_DIAGNOSTIC("attention", Attention, NoOptions, "how sharply each head attends: entropy, largest weight, logits");

}  // namespace
}  // namespace eureka
