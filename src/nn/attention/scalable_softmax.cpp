// Scalable softmax: the scale grows with the logarithm of the number of visible keys, so that attention does not fade
// in long rows (Nakanishi 2025).
#include "kernels/rules/scalable_softmax.h"
#include "engine/rule_parameters.h"
#include "nn/attention_rule.h"

namespace eureka {
namespace {

class ScalableSoftmax final : public AttentionRule {
 public:
  explicit ScalableSoftmax(const ScalableSoftmaxOptions& options) : options_(options) {}

  std::vector<ParameterSpec> parameters(const HeadShape& shape) const override {
    return rule_parameters(options_.parameters(), shape.heads, shape.width);
  }

  at::Tensor weights(const at::Tensor& logits, const AttentionContext& context) const override {
    const at::Tensor log_keys = context.visible_keys(logits).log();
    const at::Tensor factor =
        options_.learnable ? log_keys * context.parameters[0].view({-1, 1, 1}) : log_keys * options_.strength;
    return masked_softmax(context.scale.times_scale(logits) * factor, context);
  }

 private:
  ScalableSoftmaxOptions options_;
};

EUREKA_ATTENTION_RULE("scalable_softmax", ScalableSoftmax, ScalableSoftmaxOptions,
                      ScalableSoftmaxOptions::kDescription);

}  // namespace
}  // namespace eureka
