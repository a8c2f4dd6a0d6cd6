// Linear attention: the scaled logits themselves are the weights; no Jacobian stands between them.
#include "kernels/rules/linear.h"
#include "nn/attention_rule.h"

namespace eureka {
namespace {

class Linear final : public AttentionRule {
 public:
  explicit Linear(const LinearOptions& options) : options_(options) {}
  RowSum row_sum() const override { return RowSum::any; }

  at::Tensor weights(const at::Tensor& logits, const AttentionContext& context) const override {
    const at::Tensor scaled = context.scale.times_scale(logits);
    return context.hide(options_.mean ? scaled / context.visible_keys(logits) : scaled);
  }

 private:
  LinearOptions options_;
};

EUREKA_ATTENTION_RULE("linear", Linear, LinearOptions, LinearOptions::kDescription);

}  // namespace
}  // namespace eureka
