// QK-norm: queries and keys are normalised per head before they meet (Henry 2020; Dehghani 2023), then softmax.
#include <cmath>

#include "nn/attention_rule.h"

namespace eureka {
namespace {

enum class Norm { layer, rms, l2 };
constexpr auto enum_names(Norm) { return std::array{"layer", "rms", "l2"}; }

struct Options {
  Norm norm = Norm::layer;
  bool learnable = true;
  double epsilon = 1e-6;

  template <class V>
  void visit(V& v) {
    v("norm", norm,
      "LayerNorm, RMS norm, or L2 (unit vectors times one scale per head that starts at sqrt(head width))");
    v("learnable", learnable, "learn the gain of layer and rms (per dimension of a head), the scale of l2 (per head)");
    v("epsilon", epsilon, Range{1e-12, 1}, "inside the root");
  }
};

class QkNorm final : public AttentionRule {
 public:
  explicit QkNorm(const Options& options) : options_(options) {}

  std::vector<ParameterSpec> parameters(const HeadShape& shape) const override {
    if (!options_.learnable) return {};
    if (options_.norm == Norm::l2)
      return {{"l2_log_scale", {shape.heads}, ParameterGroup::rule, Initializer::zeros(), false}};
    return {{"q_norm.weight", {shape.width}, ParameterGroup::rule, Initializer::ones(), false},
            {"k_norm.weight", {shape.width}, ParameterGroup::rule, Initializer::ones(), false}};
  }

  void prepare(at::Tensor& q, at::Tensor& k, const AttentionContext& context) const override {
    q = normalised(q);
    k = normalised(k);
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
  // Every form gives vectors of norm sqrt(width), so that the usual scale 1/sqrt(width) suits all of them.
  at::Tensor normalised(const at::Tensor& x) const {
    const at::Tensor centre = options_.norm == Norm::layer ? x - x.mean(-1, /*keepdim=*/true) : x;
    if (options_.norm == Norm::l2) {
      const at::Tensor norm = (centre.square().sum(-1, /*keepdim=*/true) + options_.epsilon * options_.epsilon).sqrt();
      return centre * (std::sqrt(static_cast<double>(x.size(-1))) / norm);
    }
    return centre / (centre.square().mean(-1, /*keepdim=*/true) + options_.epsilon).sqrt();
  }

  Options options_;
};

EUREKA_ATTENTION_RULE("qk_norm", QkNorm, Options, "softmax after normalising queries and keys");

}  // namespace
}  // namespace eureka
