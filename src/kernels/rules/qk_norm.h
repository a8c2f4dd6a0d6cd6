// QK-norm: queries and keys are normalized per head before they meet (Henry 2020; Dehghani 2023), then softmax.
#ifndef EUREKA_KERNELS_RULES_QK_NORM_H_
#define EUREKA_KERNELS_RULES_QK_NORM_H_

#include "kernels/rule_options.h"
#include "kernels/rules/softmax.h"

namespace eureka {

struct QkNormOptions : RuleOptions {
  static constexpr const char* kDescription = "softmax after normalising queries and keys";

  enum class Norm { layer, rms, l2 };
  friend constexpr auto enum_names(Norm) { return std::array{"layer", "rms", "l2"}; }

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

  std::vector<RuleParameter> parameters() const {
    if (!learnable) return {};
    if (norm == Norm::l2) return {{RuleParameterRole::log_query_factor, "l2_log_scale", 0}};
    return {{RuleParameterRole::query_gain, "q_norm.weight", 1}, {RuleParameterRole::key_gain, "k_norm.weight", 1}};
  }
  std::optional<HeadNorm> head_norm() const {
    return HeadNorm{.centered = norm == Norm::layer, .unit = norm == Norm::l2, .epsilon = static_cast<float>(epsilon)};
  }
  SoftmaxOptions row() const { return {}; }
};

}  // namespace eureka
#endif
