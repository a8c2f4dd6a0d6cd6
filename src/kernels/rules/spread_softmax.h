// Spread softmax: NormSoftmax at half its strength. A row of logits whose deviation after the division by sqrt(d) is
// below `spread` is widened to it, any other is left to plain softmax: softmax(s / min(deviation / spread, sqrt(d))).
#ifndef EUREKA_KERNELS_RULES_SPREAD_SOFTMAX_H_
#define EUREKA_KERNELS_RULES_SPREAD_SOFTMAX_H_

#include "kernels/rule_options.h"
#include "kernels/rules/norm_softmax.h"

namespace eureka {

struct SpreadSoftmaxOptions : RuleOptions {
  static constexpr const char* kDescription = "softmax of logits spread to half a deviation at least";

  double spread = 0.5;
  double epsilon = 1e-6;

  template <class V>
  void visit(V& v) {
    v("spread", spread, Range{0.01, 100}, "the deviation a row of logits has at least; 1: norm_softmax");
    v("epsilon", epsilon, Range{1e-12, 1}, "added to the variance, so that rows of equal logits stay finite");
  }

  NormSoftmaxOptions row() const {
    NormSoftmaxOptions rows;
    rows.epsilon = epsilon;
    rows.spread = spread;
    return rows;
  }
};

}  // namespace eureka
#endif
