// The attention rules, vectorised over the keys of a row. Included once per instruction set.
#if defined(EUREKA_KERNELS_ATTENTION_ROWS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef EUREKA_KERNELS_ATTENTION_ROWS_INL_H_
#undef EUREKA_KERNELS_ATTENTION_ROWS_INL_H_
#else
#define EUREKA_KERNELS_ATTENTION_ROWS_INL_H_
#endif

#include <cmath>

#include "kernels/attention_rows.h"
#include "kernels/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace eureka::HWY_NAMESPACE {

// Vectors of keys that all exist and are visible, and vectors of which some are not.
struct ShowAll {
  HWY_INLINE FloatVec or_zero(FloatVec x) const { return x; }
  HWY_INLINE FloatVec or_else(FloatVec x, FloatVec) const { return x; }
};
struct ShowSome {
  FloatMask shown;
  HWY_INLINE FloatVec or_zero(FloatVec x) const { return hn::IfThenElseZero(shown, x); }
  HWY_INLINE FloatVec or_else(FloatVec x, FloatVec otherwise) const { return hn::IfThenElse(shown, x, otherwise); }
};

// action(key, show) for every vector of keys.
template <class Action>
HWY_INLINE void for_keys(const AttentionRow& row, const Action& action) {
  const FloatTag d;
  std::size_t key = 0;
  if (row.visible == nullptr) {
    for (; key + kLanes <= row.keys; key += kLanes) action(key, ShowAll());
    if (key < row.keys) action(key, ShowSome{hn::FirstN(d, row.keys - key)});
    return;
  }
  for (; key < row.keys; key += kLanes) {
    const FloatMask visible = hn::Ne(hn::LoadU(d, row.visible + key), hn::Zero(d));
    action(key, ShowSome{hn::And(hn::FirstN(d, row.keys - key), visible)});
  }
}

HWY_INLINE float visible_keys(const AttentionRow& row) {
  if (row.visible == nullptr) return static_cast<float>(row.keys);
  float count = 0;
  for (std::size_t key = 0; key < row.keys; ++key) count += row.visible[key] != 0 ? 1.0F : 0.0F;
  return count > 1 ? count : 1;
}

// Rows of at most four vectors stay in registers.
template <std::size_t kVectors>
HWY_INLINE void short_softmax(const AttentionRow& row, float scale, float offset) {
  const FloatTag d;
  const FloatVec s = hn::Set(d, scale), o = hn::Set(d, offset);
  const ShowSome last{hn::FirstN(d, row.keys - (kVectors - 1) * kLanes)};
  FloatVec z[kVectors];
  for (std::size_t i = 0; i < kVectors; ++i) z[i] = hn::Mul(hn::Sub(hn::LoadU(d, row.logits + i * kLanes), o), s);
  z[kVectors - 1] = last.or_else(z[kVectors - 1], hn::Set(d, -1e30F));
  FloatVec top = z[0];
  for (std::size_t i = 1; i < kVectors; ++i) top = hn::Max(top, z[i]);
  top = hn::MaxOfLanes(d, top);
  for (std::size_t i = 0; i < kVectors; ++i) z[i] = exp_of(hn::Sub(z[i], top));
  z[kVectors - 1] = last.or_zero(z[kVectors - 1]);
  FloatVec sum = z[0];
  for (std::size_t i = 1; i < kVectors; ++i) sum = hn::Add(sum, z[i]);
  const FloatVec share = hn::Div(hn::Set(d, 1.0F), hn::SumOfLanes(d, sum));
  for (std::size_t i = 0; i < kVectors; ++i) hn::StoreU(hn::Mul(z[i], share), d, row.weights + i * kLanes);
}

// weights = softmax(scale * (logits - offset)) over the visible keys.
HWY_INLINE void softmax_of(const AttentionRow& row, float scale, float offset) {
  const FloatTag d;
  if (row.visible == nullptr) {
    if (row.keys <= kLanes) return short_softmax<1>(row, scale, offset);
    if (row.keys <= 2 * kLanes) return short_softmax<2>(row, scale, offset);
    if (row.keys <= 3 * kLanes) return short_softmax<3>(row, scale, offset);
    if (row.keys <= 4 * kLanes) return short_softmax<4>(row, scale, offset);
  }
  const FloatVec s = hn::Set(d, scale), o = hn::Set(d, offset), hidden = hn::Set(d, -1e30F);
  FloatVec top = hidden;
  for_keys(row, [&](std::size_t key, auto show) HWY_ATTR {
    top = hn::Max(top, show.or_else(hn::Mul(hn::Sub(hn::LoadU(d, row.logits + key), o), s), hidden));
  });
  top = hn::MaxOfLanes(d, top);
  FloatVec sum = hn::Zero(d);
  for_keys(row, [&](std::size_t key, auto show) HWY_ATTR {
    const FloatVec z = hn::Mul(hn::Sub(hn::LoadU(d, row.logits + key), o), s);
    const FloatVec e = show.or_zero(exp_of(hn::Sub(z, top)));
    sum = hn::Add(sum, e);
    hn::StoreU(e, d, row.weights + key);
  });
  const float total = sum_of(sum);
  const FloatVec share = hn::Set(d, total > 0 ? 1.0F / total : 0.0F);
  for (std::size_t key = 0; key < row.keys; key += kLanes)
    hn::StoreU(hn::Mul(hn::LoadU(d, row.weights + key), share), d, row.weights + key);
}

// The way back through a softmax of scale * logits, in place. Weights are 0 where a key is hidden or does not exist.
HWY_INLINE void softmax_gradient(const AttentionRow& row, float scale, float* g) {
  const FloatTag d;
  FloatVec sum = hn::Zero(d);
  for (std::size_t key = 0; key < row.keys; key += kLanes)
    sum = hn::MulAdd(hn::LoadU(d, row.weights + key), hn::LoadU(d, g + key), sum);
  const FloatVec mean = hn::SumOfLanes(d, sum), s = hn::Set(d, scale);
  for (std::size_t key = 0; key < row.keys; key += kLanes) {
    const FloatVec w = hn::Mul(s, hn::LoadU(d, row.weights + key));
    hn::StoreU(hn::Mul(w, hn::Sub(hn::LoadU(d, g + key), mean)), d, g + key);
  }
}

// Sum over keys of gradient * (logit - offset); gradients are 0 where there is no key.
HWY_INLINE float along_logits(const AttentionRow& row, const float* g, float offset) {
  const FloatTag d;
  const FloatVec o = hn::Set(d, offset);
  FloatVec sum = hn::Zero(d);
  for_keys(row, [&](std::size_t key, auto show) HWY_ATTR {
    sum = hn::MulAdd(hn::LoadU(d, g + key), show.or_zero(hn::Sub(hn::LoadU(d, row.logits + key), o)), sum);
  });
  return sum_of(sum);
}

struct SoftmaxRow {
  static HWY_INLINE void weights(const RowRule& rule, const AttentionRow& row) {
    softmax_of(row, row.multiple * rule.inverse_root_width, 0);
  }
  static HWY_INLINE float gradient(const RowRule& rule, const AttentionRow& row, float* g, bool learned) {
    softmax_gradient(row, row.multiple * rule.inverse_root_width, g);
    return learned ? along_logits(row, g, 0) : 0.0F;
  }
};

struct NormSoftmaxRow {
  struct Spread {
    float keys, mean, deviation, divisor;
    bool bounded;  // the divisor is sqrt(head width), not the deviation
  };

  static HWY_INLINE Spread spread(const RowRule& rule, const AttentionRow& row) {
    const FloatTag d;
    Spread result{};
    result.keys = visible_keys(row);
    FloatVec sum = hn::Zero(d), square = hn::Zero(d);
    for_keys(row, [&](std::size_t key, auto show)
                      HWY_ATTR { sum = hn::Add(sum, show.or_zero(hn::LoadU(d, row.logits + key))); });
    result.mean = sum_of(sum) / result.keys;
    const FloatVec mean = hn::Set(d, result.mean);
    for_keys(row, [&](std::size_t key, auto show) HWY_ATTR {
      const FloatVec c = show.or_zero(hn::Sub(hn::LoadU(d, row.logits + key), mean));
      square = hn::MulAdd(c, c, square);
    });
    const float variance = sum_of(square) / result.keys + rule.epsilon;
    result.deviation = rule.by_variance ? variance : __builtin_sqrtf(variance);
    const float bound = 1 / rule.inverse_root_width;
    result.bounded = result.deviation > bound;
    result.divisor = result.bounded ? bound : result.deviation;
    return result;
  }

  static HWY_INLINE void weights(const RowRule& rule, const AttentionRow& row) {
    const Spread s = spread(rule, row);
    softmax_of(row, row.multiple / s.divisor, s.mean);
  }

  static HWY_INLINE float gradient(const RowRule& rule, const AttentionRow& row, float* g, bool) {
    const FloatTag d;
    const Spread s = spread(rule, row);
    softmax_gradient(row, row.multiple / s.divisor, g);
    const float by_multiple = along_logits(row, g, s.mean);
    if (s.bounded) return by_multiple;
    if (s.keys == 2 && !rule.by_variance) {
      // Two keys always end at plus and minus one: both parts below cancel but for this share.
      const FloatVec left = hn::Set(d, rule.epsilon / (s.deviation * s.deviation));
      for (std::size_t key = 0; key < row.keys; key += kLanes)
        hn::StoreU(hn::Mul(left, hn::LoadU(d, g + key)), d, g + key);
      return by_multiple;
    }
    // Through the divisor; its own gradient has mean zero, as the softmax part has.
    const float by_divisor = -by_multiple / s.divisor;
    const float by_variance = rule.by_variance ? by_divisor : by_divisor / (2 * s.deviation);
    const FloatVec slope = hn::Set(d, 2 * by_variance / s.keys), centre = hn::Set(d, s.mean);
    for_keys(row, [&](std::size_t key, auto show) HWY_ATTR {
      const FloatVec c = show.or_zero(hn::Sub(hn::LoadU(d, row.logits + key), centre));
      hn::StoreU(hn::MulAdd(slope, c, hn::LoadU(d, g + key)), d, g + key);
    });
    return by_multiple;
  }
};

struct SigmoidRow {
  static HWY_INLINE void weights(const RowRule& rule, const AttentionRow& row) {
    const FloatTag d;
    const FloatVec scale = hn::Set(d, -row.multiple * rule.inverse_root_width);
    const FloatVec shift = hn::Set(d, rule.log_keys_bias ? std::log(visible_keys(row)) : 0.0F);
    const FloatVec one = hn::Set(d, 1.0F);
    for_keys(row, [&](std::size_t key, auto show) HWY_ATTR {
      const FloatVec e = exp_of(hn::MulAdd(hn::LoadU(d, row.logits + key), scale, shift));
      hn::StoreU(show.or_zero(hn::Div(one, hn::Add(one, e))), d, row.weights + key);
    });
  }
  static HWY_INLINE float gradient(const RowRule& rule, const AttentionRow& row, float* g, bool learned) {
    const FloatTag d;
    const FloatVec scale = hn::Set(d, row.multiple * rule.inverse_root_width);
    for (std::size_t key = 0; key < row.keys; key += kLanes) {
      const FloatVec w = hn::LoadU(d, row.weights + key);
      hn::StoreU(hn::Mul(hn::Mul(scale, hn::LoadU(d, g + key)), hn::NegMulAdd(w, w, w)), d, g + key);
    }
    return learned ? along_logits(row, g, 0) : 0.0F;
  }
};

struct LinearRow {
  static HWY_INLINE float scale(const RowRule& rule, const AttentionRow& row) {
    const float plain = row.multiple * rule.inverse_root_width;
    return rule.mean ? plain / visible_keys(row) : plain;
  }
  static HWY_INLINE void times_scale(const RowRule& rule, const AttentionRow& row, const float* from, float* to) {
    const FloatTag d;
    const FloatVec s = hn::Set(d, scale(rule, row));
    for_keys(row, [&](std::size_t key, auto show)
                      HWY_ATTR { hn::StoreU(show.or_zero(hn::Mul(s, hn::LoadU(d, from + key))), d, to + key); });
  }
  static HWY_INLINE void weights(const RowRule& rule, const AttentionRow& row) {
    times_scale(rule, row, row.logits, row.weights);
  }
  static HWY_INLINE float gradient(const RowRule& rule, const AttentionRow& row, float* g, bool learned) {
    times_scale(rule, row, g, g);
    return learned ? along_logits(row, g, 0) : 0.0F;
  }
};

// A further key of logit 0, whose weight is dropped, takes part in the sum.
struct SoftmaxOneRow {
  static HWY_INLINE void weights(const RowRule& rule, const AttentionRow& row) {
    const FloatTag d;
    const FloatVec scale = hn::Set(d, row.multiple * rule.inverse_root_width);
    FloatVec top = hn::Zero(d), sum = hn::Zero(d);
    for_keys(row, [&](std::size_t key, auto show)
                      HWY_ATTR { top = hn::Max(top, show.or_zero(hn::Mul(hn::LoadU(d, row.logits + key), scale))); });
    top = hn::MaxOfLanes(d, top);
    for_keys(row, [&](std::size_t key, auto show) HWY_ATTR {
      const FloatVec e = show.or_zero(exp_of(hn::Sub(hn::Mul(hn::LoadU(d, row.logits + key), scale), top)));
      sum = hn::Add(sum, e);
      hn::StoreU(e, d, row.weights + key);
    });
    const FloatVec share = hn::Div(hn::Set(d, 1.0F), hn::Add(hn::SumOfLanes(d, sum), exp_of(hn::Neg(top))));
    for (std::size_t key = 0; key < row.keys; key += kLanes)
      hn::StoreU(hn::Mul(hn::LoadU(d, row.weights + key), share), d, row.weights + key);
  }
  static HWY_INLINE float gradient(const RowRule& rule, const AttentionRow& row, float* g, bool learned) {
    return SoftmaxRow::gradient(rule, row, g, learned);
  }
};

struct ScalableSoftmaxRow {
  static HWY_INLINE float scale(const RowRule& rule, const AttentionRow& row) {
    return row.multiple * rule.inverse_root_width * std::log(visible_keys(row));
  }
  static HWY_INLINE void weights(const RowRule& rule, const AttentionRow& row) { softmax_of(row, scale(rule, row), 0); }
  static HWY_INLINE float gradient(const RowRule& rule, const AttentionRow& row, float* g, bool learned) {
    softmax_gradient(row, scale(rule, row), g);
    return learned ? along_logits(row, g, 0) : 0.0F;
  }
};

// Weights are squares of what lies above a threshold tau: max(0, logit / 2 - tau)^2, with tau such that they sum to
// one.
struct Entmax15Row {
  static HWY_INLINE void weights(const RowRule& rule, const AttentionRow& row) {
    const FloatTag d;
    const FloatVec half = hn::Set(d, row.multiple * rule.inverse_root_width / 2), hidden = hn::Set(d, -1e30F);
    const FloatVec zero = hn::Zero(d);
    FloatVec top = hidden;
    for_keys(row, [&](std::size_t key, auto show) HWY_ATTR {
      top = hn::Max(top, show.or_else(hn::Mul(hn::LoadU(d, row.logits + key), half), hidden));
    });
    top = hn::MaxOfLanes(d, top);
    // Newton from below the root of a convex, falling function: every step stays below, and few are needed.
    constexpr int kMostSteps = 20;
    float tau = -1;
    for (int step = 0; step < kMostSteps; ++step) {
      const FloatVec threshold = hn::Set(d, tau);
      FloatVec sum = zero, square = zero;
      for_keys(row, [&](std::size_t key, auto show) HWY_ATTR {
        const FloatVec h = hn::Sub(hn::Mul(hn::LoadU(d, row.logits + key), half), top);
        const FloatVec above = show.or_zero(hn::Max(hn::Sub(h, threshold), zero));
        sum = hn::Add(sum, above);
        square = hn::MulAdd(above, above, square);
      });
      const float slope = 2 * sum_of(sum), excess = sum_of(square) - 1;
      if (slope == 0 || excess < 1e-7F) break;
      tau += excess / slope;
    }
    const FloatVec threshold = hn::Set(d, tau);
    for_keys(row, [&](std::size_t key, auto show) HWY_ATTR {
      const FloatVec h = hn::Sub(hn::Mul(hn::LoadU(d, row.logits + key), half), top);
      const FloatVec above = show.or_zero(hn::Max(hn::Sub(h, threshold), zero));
      hn::StoreU(hn::Mul(above, above), d, row.weights + key);
    });
  }
  static HWY_INLINE float gradient(const RowRule& rule, const AttentionRow& row, float* g, bool learned) {
    const FloatTag d;
    FloatVec total = hn::Zero(d), along = hn::Zero(d);
    for (std::size_t key = 0; key < row.keys; key += kLanes) {
      const FloatVec root = hn::Sqrt(hn::LoadU(d, row.weights + key));
      total = hn::Add(total, root);
      along = hn::MulAdd(root, hn::LoadU(d, g + key), along);
    }
    const float sum = sum_of(total);
    const FloatVec mean = hn::Set(d, sum > 0 ? sum_of(along) / sum : 0.0F);
    const FloatVec scale = hn::Set(d, row.multiple * rule.inverse_root_width);
    for (std::size_t key = 0; key < row.keys; key += kLanes) {
      const FloatVec root = hn::Sqrt(hn::LoadU(d, row.weights + key));
      hn::StoreU(hn::Mul(hn::Mul(scale, root), hn::Sub(hn::LoadU(d, g + key), mean)), d, g + key);
    }
    return learned ? along_logits(row, g, 0) : 0.0F;
  }
};

// Calls action(Rule()) for the rule of that kind.
template <class Action>
HWY_INLINE void with_rule(RowRuleKind kind, const Action& action) {
  switch (kind) {
    case RowRuleKind::softmax:
      return action(SoftmaxRow());
    case RowRuleKind::norm_softmax:
      return action(NormSoftmaxRow());
    case RowRuleKind::sigmoid:
      return action(SigmoidRow());
    case RowRuleKind::linear:
      return action(LinearRow());
    case RowRuleKind::softmax_one:
      return action(SoftmaxOneRow());
    case RowRuleKind::scalable_softmax:
      return action(ScalableSoftmaxRow());
    case RowRuleKind::entmax15:
      return action(Entmax15Row());
  }
}

}  // namespace eureka::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
