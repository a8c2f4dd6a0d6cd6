// Softmax and NormSoftmax of a few rows side by side, where every query sees every key: one row alone would wait for
// its own sums most of the time. Same results as the rows in attention_rows-inl.h, to rounding. Included once per
// instruction set.
#if defined(EUREKA_KERNELS_ATTENTION_BLOCKS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef EUREKA_KERNELS_ATTENTION_BLOCKS_INL_H_
#undef EUREKA_KERNELS_ATTENTION_BLOCKS_INL_H_
#else
#define EUREKA_KERNELS_ATTENTION_BLOCKS_INL_H_
#endif

#include <type_traits>

#include "kernels/attention_rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace eureka::HWY_NAMESPACE {

// Rows of one head, `stride` floats apart.
struct RowBlock {
  const float* logits;
  float* weights;
  std::size_t stride;
  std::size_t keys;
  float multiple;  // of 1/sqrt(head width)

  RowBlock from(std::size_t row) const {
    return {logits + row * stride, weights + row * stride, stride, keys, multiple};
  }
};

// Vectors of keys that all exist, and the last one.
struct AllKeys {
  HWY_INLINE WideVec or_zero(WideVec x) const { return x; }
  HWY_INLINE WideVec or_else(WideVec x, WideVec) const { return x; }
};
struct SomeKeys {
  WideMask exist;
  HWY_INLINE WideVec or_zero(WideVec x) const { return wide::IfThenElseZero(exist, x); }
  HWY_INLINE WideVec or_else(WideVec x, WideVec otherwise) const { return wide::IfThenElse(exist, x, otherwise); }
};

// One broadcast value per row of a block.
template <std::size_t kRows>
struct PerRow {
  WideVec v[kRows];
  HWY_INLINE WideVec& operator[](std::size_t row) { return v[row]; }
  HWY_INLINE WideVec operator[](std::size_t row) const { return v[row]; }
};

template <std::size_t kRows>
HWY_INLINE PerRow<kRows> same_in_all(float value) {
  PerRow<kRows> result;
  for (std::size_t r = 0; r < kRows; ++r) result[r] = wide::Set(WideTag(), value);
  return result;
}

// action(key, show) for every vector of keys.
template <class Action>
HWY_INLINE void for_all_keys(std::size_t keys, const Action& action) {
  std::size_t key = 0;
  for (; key + kWideLanes <= keys; key += kWideLanes) action(key, AllKeys());
  if (key < keys) action(key, SomeKeys{wide::FirstN(WideTag(), keys - key)});
}

// Sum over keys, times a factor: term(row, key, show, sum) adds what a vector of keys gives.
template <std::size_t kRows, class Term>
HWY_INLINE PerRow<kRows> sums(std::size_t keys, float factor, const Term& term) {
  Vec8 sum[kRows];
  for (std::size_t r = 0; r < kRows; ++r) sum[r] = v8::Zero(Tag8());
  for_all_keys(keys, [&](std::size_t key, auto show) HWY_ATTR {
    for (std::size_t r = 0; r < kRows; ++r) sum[r] = term(r, key, show, sum[r]);
  });
  PerRow<kRows> result;
  for (std::size_t r = 0; r < kRows; ++r) result[r] = wide::Mul(sum_in_all_lanes(sum[r]), wide::Set(WideTag(), factor));
  return result;
}

// weights = softmax(scale * logits)
template <std::size_t kRows>
HWY_INLINE void softmax_rows(const RowBlock& b, PerRow<kRows> scale) {
  const WideTag d;
  // Powers of two instead of e: one multiplication less.
  for (std::size_t r = 0; r < kRows; ++r) scale[r] = wide::Mul(scale[r], wide::Set(d, 1.44269504F));
  const WideVec hidden = wide::Set(d, -1e30F);
  PerRow<kRows> top = same_in_all<kRows>(-1e30F);
  Vec8 sum[kRows];
  for (std::size_t r = 0; r < kRows; ++r) sum[r] = v8::Zero(Tag8());
  for_all_keys(b.keys, [&](std::size_t key, auto show) HWY_ATTR {
    for (std::size_t r = 0; r < kRows; ++r) {
      const WideVec z = wide::Mul(wide::LoadU(d, b.logits + r * b.stride + key), scale[r]);
      top[r] = wide::Max(top[r], show.or_else(z, hidden));
    }
  });
  for (std::size_t r = 0; r < kRows; ++r) top[r] = wide::MaxOfLanes(d, top[r]);
  for_all_keys(b.keys, [&](std::size_t key, auto show) HWY_ATTR {
    WideVec e[kRows];
    for (std::size_t r = 0; r < kRows; ++r) {
      // The rounding of `top` is the same for all keys and cancels in the quotient.
      const WideVec z = wide::MulSub(wide::LoadU(d, b.logits + r * b.stride + key), scale[r], top[r]);
      e[r] = wide::Max(z, wide::Set(d, -126.0F));
    }
    power_of_two(e);
    for (std::size_t r = 0; r < kRows; ++r) {
      e[r] = show.or_zero(e[r]);
      sum[r] = add_eights(sum[r], e[r]);
      wide::StoreU(e[r], d, b.weights + r * b.stride + key);
    }
  });
  PerRow<kRows> share;
  for (std::size_t r = 0; r < kRows; ++r) share[r] = wide::Div(wide::Set(d, 1.0F), sum_in_all_lanes(sum[r]));
  for (std::size_t key = 0; key < b.keys; key += kWideLanes)
    for (std::size_t r = 0; r < kRows; ++r) {
      float* w = b.weights + r * b.stride + key;
      wide::StoreU(wide::Mul(wide::LoadU(d, w), share[r]), d, w);
    }
}

// Sum over keys of weight * gradient: weights are 0 behind the keys.
template <std::size_t kRows>
HWY_INLINE PerRow<kRows> mean_gradients(const RowBlock& b, const float* g) {
  const WideTag d;
  return sums<kRows>(b.keys, 1, [&](std::size_t r, std::size_t key, auto, Vec8 sum) HWY_ATTR {
    return multiply_add_eights(wide::LoadU(d, b.weights + r * b.stride + key), wide::LoadU(d, g + r * b.stride + key),
                               sum);
  });
}

struct SoftmaxBlock {
  template <std::size_t kRows>
  static HWY_INLINE void weights(const RowRule& rule, const RowBlock& b) {
    softmax_rows<kRows>(b, same_in_all<kRows>(b.multiple * rule.inverse_root_width));
  }
  template <std::size_t kRows>
  static HWY_INLINE void gradient(const RowRule& rule, const RowBlock& b, float* g) {
    const WideTag d;
    const PerRow<kRows> mean = mean_gradients<kRows>(b, g);
    const WideVec scale = wide::Set(d, b.multiple * rule.inverse_root_width);
    for (std::size_t key = 0; key < b.keys; key += kWideLanes)
      for (std::size_t r = 0; r < kRows; ++r) {
        const std::size_t at = r * b.stride + key;
        const WideVec w = wide::Mul(scale, wide::LoadU(d, b.weights + at));
        wide::StoreU(wide::Mul(w, wide::Sub(wide::LoadU(d, g + at), mean[r])), d, g + at);
      }
  }
};

struct NormSoftmaxBlock {
  template <std::size_t kRows>
  struct Spread {
    PerRow<kRows> mean, deviation, divisor;
  };

  template <std::size_t kRows>
  static HWY_INLINE Spread<kRows> spread(const RowRule& rule, const RowBlock& b) {
    const WideTag d;
    const float per_key = 1.0F / static_cast<float>(b.keys);
    Spread<kRows> s;
    s.mean = sums<kRows>(b.keys, per_key, [&](std::size_t r, std::size_t key, auto show, Vec8 sum) HWY_ATTR {
      return add_eights(sum, show.or_zero(wide::LoadU(d, b.logits + r * b.stride + key)));
    });
    s.deviation = sums<kRows>(b.keys, per_key, [&](std::size_t r, std::size_t key, auto show, Vec8 sum) HWY_ATTR {
      const WideVec c = show.or_zero(wide::Sub(wide::LoadU(d, b.logits + r * b.stride + key), s.mean[r]));
      return multiply_add_eights(c, c, sum);
    });
    const WideVec bound = wide::Set(d, 1 / rule.inverse_root_width);
    for (std::size_t r = 0; r < kRows; ++r) {
      const WideVec variance = wide::Add(s.deviation[r], wide::Set(d, rule.epsilon));
      s.deviation[r] = rule.by_variance ? variance : wide::Sqrt(variance);
      s.divisor[r] = wide::Min(s.deviation[r], bound);
    }
    return s;
  }

  template <std::size_t kRows>
  static HWY_INLINE PerRow<kRows> scales(const RowBlock& b, const Spread<kRows>& s) {
    const WideTag d;
    PerRow<kRows> scale;
    for (std::size_t r = 0; r < kRows; ++r) scale[r] = wide::Div(wide::Set(d, b.multiple), s.divisor[r]);
    return scale;
  }

  template <std::size_t kRows>
  static HWY_INLINE void weights(const RowRule& rule, const RowBlock& b) {
    softmax_rows<kRows>(b, scales(b, spread<kRows>(rule, b)));
  }

  template <std::size_t kRows>
  static HWY_INLINE void gradient(const RowRule& rule, const RowBlock& b, float* g) {
    const WideTag d;
    const Spread<kRows> s = spread<kRows>(rule, b);
    const PerRow<kRows> scale = scales(b, s), mean = mean_gradients<kRows>(b, g);
    // Through the numerator of the logits, and along it: the gradient by ln(multiple).
    PerRow<kRows> slope = sums<kRows>(b.keys, 1, [&](std::size_t r, std::size_t key, auto show, Vec8 sum) HWY_ATTR {
      const std::size_t at = r * b.stride + key;
      const WideVec w = wide::Mul(scale[r], wide::LoadU(d, b.weights + at));
      const WideVec own = wide::Mul(w, wide::Sub(wide::LoadU(d, g + at), mean[r]));
      wide::StoreU(own, d, g + at);
      return multiply_add_eights(own, show.or_zero(wide::Sub(wide::LoadU(d, b.logits + at), s.mean[r])), sum);
    });
    // Through the divisor, unless that is bounded.
    const WideVec bound = wide::Set(d, 1 / rule.inverse_root_width);
    const WideVec twice_per_key = wide::Set(d, -2.0F / static_cast<float>(b.keys));
    for (std::size_t r = 0; r < kRows; ++r) {
      const WideVec by_variance =
          rule.by_variance ? s.divisor[r] : wide::Mul(wide::Add(s.deviation[r], s.deviation[r]), s.divisor[r]);
      const WideVec free = wide::Div(wide::Mul(slope[r], twice_per_key), by_variance);
      slope[r] = wide::IfThenZeroElse(wide::Gt(s.deviation[r], bound), free);
    }
    for_all_keys(b.keys, [&](std::size_t key, auto show) HWY_ATTR {
      for (std::size_t r = 0; r < kRows; ++r) {
        const std::size_t at = r * b.stride + key;
        const WideVec c = show.or_zero(wide::Sub(wide::LoadU(d, b.logits + at), s.mean[r]));
        wide::StoreU(wide::MulAdd(slope[r], c, wide::LoadU(d, g + at)), d, g + at);
      }
    });
  }
};

// The form of a rule for blocks of rows, where it has one.
template <class Rule>
struct BlockOf {};
template <>
struct BlockOf<SoftmaxRow> : SoftmaxBlock {};
template <>
struct BlockOf<NormSoftmaxRow> : NormSoftmaxBlock {};

template <class Rule>
inline constexpr bool has_block =
    std::is_base_of_v<SoftmaxBlock, BlockOf<Rule>> || std::is_base_of_v<NormSoftmaxBlock, BlockOf<Rule>>;

// action(first row, number of rows as a type) over all rows, a few at a time.
template <class Action>
HWY_INLINE void for_blocks_of_rows(std::size_t rows, const Action& action) {
  constexpr std::size_t kRows = 4;
  std::size_t row = 0;
  for (; row + kRows <= rows; row += kRows) action(row, std::integral_constant<std::size_t, kRows>());
  for (; row < rows; ++row) action(row, std::integral_constant<std::size_t, 1>());
}

}  // namespace eureka::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
