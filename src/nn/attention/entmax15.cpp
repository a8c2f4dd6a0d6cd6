// 1.5-entmax: sparse weights p_i = max(0, s_i/2 - tau)^2 that sum to one (Peters 2019).
#include "kernels/rules/entmax15.h"
#include "nn/attention_rule.h"

namespace eureka {
namespace {

class Entmax15 final : public AttentionRule {
 public:
  explicit Entmax15(const Entmax15Options&) {}

  at::Tensor weights(const at::Tensor& logits, const AttentionContext& context) const override {
    at::Tensor half = context.scale.times_scale(logits) / 2;
    if (context.masked()) half = half.masked_fill(~context.mask, kHidden);
    half = half - std::get<0>(half.detach().max(-1, /*keepdim=*/true));
    const at::Tensor support = support_of(half.detach());
    // With the support held fixed, tau is a smooth function of the logits: autograd gives exact derivatives of any
    // order.
    const at::Tensor count = support.to(half.scalar_type()).sum(-1, /*keepdim=*/true);
    const at::Tensor mean = half.masked_fill(~support, 0).sum(-1, /*keepdim=*/true) / count;
    const at::Tensor spread = (half - mean).masked_fill(~support, 0).square().sum(-1, /*keepdim=*/true);
    const at::Tensor tau = mean - ((1 - spread) / count).clamp_min(kTiny).sqrt();
    return context.hide((half - tau).masked_fill(~support, 0).square());
  }

 private:
  static constexpr double kHidden = -1e10;
  static constexpr double kTiny = 1e-12;

  // Keys with a positive weight: the largest k for which the k largest logits all lie above their own threshold.
  static at::Tensor support_of(const at::Tensor& half) {
    const at::Tensor sorted = std::get<0>(half.sort(-1, /*descending=*/true));
    const at::Tensor rank = at::arange(1, half.size(-1) + 1, half.options());
    const at::Tensor mean = sorted.cumsum(-1) / rank;
    const at::Tensor mean_square = sorted.square().cumsum(-1) / rank;
    const at::Tensor spread = rank * (mean_square - mean.square());
    const at::Tensor tau = mean - ((1 - spread) / rank).clamp_min(0).sqrt();
    const at::Tensor size = (tau <= sorted).sum(-1, /*keepdim=*/true);
    return half >= sorted.gather(-1, size - 1);
  }
};

EUREKA_ATTENTION_RULE("entmax15", Entmax15, Entmax15Options, Entmax15Options::kDescription);

}  // namespace
}  // namespace eureka
