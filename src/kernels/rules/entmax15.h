// 1.5-entmax: between softmax and a sparse projection (Peters 2019).
#ifndef EUREKA_KERNELS_RULES_ENTMAX15_H_
#define EUREKA_KERNELS_RULES_ENTMAX15_H_

#include "kernels/rule_options.h"

namespace eureka {

struct Entmax15Options : RuleOptions {
  static constexpr const char* kDescription = "1.5-entmax: between softmax and a sparse projection";
  static constexpr RowForm kForm = RowForm::entmax15;
};

}  // namespace eureka
#endif

#ifdef EUREKA_RULE_KERNELS
HWY_BEFORE_NAMESPACE();
namespace eureka::HWY_NAMESPACE {

// Weights are squares of what lies above a threshold tau: max(0, logit / 2 - tau)^2, with tau such that they sum to
// one.
template <>
struct RowKernel<Entmax15Options> {
  static HWY_INLINE void weights(const Entmax15Options&, const AttentionRow& row) {
    const Tag8 d;
    const Vec8 half = v8::Set(d, row.scale() / 2), hidden = v8::Set(d, -1e30F);
    const Vec8 zero = v8::Zero(d);
    Vec8 top = hidden;
    for_keys(row, [&](std::size_t key, auto show) HWY_ATTR {
      top = v8::Max(top, show.or_else(v8::Mul(v8::LoadU(d, row.logits + key), half), hidden));
    });
    top = v8::MaxOfLanes(d, top);
    // Newton from below the root of a convex, falling function: every step stays below, and few are needed.
    constexpr int kMostSteps = 20;
    float tau = -1;
    for (int step = 0; step < kMostSteps; ++step) {
      const Vec8 threshold = v8::Set(d, tau);
      Vec8 sum = zero, square = zero;
      for_keys(row, [&](std::size_t key, auto show) HWY_ATTR {
        const Vec8 h = v8::Sub(v8::Mul(v8::LoadU(d, row.logits + key), half), top);
        const Vec8 above = show.or_zero(v8::Max(v8::Sub(h, threshold), zero));
        sum = v8::Add(sum, above);
        square = v8::MulAdd(above, above, square);
      });
      const float slope = 2 * sum_of(sum), excess = sum_of(square) - 1;
      if (slope == 0 || excess < 1e-7F) break;
      tau += excess / slope;
    }
    const Vec8 threshold = v8::Set(d, tau);
    for_keys(row, [&](std::size_t key, auto show) HWY_ATTR {
      const Vec8 h = v8::Sub(v8::Mul(v8::LoadU(d, row.logits + key), half), top);
      const Vec8 above = show.or_zero(v8::Max(v8::Sub(h, threshold), zero));
      v8::StoreU(v8::Mul(above, above), d, row.weights + key);
    });
  }
  static HWY_INLINE float gradient(const Entmax15Options&, const AttentionRow& row, float* g, bool learned) {
    const Tag8 d;
    Vec8 total = v8::Zero(d), along = v8::Zero(d);
    for (std::size_t key = 0; key < row.keys; key += kLanes8) {
      const Vec8 root = v8::Sqrt(v8::LoadU(d, row.weights + key));
      total = v8::Add(total, root);
      along = v8::MulAdd(root, v8::LoadU(d, g + key), along);
    }
    const float sum = sum_of(total);
    const Vec8 mean = v8::Set(d, sum > 0 ? sum_of(along) / sum : 0.0F);
    const Vec8 scale = v8::Set(d, row.scale());
    for (std::size_t key = 0; key < row.keys; key += kLanes8) {
      const Vec8 root = v8::Sqrt(v8::LoadU(d, row.weights + key));
      v8::StoreU(v8::Mul(v8::Mul(scale, root), v8::Sub(v8::LoadU(d, g + key), mean)), d, g + key);
    }
    return learned ? along_logits(row, g, 0) : 0.0F;
  }
};

}  // namespace eureka::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
