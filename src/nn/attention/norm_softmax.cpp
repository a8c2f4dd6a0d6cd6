// NormSoftmax: each row of logits divided by min(deviation, sqrt(d)) before softmax (Jiang 2023; Hoffmann 2024).
#include "nn/norm_softmax_rows.h"

namespace eureka {
namespace {

class NormSoftmax final : public AttentionRule {
 public:
  explicit NormSoftmax(const NormSoftmaxOptions& options) : options_(options) {}

  at::Tensor weights(const at::Tensor& logits, const AttentionContext& context) const override {
    return norm_softmax_rows(options_, logits, context);
  }

  bool spares_weights() const override { return true; }
  at::Tensor outputs(const AttentionHeads& heads, const AttentionContext& context) const override {
    return norm_softmax_attention(options_, heads, context);
  }

 private:
  NormSoftmaxOptions options_;
};

EUREKA_ATTENTION_RULE("norm_softmax", NormSoftmax, NormSoftmaxOptions, NormSoftmaxOptions::kDescription);

}  // namespace
}  // namespace eureka
