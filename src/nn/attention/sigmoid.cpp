// Sigmoid attention: each key is weighed on its own; the bias -ln(visible keys) starts rows near a sum of one
// (Ramapuram 2024).
#include "nn/attention_rule.h"

namespace eureka {
namespace {

enum class Bias { log_keys, none };
constexpr auto enum_names(Bias) { return std::array{"log-keys", "none"}; }

struct Options {
  Bias bias = Bias::log_keys;

  template <class V>
  void visit(V& v) {
    v("bias", bias, "subtract the logarithm of the number of visible keys, or nothing");
  }
};

class Sigmoid final : public AttentionRule {
 public:
  explicit Sigmoid(const Options& options) : options_(options) {}
  RowSum row_sum() const override { return RowSum::any; }

  at::Tensor weights(const at::Tensor& logits, const AttentionContext& context) const override {
    at::Tensor scaled = context.scale.times_scale(logits);
    if (options_.bias == Bias::log_keys) scaled = scaled - context.visible_keys(logits).log();
    return context.hide(at::sigmoid(scaled));
  }

 private:
  Options options_;
};

EUREKA_ATTENTION_RULE("sigmoid", Sigmoid, Options, "a sigmoid per key, no competition between keys");

}  // namespace
}  // namespace eureka
