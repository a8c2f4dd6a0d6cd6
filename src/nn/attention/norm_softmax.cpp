// NormSoftmax: each row of logits divided by min(deviation, sqrt(d)) before softmax (Jiang 2023; Hoffmann 2024).
#include "nn/attention_rule.h"

namespace eureka {
namespace {

enum class Deviation { std, variance };
constexpr auto enum_names(Deviation) { return std::array{"std", "variance"}; }

struct Options {
  Deviation deviation = Deviation::std;
  double epsilon = 1e-6;

  template <class V>
  void visit(V& v) {
    v("deviation", deviation, "std, or variance as in the published code");
    v("epsilon", epsilon, Range{1e-12, 1}, "added to the variance, so that rows of equal logits stay finite");
  }
};

class NormSoftmax final : public AttentionRule {
 public:
  explicit NormSoftmax(const Options& options) : options_(options) {}

  at::Tensor weights(const at::Tensor& logits, const AttentionContext& context) const override {
    // Softmax does not see the mean; taking it out first keeps float32 exact when logits share a large offset.
    const at::Tensor centre = centred(logits, context);
    const at::Tensor variance =
        centre.square().sum(-1, /*keepdim=*/true) / context.visible_keys(logits) + options_.epsilon;
    const at::Tensor deviation = options_.deviation == Deviation::std ? variance.sqrt() : variance;
    const at::Tensor divisor = deviation.clamp_max(1 / context.scale.inverse_root_width);
    return masked_softmax(context.scale.times_multiple(centre / divisor), context);
  }

 private:
  Options options_;
};

EUREKA_ATTENTION_RULE("norm_softmax", NormSoftmax, Options, "softmax of logits normalised by their own spread");

}  // namespace
}  // namespace eureka
