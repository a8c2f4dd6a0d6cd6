// Softmax of the scaled logits, the usual rule. With a half-cosine scale it is Heat Treatment.
#include "kernels/rules/softmax.h"
#include "nn/attention_rule.h"

namespace eureka {
namespace {

class Softmax final : public AttentionRule {
 public:
  explicit Softmax(const SoftmaxOptions&) {}
  at::Tensor weights(const at::Tensor& logits, const AttentionContext& context) const override {
    return masked_softmax(context.scale.times_scale(logits), context);
  }
};

EUREKA_ATTENTION_RULE("softmax", Softmax, SoftmaxOptions, SoftmaxOptions::kDescription);

}  // namespace
}  // namespace eureka
