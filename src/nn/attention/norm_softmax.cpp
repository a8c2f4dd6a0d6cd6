// NormSoftmax: each row of logits divided by min(deviation, sqrt(d)) before softmax (Jiang 2023; Hoffmann 2024).
#include "kernels/rules/norm_softmax.h"
#include "nn/attention_rule.h"

namespace eureka {
namespace {

class NormSoftmax final : public AttentionRule {
 public:
  explicit NormSoftmax(const NormSoftmaxOptions& options) : options_(options) {}

  at::Tensor weights(const at::Tensor& logits, const AttentionContext& context) const override {
    // Softmax does not see the mean; taking it out first keeps float32 exact when logits share a large offset.
    const at::Tensor center = centered(logits, context);
    const at::Tensor variance =
        center.square().sum(-1, /*keepdim=*/true) / context.visible_keys(logits) + options_.epsilon;
    const at::Tensor deviation = options_.by_variance() ? variance : variance.sqrt();
    const at::Tensor divisor = deviation.clamp_max(1 / context.scale.inverse_root_width);
    return masked_softmax(context.scale.times_multiple(center / divisor), context);
  }

 private:
  NormSoftmaxOptions options_;
};

EUREKA_ATTENTION_RULE("norm_softmax", NormSoftmax, NormSoftmaxOptions, NormSoftmaxOptions::kDescription);

}  // namespace
}  // namespace eureka
