// Scalable softmax: the scale grows with the logarithm of the number of visible keys, so that attention does not fade
// in long rows (Nakanishi 2025).
#include "nn/attention_rule.h"

namespace eureka {
namespace {

struct Options {
  double strength = 0.43;
  bool learnable = true;

  template <class V>
  void visit(V& v) {
    v("strength", strength, Range{1e-6, 1e3}, "factor on ln(visible keys); where a learnable one starts");
    v("learnable", learnable, "learn the strength per head");
  }
};

class ScalableSoftmax final : public AttentionRule {
 public:
  explicit ScalableSoftmax(const Options& options) : options_(options) {}

  std::vector<ParameterSpec> parameters(const HeadShape& shape) const override {
    if (!options_.learnable) return {};
    return {{"strength", {shape.heads}, ParameterGroup::rule, Initializer::constant(options_.strength), false}};
  }

  at::Tensor weights(const at::Tensor& logits, const AttentionContext& context) const override {
    const at::Tensor log_keys = context.visible_keys(logits).log();
    const at::Tensor factor =
        options_.learnable ? log_keys * context.parameters[0].view({-1, 1, 1}) : log_keys * options_.strength;
    return masked_softmax(context.scale.times_scale(logits) * factor, context);
  }

 private:
  Options options_;
};

EUREKA_ATTENTION_RULE("scalable_softmax", ScalableSoftmax, Options,
                      "softmax with a scale that grows as ln(visible keys)");

}  // namespace
}  // namespace eureka
