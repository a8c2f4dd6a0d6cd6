// The attention rules, vectorised over the keys of a row. Included once per instruction set.
#if defined(EUREKA_KERNELS_ATTENTION_ROWS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef EUREKA_KERNELS_ATTENTION_ROWS_INL_H_
#undef EUREKA_KERNELS_ATTENTION_ROWS_INL_H_
#else
#define EUREKA_KERNELS_ATTENTION_ROWS_INL_H_
#endif

#include "kernels/attention_rows.h"
#include "kernels/vector8-inl.h"

HWY_BEFORE_NAMESPACE();
namespace eureka::HWY_NAMESPACE {

// Vectors of keys that all exist and are visible, and vectors of which some are not.
struct ShowAll {
  HWY_INLINE Vec8 or_zero(Vec8 x) const { return x; }
  HWY_INLINE Vec8 or_else(Vec8 x, Vec8) const { return x; }
};
struct ShowSome {
  Mask8 shown;
  HWY_INLINE Vec8 or_zero(Vec8 x) const { return v8::IfThenElseZero(shown, x); }
  HWY_INLINE Vec8 or_else(Vec8 x, Vec8 otherwise) const { return v8::IfThenElse(shown, x, otherwise); }
};

// action(key, show) for every vector of keys.
template <class Action>
HWY_INLINE void for_keys(const AttentionRow& row, const Action& action) {
  const Tag8 d;
  std::size_t key = 0;
  if (row.visible == nullptr) {
    for (; key + kLanes8 <= row.keys; key += kLanes8) action(key, ShowAll());
    if (key < row.keys) action(key, ShowSome{v8::FirstN(d, row.keys - key)});
    return;
  }
  for (; key < row.keys; key += kLanes8) {
    const Mask8 visible = v8::Ne(v8::LoadU(d, row.visible + key), v8::Zero(d));
    action(key, ShowSome{v8::And(v8::FirstN(d, row.keys - key), visible)});
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
  const Tag8 d;
  const Vec8 s = v8::Set(d, scale), o = v8::Set(d, offset);
  const ShowSome last{v8::FirstN(d, row.keys - (kVectors - 1) * kLanes8)};
  Vec8 z[kVectors];
  for (std::size_t i = 0; i < kVectors; ++i) z[i] = v8::Mul(v8::Sub(v8::LoadU(d, row.logits + i * kLanes8), o), s);
  z[kVectors - 1] = last.or_else(z[kVectors - 1], v8::Set(d, -1e30F));
  Vec8 top = z[0];
  for (std::size_t i = 1; i < kVectors; ++i) top = v8::Max(top, z[i]);
  top = v8::MaxOfLanes(d, top);
  for (std::size_t i = 0; i < kVectors; ++i) z[i] = exp_of(v8::Sub(z[i], top));
  z[kVectors - 1] = last.or_zero(z[kVectors - 1]);
  Vec8 sum = z[0];
  for (std::size_t i = 1; i < kVectors; ++i) sum = v8::Add(sum, z[i]);
  const Vec8 share = v8::Div(v8::Set(d, 1.0F), v8::SumOfLanes(d, sum));
  for (std::size_t i = 0; i < kVectors; ++i) v8::StoreU(v8::Mul(z[i], share), d, row.weights + i * kLanes8);
}

// weights = softmax(scale * (logits - offset)) over the visible keys.
HWY_INLINE void softmax_of(const AttentionRow& row, float scale, float offset) {
  const Tag8 d;
  if (row.visible == nullptr) {
    if (row.keys <= kLanes8) return short_softmax<1>(row, scale, offset);
    if (row.keys <= 2 * kLanes8) return short_softmax<2>(row, scale, offset);
    if (row.keys <= 3 * kLanes8) return short_softmax<3>(row, scale, offset);
    if (row.keys <= 4 * kLanes8) return short_softmax<4>(row, scale, offset);
  }
  const Vec8 s = v8::Set(d, scale), o = v8::Set(d, offset), hidden = v8::Set(d, -1e30F);
  Vec8 top = hidden;
  for_keys(row, [&](std::size_t key, auto show) HWY_ATTR {
    top = v8::Max(top, show.or_else(v8::Mul(v8::Sub(v8::LoadU(d, row.logits + key), o), s), hidden));
  });
  top = v8::MaxOfLanes(d, top);
  Vec8 sum = v8::Zero(d);
  for_keys(row, [&](std::size_t key, auto show) HWY_ATTR {
    const Vec8 z = v8::Mul(v8::Sub(v8::LoadU(d, row.logits + key), o), s);
    const Vec8 e = show.or_zero(exp_of(v8::Sub(z, top)));
    sum = v8::Add(sum, e);
    v8::StoreU(e, d, row.weights + key);
  });
  const float total = sum_of(sum);
  const Vec8 share = v8::Set(d, total > 0 ? 1.0F / total : 0.0F);
  for (std::size_t key = 0; key < row.keys; key += kLanes8)
    v8::StoreU(v8::Mul(v8::LoadU(d, row.weights + key), share), d, row.weights + key);
}

// The way back through a softmax of scale * logits, in place. Weights are 0 where a key is hidden or does not exist.
HWY_INLINE void softmax_gradient(const AttentionRow& row, float scale, float* g) {
  const Tag8 d;
  Vec8 sum = v8::Zero(d);
  for (std::size_t key = 0; key < row.keys; key += kLanes8)
    sum = v8::MulAdd(v8::LoadU(d, row.weights + key), v8::LoadU(d, g + key), sum);
  const Vec8 mean = v8::SumOfLanes(d, sum), s = v8::Set(d, scale);
  for (std::size_t key = 0; key < row.keys; key += kLanes8) {
    const Vec8 w = v8::Mul(s, v8::LoadU(d, row.weights + key));
    v8::StoreU(v8::Mul(w, v8::Sub(v8::LoadU(d, g + key), mean)), d, g + key);
  }
}

// Sum over keys of gradient * (logit - offset); gradients are 0 where there is no key.
HWY_INLINE float along_logits(const AttentionRow& row, const float* g, float offset) {
  const Tag8 d;
  const Vec8 o = v8::Set(d, offset);
  Vec8 sum = v8::Zero(d);
  for_keys(row, [&](std::size_t key, auto show) HWY_ATTR {
    sum = v8::MulAdd(v8::LoadU(d, g + key), show.or_zero(v8::Sub(v8::LoadU(d, row.logits + key), o)), sum);
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
    const Tag8 d;
    Spread result{};
    result.keys = visible_keys(row);
    Vec8 sum = v8::Zero(d), square = v8::Zero(d);
    for_keys(row, [&](std::size_t key, auto show)
                      HWY_ATTR { sum = v8::Add(sum, show.or_zero(v8::LoadU(d, row.logits + key))); });
    result.mean = sum_of(sum) / result.keys;
    const Vec8 mean = v8::Set(d, result.mean);
    for_keys(row, [&](std::size_t key, auto show) HWY_ATTR {
      const Vec8 c = show.or_zero(v8::Sub(v8::LoadU(d, row.logits + key), mean));
      square = v8::MulAdd(c, c, square);
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
    const Tag8 d;
    const Spread s = spread(rule, row);
    softmax_gradient(row, row.multiple / s.divisor, g);
    const float by_multiple = along_logits(row, g, s.mean);
    if (s.bounded) return by_multiple;
    if (s.keys == 2 && !rule.by_variance) {
      // Two keys always end at plus and minus one: both parts below cancel but for this share.
      const Vec8 left = v8::Set(d, rule.epsilon / (s.deviation * s.deviation));
      for (std::size_t key = 0; key < row.keys; key += kLanes8)
        v8::StoreU(v8::Mul(left, v8::LoadU(d, g + key)), d, g + key);
      return by_multiple;
    }
    // Through the divisor; its own gradient has mean zero, as the softmax part has.
    const float by_divisor = -by_multiple / s.divisor;
    const float by_variance = rule.by_variance ? by_divisor : by_divisor / (2 * s.deviation);
    const Vec8 slope = v8::Set(d, 2 * by_variance / s.keys), centre = v8::Set(d, s.mean);
    for_keys(row, [&](std::size_t key, auto show) HWY_ATTR {
      const Vec8 c = show.or_zero(v8::Sub(v8::LoadU(d, row.logits + key), centre));
      v8::StoreU(v8::MulAdd(slope, c, v8::LoadU(d, g + key)), d, g + key);
    });
    return by_multiple;
  }
};

struct SigmoidRow {
  static HWY_INLINE void weights(const RowRule& rule, const AttentionRow& row) {
    const Tag8 d;
    const Vec8 scale = v8::Set(d, -row.multiple * rule.inverse_root_width);
    const Vec8 shift = v8::Set(d, rule.log_keys_bias ? log_of_count(visible_keys(row)) : 0.0F);
    const Vec8 one = v8::Set(d, 1.0F);
    for_keys(row, [&](std::size_t key, auto show) HWY_ATTR {
      const Vec8 e = exp_of(v8::MulAdd(v8::LoadU(d, row.logits + key), scale, shift));
      v8::StoreU(show.or_zero(v8::Div(one, v8::Add(one, e))), d, row.weights + key);
    });
  }
  static HWY_INLINE float gradient(const RowRule& rule, const AttentionRow& row, float* g, bool learned) {
    const Tag8 d;
    const Vec8 scale = v8::Set(d, row.multiple * rule.inverse_root_width);
    for (std::size_t key = 0; key < row.keys; key += kLanes8) {
      const Vec8 w = v8::LoadU(d, row.weights + key);
      v8::StoreU(v8::Mul(v8::Mul(scale, v8::LoadU(d, g + key)), v8::NegMulAdd(w, w, w)), d, g + key);
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
    const Tag8 d;
    const Vec8 s = v8::Set(d, scale(rule, row));
    for_keys(row, [&](std::size_t key, auto show)
                      HWY_ATTR { v8::StoreU(show.or_zero(v8::Mul(s, v8::LoadU(d, from + key))), d, to + key); });
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
    const Tag8 d;
    const Vec8 scale = v8::Set(d, row.multiple * rule.inverse_root_width);
    Vec8 top = v8::Zero(d), sum = v8::Zero(d);
    for_keys(row, [&](std::size_t key, auto show)
                      HWY_ATTR { top = v8::Max(top, show.or_zero(v8::Mul(v8::LoadU(d, row.logits + key), scale))); });
    top = v8::MaxOfLanes(d, top);
    for_keys(row, [&](std::size_t key, auto show) HWY_ATTR {
      const Vec8 e = show.or_zero(exp_of(v8::Sub(v8::Mul(v8::LoadU(d, row.logits + key), scale), top)));
      sum = v8::Add(sum, e);
      v8::StoreU(e, d, row.weights + key);
    });
    const Vec8 share = v8::Div(v8::Set(d, 1.0F), v8::Add(v8::SumOfLanes(d, sum), exp_of(v8::Neg(top))));
    for (std::size_t key = 0; key < row.keys; key += kLanes8)
      v8::StoreU(v8::Mul(v8::LoadU(d, row.weights + key), share), d, row.weights + key);
  }
  static HWY_INLINE float gradient(const RowRule& rule, const AttentionRow& row, float* g, bool learned) {
    return SoftmaxRow::gradient(rule, row, g, learned);
  }
};

struct ScalableSoftmaxRow {
  static HWY_INLINE float scale(const RowRule& rule, const AttentionRow& row) {
    return row.multiple * rule.inverse_root_width * log_of_count(visible_keys(row));
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
    const Tag8 d;
    const Vec8 half = v8::Set(d, row.multiple * rule.inverse_root_width / 2), hidden = v8::Set(d, -1e30F);
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
  static HWY_INLINE float gradient(const RowRule& rule, const AttentionRow& row, float* g, bool learned) {
    const Tag8 d;
    Vec8 total = v8::Zero(d), along = v8::Zero(d);
    for (std::size_t key = 0; key < row.keys; key += kLanes8) {
      const Vec8 root = v8::Sqrt(v8::LoadU(d, row.weights + key));
      total = v8::Add(total, root);
      along = v8::MulAdd(root, v8::LoadU(d, g + key), along);
    }
    const float sum = sum_of(total);
    const Vec8 mean = v8::Set(d, sum > 0 ? sum_of(along) / sum : 0.0F);
    const Vec8 scale = v8::Set(d, row.multiple * rule.inverse_root_width);
    for (std::size_t key = 0; key < row.keys; key += kLanes8) {
      const Vec8 root = v8::Sqrt(v8::LoadU(d, row.weights + key));
      v8::StoreU(v8::Mul(v8::Mul(scale, root), v8::Sub(v8::LoadU(d, g + key), mean)), d, g + key);
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
