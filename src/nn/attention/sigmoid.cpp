// Sigmoid attention: each key is weighed on its own; the bias -ln(visible keys) starts rows near a sum of one
// (Ramapuram 2024).
#include "kernels/rules/sigmoid.h"
#include "nn/attention_rule.h"

namespace eureka {
namespace {

class Sigmoid final : public AttentionRule {
 public:
  explicit Sigmoid(const SigmoidOptions& options) : options_(options) {}
  RowSum row_sum() const override { return RowSum::any; }

  at::Tensor weights(const at::Tensor& logits, const AttentionContext& context) const override {
    at::Tensor scaled = context.scale.times_scale(logits);
    if (options_.bias == SigmoidOptions::Bias::log_keys) scaled = scaled - context.visible_keys(logits).log();
    return context.hide(at::sigmoid(scaled));
  }

 private:
  SigmoidOptions options_;
};

EUREKA_ATTENTION_RULE("sigmoid", Sigmoid, SigmoidOptions, SigmoidOptions::kDescription);

}  // namespace
}  // namespace eureka
