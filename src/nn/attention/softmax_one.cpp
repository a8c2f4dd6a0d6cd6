// Softmax with one added to its denominator: a head may attend to nothing (Miller 2023).
#include "kernels/rules/softmax_one.h"
#include "nn/attention_rule.h"

namespace eureka {
namespace {

class SoftmaxOne final : public AttentionRule {
 public:
  explicit SoftmaxOne(const SoftmaxOneOptions&) {}
  RowSum row_sum() const override { return RowSum::at_most_one; }

  at::Tensor weights(const at::Tensor& logits, const AttentionContext& context) const override {
    // The one in the denominator is a further key with logit 0 whose weight is dropped.
    at::Tensor extended = at::constant_pad_nd(context.scale.times_scale(logits), {0, 1}, 0);
    if (!context.masked()) return at::softmax(extended, -1).narrow(-1, 0, logits.size(-1));
    AttentionContext with_nothing = context;
    with_nothing.mask = at::constant_pad_nd(context.mask, {0, 1}, true);
    return masked_softmax(extended, with_nothing).narrow(-1, 0, logits.size(-1));
  }
};

EUREKA_ATTENTION_RULE("softmax_one", SoftmaxOne, SoftmaxOneOptions, SoftmaxOneOptions::kDescription);

}  // namespace
}  // namespace eureka
