// How the weights of each head answer to its scaled logits: the Jacobian of the softmax, row by row.
#include <cmath>

#include "diagnostics/attention_heads.h"
#include "diagnostics/row_jacobian.h"

namespace eureka {
namespace {

struct HeadMeans {
  Mean trace, effective_rank, active_keys, largest, smallest, log10_condition;
};

class Jacobian final : public Diagnostic {
 public:
  explicit Jacobian(const NoOptions&) {}

  std::vector<NumberInfo> numbers() const override {
    return {{"trace", "weight per scaled logit", "mean over rows of tr J: 0 one-hot, 1 - 1/keys all keys alike"},
            {"effective_rank", "directions", "mean of (tr J)^2 / |J|^2: how many directions of logits matter"},
            {"active_keys", "keys", "mean of 1 / sum of squared weights"},
            {"largest", "weight per scaled logit", "mean of the largest eigenvalue of J; at most 1/2 for softmax"},
            {"smallest", "weight per scaled logit", "mean of the smallest eigenvalue orthogonal to (1,...,1)"},
            {"log10_condition", "decades", "mean of the logarithm of their ratio: 0 all directions alike"}};
  }

  ObservationRequest wants() const override { return {.points = {Point::logits, Point::weights}}; }

  void see(const ObservationView& view) override {
    const TensorView& weights = view.value(Point::weights);
    if (!weights.exists() || view.rule == nullptr) return;
    std::vector<HeadMeans>& heads = heads_.at(view.layer, weights.sizes[1]);
    for (std::int64_t s = 0; s < view.samples; ++s)
      for (std::int64_t query = 0; query < weights.sizes[2]; ++query) {
        const std::vector<std::int64_t>& keys = visible_.find(view.mask, s, query, weights.sizes[3]);
        if (keys.size() < 2) continue;
        for (std::size_t head = 0; head < heads.size(); ++head) see_row(view, s, head, query, keys, heads[head]);
      }
  }

  void report(NumberRow& row) override {
    const auto add = [&](const char* name, Mean HeadMeans::*mean) {
      heads_.add(row, name, [&](const HeadMeans& head) { return (head.*mean).value(); });
    };
    add("trace", &HeadMeans::trace);
    add("effective_rank", &HeadMeans::effective_rank);
    add("active_keys", &HeadMeans::active_keys);
    add("largest", &HeadMeans::largest);
    add("smallest", &HeadMeans::smallest);
    add("log10_condition", &HeadMeans::log10_condition);
    heads_.clear();
  }

 private:
  void see_row(const ObservationView& view, std::int64_t sample, std::size_t head, std::int64_t query,
               const std::vector<std::int64_t>& keys, HeadMeans& means) {
    const auto h = static_cast<std::int64_t>(head);
    const float* logits = view.value(Point::logits).row(sample, h, query);
    const float* weights = view.value(Point::weights).row(sample, h, query);
    row_.logits.clear();
    row_.weights.clear();
    double mean = 0;
    for (const std::int64_t key : keys) {
      row_.logits.push_back(static_cast<double>(logits[key]));
      row_.weights.push_back(static_cast<double>(weights[key]));
      mean += row_.logits.back();
    }
    RowFacts facts{.keys = static_cast<double>(keys.size()),
                   .inverse_root_width = static_cast<double>(view.inverse_root_width)};
    mean /= facts.keys;
    for (const double s : row_.logits) facts.variance += (s - mean) * (s - mean) / facts.keys;
    const auto scale = static_cast<double>(view.scale[head]);
    facts.multiple = scale / facts.inverse_root_width * static_cast<double>(view.strength[head]);
    const std::optional<RowJacobian> j = row_jacobian(*view.rule, facts, scale, row_);
    if (!j) return;
    means.trace.add(j->trace);
    if (j->effective_rank) means.effective_rank.add(*j->effective_rank);
    if (j->active_keys) means.active_keys.add(*j->active_keys);
    if (!j->extremes) return;
    means.largest.add(j->extremes->largest);
    means.smallest.add(j->extremes->smallest);
    means.log10_condition.add(j->extremes->log10_condition);
  }

  PerHead<HeadMeans> heads_;
  VisibleKeys visible_;
  JacobianRow row_;
};

EUREKA_DIAGNOSTIC("jacobian", Jacobian, NoOptions,
                  "how the weights answer to the logits: trace, extremes and condition of the softmax Jacobian");

}  // namespace
}  // namespace eureka
