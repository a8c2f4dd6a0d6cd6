// Linear attention: the scaled logits themselves are the weights; no Jacobian stands between them.
#include "nn/attention_rule.h"

namespace eureka {
namespace {

struct Options {
  bool mean = true;

  template <class V>
  void visit(V& v) {
    v("mean", mean, "divide by the number of visible keys");
  }
};

class Linear final : public AttentionRule {
 public:
  explicit Linear(const Options& options) : options_(options) {}
  RowSum row_sum() const override { return RowSum::any; }

  at::Tensor weights(const at::Tensor& logits, const AttentionContext& context) const override {
    const at::Tensor scaled = context.scale.times_scale(logits);
    return context.hide(options_.mean ? scaled / context.visible_keys(logits) : scaled);
  }

 private:
  Options options_;
};

EUREKA_ATTENTION_RULE("linear", Linear, Options, "the scaled logits themselves, no softmax");

}  // namespace
}  // namespace eureka
