// QK-norm: queries and keys are normalized per head before they meet (Henry 2020; Dehghani 2023), then softmax.
#include <cmath>

#include "engine/rule_parameters.h"
#include "kernels/rules/qk_norm.h"
#include "nn/attention_rule.h"

namespace eureka {
namespace {

class QkNorm final : public AttentionRule {
 public:
  explicit QkNorm(const QkNormOptions& options) : options_(options) {}

  std::vector<ParameterSpec> parameters(const HeadShape& shape) const override {
    return rule_parameters(options_.parameters(), shape.heads, shape.width);
  }

  void prepare(at::Tensor& q, at::Tensor& k, const AttentionContext& context) const override {
    q = normalized(q);
    k = normalized(k);
    if (!options_.learnable) return;
    if (options_.norm == Norm::l2) {
      q = q * context.parameters[0].exp().view({-1, 1, 1});
    } else {
      q = q * context.parameters[0];
      k = k * context.parameters[1];
    }
  }

  at::Tensor weights(const at::Tensor& logits, const AttentionContext& context) const override {
    return masked_softmax(context.scale.times_scale(logits), context);
  }

 private:
  using Norm = QkNormOptions::Norm;

  // Every form gives vectors of norm sqrt(width), so that the usual scale 1/sqrt(width) suits all of them.
  at::Tensor normalized(const at::Tensor& x) const {
    const at::Tensor center = options_.norm == Norm::layer ? x - x.mean(-1, /*keepdim=*/true) : x;
    if (options_.norm == Norm::l2) {
      const at::Tensor norm = (center.square().sum(-1, /*keepdim=*/true) + options_.epsilon * options_.epsilon).sqrt();
      return center * (std::sqrt(static_cast<double>(x.size(-1))) / norm);
    }
    return center / (center.square().mean(-1, /*keepdim=*/true) + options_.epsilon).sqrt();
  }

  QkNormOptions options_;
};

EUREKA_ATTENTION_RULE("qk_norm", QkNorm, QkNormOptions, QkNormOptions::kDescription);

}  // namespace
}  // namespace eureka
