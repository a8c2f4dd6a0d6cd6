// How much of the gradient by a head's weights survives on its way to logits, queries and keys, beside that by its
// values.
#include <cmath>
#include <limits>

#include "diagnostics/attention_heads.h"
#include "diagnostics/reachable.h"
#include "kernels/fused_rules.h"

namespace eureka {
namespace {

// Sums of squares over all that was seen of one head.
struct HeadSquares {
  double weights = 0, weights_centred = 0, scaled_logits = 0, logits = 0, q = 0, k = 0, v = 0, q_raw = 0, k_raw = 0;
  bool shares = true;  // rows of weights add up to one, so that the rule cannot feel the mean of a row's gradient
  bool has_jacobian = true;
  bool normalized = false;  // queries and keys are, before they meet
  Mean reachable;
};

class Attenuation final : public Diagnostic {
 public:
  explicit Attenuation(const NoOptions&) {}

  std::vector<NumberInfo> numbers() const override {
    return {{"through_softmax", "ratio", "|dL/dscaled logits| / |dL/dweights|, what the rule cannot feel taken off"},
            {"qk_to_v", "ratio", "root mean square of |dL/dq| and |dL/dk|, by |dL/dv|: how queries and keys starve"},
            {"reachable", "share", "of the wanted change of logits that a small change of q and k can make"},
            {"d_weights", "loss per weight", "norm of the gradient by the weights"},
            {"d_weights_centred", "loss per weight", "the same with each row's mean taken off"},
            {"d_scaled_logits", "loss per scaled logit", "norm of the gradient by the scaled logits"},
            {"d_logits", "loss per logit", "norm of the gradient by q.k"},
            {"d_q", "loss per query", "norm of the gradient by the queries as they meet the keys"},
            {"d_k", "loss per key", "norm of the gradient by the keys as they meet the queries"},
            {"d_v", "loss per value", "norm of the gradient by the values"},
            {"d_q_raw", "loss per query",
             "norm of the gradient by the queries before QK-norm and rotary positions, where there are"},
            {"d_k_raw", "loss per key",
             "norm of the gradient by the keys before QK-norm and rotary positions, where there are"}};
  }

  ObservationRequest wants() const override {
    return {.points = {Point::q, Point::k, Point::v, Point::logits, Point::weights, Point::q_raw, Point::k_raw},
            .gradients = true};
  }

  void see(const ObservationView& view) override {
    const TensorView& d_weights = view.gradient(Point::weights);
    if (!d_weights.exists()) return;
    std::vector<HeadSquares>& heads = heads_.at(view.layer, d_weights.sizes[1]);
    for (std::size_t head = 0; head < heads.size(); ++head) {
      HeadSquares& sums = heads[head];
      const RowForm form = view.rule == nullptr ? RowForm::softmax : view.rule->form();
      sums.shares = form == RowForm::softmax || form == RowForm::entmax15;
      sums.has_jacobian = form != RowForm::other;
      sums.normalized = view.gradient(Point::q_raw).exists();
      for (std::int64_t s = 0; s < view.samples; ++s) see_sample(view, s, head, sums);
    }
  }

  void report(NumberRow& row) override {
    const auto add = [&](const char* name, const auto& number) { heads_.add(row, name, number); };
    add("through_softmax", [](const HeadSquares& h) {
      return h.has_jacobian ? std::sqrt(h.scaled_logits / (h.shares ? h.weights_centred : h.weights)) : kNone;
    });
    add("qk_to_v", [](const HeadSquares& h) { return std::sqrt((h.q + h.k) / 2 / h.v); });
    add("reachable", [](const HeadSquares& h) { return h.reachable.value(); });
    add("d_weights", [](const HeadSquares& h) { return std::sqrt(h.weights); });
    add("d_weights_centred", [](const HeadSquares& h) { return std::sqrt(h.weights_centred); });
    add("d_scaled_logits", [](const HeadSquares& h) { return std::sqrt(h.scaled_logits); });
    add("d_logits", [](const HeadSquares& h) { return std::sqrt(h.logits); });
    add("d_q", [](const HeadSquares& h) { return std::sqrt(h.q); });
    add("d_k", [](const HeadSquares& h) { return std::sqrt(h.k); });
    add("d_v", [](const HeadSquares& h) { return std::sqrt(h.v); });
    add("d_q_raw", [](const HeadSquares& h) { return h.normalized ? std::sqrt(h.q_raw) : kNone; });
    add("d_k_raw", [](const HeadSquares& h) { return h.normalized ? std::sqrt(h.k_raw) : kNone; });
    heads_.clear();
  }

 private:
  static constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

  void see_sample(const ObservationView& view, std::int64_t sample, std::size_t head, HeadSquares& sums) {
    const auto h = static_cast<std::int64_t>(head);
    see_weights(view, sample, h, sums);
    const double logits = square_of(view.gradient(Point::logits), sample, h);
    const auto scale = static_cast<double>(view.scale[head]);
    sums.logits += logits;
    sums.scaled_logits += logits / (scale * scale);
    sums.q += square_of(view.gradient(Point::q), sample, h);
    sums.k += square_of(view.gradient(Point::k), sample, h);
    sums.v += square_of(view.gradient(Point::v), sample, h);
    if (sums.normalized) {
      sums.q_raw += square_of(view.gradient(Point::q_raw), sample, h);
      sums.k_raw += square_of(view.gradient(Point::k_raw), sample, h);
    }
    const auto share =
        reachable_.of(view.value(Point::q), view.value(Point::k), view.gradient(Point::logits), sample, h);
    if (share) sums.reachable.add(*share);
  }

  void see_weights(const ObservationView& view, std::int64_t sample, std::int64_t head, HeadSquares& sums) {
    const TensorView& d_weights = view.gradient(Point::weights);
    for (std::int64_t query = 0; query < d_weights.sizes[2]; ++query) {
      const std::vector<std::int64_t>& keys = visible_.find(view.mask, sample, query, d_weights.sizes[3]);
      if (keys.empty()) continue;
      const float* row = d_weights.row(sample, head, query);
      double mean = 0;
      for (const std::int64_t key : keys) mean += static_cast<double>(row[key]);
      mean /= static_cast<double>(keys.size());
      for (const std::int64_t key : keys) {
        const auto g = static_cast<double>(row[key]);
        sums.weights += g * g;
        sums.weights_centred += (g - mean) * (g - mean);
      }
    }
  }

  PerHead<HeadSquares> heads_;
  VisibleKeys visible_;
  ReachableShare reachable_;
};

EUREKA_DIAGNOSTIC("attenuation", Attenuation, NoOptions,
                  "how much of the gradient survives from the weights to logits, queries and keys, beside values");

}  // namespace
}  // namespace eureka
