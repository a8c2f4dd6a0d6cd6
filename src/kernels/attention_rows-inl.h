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

// Which keys of the vector at `key` exist and are visible.
HWY_INLINE FloatMask seen(const AttentionRow& row, std::size_t key) {
  const FloatTag d;
  const FloatMask exists = hn::FirstN(d, row.keys - key);
  if (row.visible == nullptr) return exists;
  return hn::And(exists, hn::Ne(hn::LoadU(d, row.visible + key), hn::Zero(d)));
}

HWY_INLINE float visible_keys(const AttentionRow& row) {
  if (row.visible == nullptr) return static_cast<float>(row.keys);
  float count = 0;
  for (std::size_t key = 0; key < row.keys; ++key) count += row.visible[key] != 0 ? 1.0F : 0.0F;
  return count > 1 ? count : 1;
}

// weights = softmax(scale * (logits - offset)) over the visible keys.
HWY_INLINE void softmax_of(const AttentionRow& row, float scale, float offset) {
  const FloatTag d;
  constexpr float kHidden = -1e30F;
  const FloatVec s = hn::Set(d, scale), o = hn::Set(d, offset);
  FloatVec top = hn::Set(d, kHidden);
  for (std::size_t key = 0; key < row.keys; key += kLanes) {
    const FloatVec z = hn::Mul(hn::Sub(hn::LoadU(d, row.logits + key), o), s);
    const FloatVec shown = hn::IfThenElse(seen(row, key), z, hn::Set(d, kHidden));
    top = hn::Max(top, shown);
    hn::StoreU(shown, d, row.weights + key);
  }
  const FloatVec highest = hn::Set(d, max_of(top));
  FloatVec sum = hn::Zero(d);
  for (std::size_t key = 0; key < row.keys; key += kLanes) {
    const FloatVec e =
        hn::IfThenElseZero(seen(row, key), exp_of(hn::Sub(hn::LoadU(d, row.weights + key), highest)));
    sum = hn::Add(sum, e);
    hn::StoreU(e, d, row.weights + key);
  }
  const float total = sum_of(sum);
  const FloatVec share = hn::Set(d, total > 0 ? 1.0F / total : 0.0F);
  for (std::size_t key = 0; key < row.keys; key += kLanes)
    hn::StoreU(hn::Mul(hn::LoadU(d, row.weights + key), share), d, row.weights + key);
}

// sum of weights * gradient: what a softmax takes off every gradient.
HWY_INLINE FloatVec mean_gradient(const AttentionRow& row, const float* gradient) {
  const FloatTag d;
  FloatVec sum = hn::Zero(d);
  for (std::size_t key = 0; key < row.keys; key += kLanes) {
    const FloatVec w = hn::IfThenElseZero(hn::FirstN(d, row.keys - key), hn::LoadU(d, row.weights + key));
    sum = hn::MulAdd(w, hn::LoadU(d, gradient + key), sum);
  }
  return hn::Set(d, sum_of(sum));
}

struct SoftmaxRow {
  static HWY_INLINE void weights(const RowRule& rule, const AttentionRow& row) {
    softmax_of(row, row.multiple * rule.inverse_root_width, 0);
  }
  static HWY_INLINE float gradient(const RowRule& rule, const AttentionRow& row, float* g, bool learned) {
    const FloatTag d;
    const FloatVec scale = hn::Set(d, row.multiple * rule.inverse_root_width);
    const FloatVec mean = mean_gradient(row, g);
    FloatVec by_scale = hn::Zero(d);
    for (std::size_t key = 0; key < row.keys; key += kLanes) {
      const FloatVec w = hn::IfThenElseZero(seen(row, key), hn::LoadU(d, row.weights + key));
      const FloatVec ds = hn::Mul(scale, hn::Mul(w, hn::Sub(hn::LoadU(d, g + key), mean)));
      if (learned) by_scale = hn::MulAdd(ds, hn::LoadU(d, row.logits + key), by_scale);
      hn::StoreU(ds, d, g + key);
    }
    return learned ? sum_of(by_scale) : 0.0F;
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
    FloatVec sum = hn::Zero(d);
    for (std::size_t key = 0; key < row.keys; key += kLanes)
      sum = hn::Add(sum, hn::IfThenElseZero(seen(row, key), hn::LoadU(d, row.logits + key)));
    result.mean = sum_of(sum) / result.keys;
    const FloatVec mean = hn::Set(d, result.mean);
    FloatVec square = hn::Zero(d);
    for (std::size_t key = 0; key < row.keys; key += kLanes) {
      const FloatVec c = hn::IfThenElseZero(seen(row, key), hn::Sub(hn::LoadU(d, row.logits + key), mean));
      square = hn::MulAdd(c, c, square);
    }
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
    const FloatVec mean = mean_gradient(row, g);
    const FloatVec scale = hn::Set(d, row.multiple / s.divisor), centre = hn::Set(d, s.mean);
    FloatVec along = hn::Zero(d);  // sum of dz z, z = multiple * (logit - mean) / divisor
    for (std::size_t key = 0; key < row.keys; key += kLanes) {
      const FloatVec w = hn::IfThenElseZero(seen(row, key), hn::LoadU(d, row.weights + key));
      const FloatVec dz = hn::Mul(scale, hn::Mul(w, hn::Sub(hn::LoadU(d, g + key), mean)));
      along = hn::MulAdd(dz, hn::Sub(hn::LoadU(d, row.logits + key), centre), along);
      hn::StoreU(dz, d, g + key);
    }
    const float by_multiple = sum_of(along);
    if (!s.bounded) {
      // Through the divisor; its own gradient has mean zero, as the softmax part has.
      const float by_divisor = -by_multiple / s.divisor;
      const float by_variance = rule.by_variance ? by_divisor : by_divisor / (2 * s.deviation);
      const FloatVec slope = hn::Set(d, 2 * by_variance / s.keys);
      for (std::size_t key = 0; key < row.keys; key += kLanes) {
        const FloatVec c = hn::IfThenElseZero(seen(row, key), hn::Sub(hn::LoadU(d, row.logits + key), centre));
        hn::StoreU(hn::MulAdd(slope, c, hn::LoadU(d, g + key)), d, g + key);
      }
    }
    return by_multiple;
  }
};

struct SigmoidRow {
  static HWY_INLINE void weights(const RowRule& rule, const AttentionRow& row) {
    const FloatTag d;
    const FloatVec scale = hn::Set(d, -row.multiple * rule.inverse_root_width);
    const FloatVec shift = hn::Set(d, rule.log_keys_bias ? std::log(visible_keys(row)) : 0.0F);
    const FloatVec one = hn::Set(d, 1.0F);
    for (std::size_t key = 0; key < row.keys; key += kLanes) {
      const FloatVec e = exp_of(hn::MulAdd(hn::LoadU(d, row.logits + key), scale, shift));
      hn::StoreU(hn::IfThenElseZero(seen(row, key), hn::Div(one, hn::Add(one, e))), d, row.weights + key);
    }
  }
  static HWY_INLINE float gradient(const RowRule& rule, const AttentionRow& row, float* g, bool learned) {
    const FloatTag d;
    const FloatVec scale = hn::Set(d, row.multiple * rule.inverse_root_width);
    FloatVec by_scale = hn::Zero(d);
    for (std::size_t key = 0; key < row.keys; key += kLanes) {
      const FloatVec w = hn::IfThenElseZero(seen(row, key), hn::LoadU(d, row.weights + key));
      const FloatVec ds = hn::Mul(hn::Mul(scale, hn::LoadU(d, g + key)), hn::NegMulAdd(w, w, w));
      if (learned) by_scale = hn::MulAdd(ds, hn::LoadU(d, row.logits + key), by_scale);
      hn::StoreU(ds, d, g + key);
    }
    return learned ? sum_of(by_scale) : 0.0F;
  }
};

struct LinearRow {
  static HWY_INLINE float scale(const RowRule& rule, const AttentionRow& row) {
    const float plain = row.multiple * rule.inverse_root_width;
    return rule.mean ? plain / visible_keys(row) : plain;
  }
  static HWY_INLINE void weights(const RowRule& rule, const AttentionRow& row) {
    const FloatTag d;
    const FloatVec s = hn::Set(d, scale(rule, row));
    for (std::size_t key = 0; key < row.keys; key += kLanes)
      hn::StoreU(hn::IfThenElseZero(seen(row, key), hn::Mul(s, hn::LoadU(d, row.logits + key))), d, row.weights + key);
  }
  static HWY_INLINE float gradient(const RowRule& rule, const AttentionRow& row, float* g, bool learned) {
    const FloatTag d;
    const FloatVec s = hn::Set(d, scale(rule, row));
    FloatVec by_scale = hn::Zero(d);
    for (std::size_t key = 0; key < row.keys; key += kLanes) {
      const FloatVec ds = hn::IfThenElseZero(seen(row, key), hn::Mul(s, hn::LoadU(d, g + key)));
      if (learned) by_scale = hn::MulAdd(ds, hn::LoadU(d, row.logits + key), by_scale);
      hn::StoreU(ds, d, g + key);
    }
    return learned ? sum_of(by_scale) : 0.0F;
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
  }
}

}  // namespace eureka::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
