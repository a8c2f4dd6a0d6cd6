// Spread softmax: NormSoftmax at half its strength.
#include "kernels/rules/spread_softmax.h"

#include "nn/norm_softmax_rows.h"

namespace eureka {
namespace {

class SpreadSoftmax final : public AttentionRule {
 public:
  explicit SpreadSoftmax(const SpreadSoftmaxOptions& options) : options_(options) {}

  at::Tensor weights(const at::Tensor& logits, const AttentionContext& context) const override {
    return norm_softmax_rows(options_.row(), logits, context);
  }

  bool spares_weights() const override { return true; }
  at::Tensor outputs(const AttentionHeads& heads, const AttentionContext& context) const override {
    return norm_softmax_attention(options_.row(), heads, context);
  }

 private:
  SpreadSoftmaxOptions options_;
};

EUREKA_ATTENTION_RULE("spread_softmax", SpreadSoftmax, SpreadSoftmaxOptions, SpreadSoftmaxOptions::kDescription);

}  // namespace
}  // namespace eureka
