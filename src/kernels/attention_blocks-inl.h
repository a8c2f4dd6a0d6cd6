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

// One broadcast value per row of a block.
template <std::size_t kRows>
struct PerRow {
  Vec8 v[kRows];
  HWY_INLINE Vec8& operator[](std::size_t row) { return v[row]; }
  HWY_INLINE Vec8 operator[](std::size_t row) const { return v[row]; }
};

template <std::size_t kRows>
HWY_INLINE PerRow<kRows> same_in_all(float value) {
  PerRow<kRows> result;
  for (std::size_t r = 0; r < kRows; ++r) result[r] = v8::Set(Tag8(), value);
  return result;
}

// action(key, show) for every vector of keys.
template <class Action>
HWY_INLINE void for_all_keys(std::size_t keys, const Action& action) {
  std::size_t key = 0;
  for (; key + kLanes8 <= keys; key += kLanes8) action(key, ShowAll());
  if (key < keys) action(key, ShowSome{v8::FirstN(Tag8(), keys - key)});
}

// Sum over keys of term(row, key, show), times a factor.
template <std::size_t kRows, class Term>
HWY_INLINE PerRow<kRows> sums(std::size_t keys, float factor, const Term& term) {
  const Tag8 d;
  PerRow<kRows> result = same_in_all<kRows>(0);
  for_all_keys(keys, [&](std::size_t key, auto show) HWY_ATTR {
    for (std::size_t r = 0; r < kRows; ++r) result[r] = term(r, key, show, result[r]);
  });
  for (std::size_t r = 0; r < kRows; ++r) result[r] = v8::Mul(v8::SumOfLanes(d, result[r]), v8::Set(d, factor));
  return result;
}

// weights = softmax(scale * logits)
template <std::size_t kRows>
HWY_INLINE void softmax_rows(const RowBlock& b, PerRow<kRows> scale) {
  const Tag8 d;
  // Powers of two instead of e: one multiplication less.
  for (std::size_t r = 0; r < kRows; ++r) scale[r] = v8::Mul(scale[r], v8::Set(d, 1.44269504F));
  const Vec8 hidden = v8::Set(d, -1e30F);
  PerRow<kRows> top = same_in_all<kRows>(-1e30F), sum = same_in_all<kRows>(0);
  for_all_keys(b.keys, [&](std::size_t key, auto show) HWY_ATTR {
    for (std::size_t r = 0; r < kRows; ++r) {
      const Vec8 z = v8::Mul(v8::LoadU(d, b.logits + r * b.stride + key), scale[r]);
      top[r] = v8::Max(top[r], show.or_else(z, hidden));
    }
  });
  for (std::size_t r = 0; r < kRows; ++r) top[r] = v8::MaxOfLanes(d, top[r]);
  for_all_keys(b.keys, [&](std::size_t key, auto show) HWY_ATTR {
    Vec8 e[kRows];
    for (std::size_t r = 0; r < kRows; ++r) {
      // The rounding of `top` is the same for all keys and cancels in the quotient.
      const Vec8 z = v8::MulSub(v8::LoadU(d, b.logits + r * b.stride + key), scale[r], top[r]);
      e[r] = v8::Max(z, v8::Set(d, -126.0F));
    }
    power_of_two(e);
    for (std::size_t r = 0; r < kRows; ++r) {
      e[r] = show.or_zero(e[r]);
      sum[r] = v8::Add(sum[r], e[r]);
      v8::StoreU(e[r], d, b.weights + r * b.stride + key);
    }
  });
  for (std::size_t r = 0; r < kRows; ++r) sum[r] = v8::Div(v8::Set(d, 1.0F), v8::SumOfLanes(d, sum[r]));
  for (std::size_t key = 0; key < b.keys; key += kLanes8)
    for (std::size_t r = 0; r < kRows; ++r) {
      float* w = b.weights + r * b.stride + key;
      v8::StoreU(v8::Mul(v8::LoadU(d, w), sum[r]), d, w);
    }
}

// Sum over keys of weight * gradient: weights are 0 behind the keys.
template <std::size_t kRows>
HWY_INLINE PerRow<kRows> mean_gradients(const RowBlock& b, const float* g) {
  const Tag8 d;
  return sums<kRows>(b.keys, 1, [&](std::size_t r, std::size_t key, auto, Vec8 sum) HWY_ATTR {
    return v8::MulAdd(v8::LoadU(d, b.weights + r * b.stride + key), v8::LoadU(d, g + r * b.stride + key), sum);
  });
}

struct SoftmaxBlock {
  template <std::size_t kRows>
  static HWY_INLINE void weights(const RowRule& rule, const RowBlock& b) {
    softmax_rows<kRows>(b, same_in_all<kRows>(b.multiple * rule.inverse_root_width));
  }
  template <std::size_t kRows>
  static HWY_INLINE void gradient(const RowRule& rule, const RowBlock& b, float* g) {
    const Tag8 d;
    const PerRow<kRows> mean = mean_gradients<kRows>(b, g);
    const Vec8 scale = v8::Set(d, b.multiple * rule.inverse_root_width);
    for (std::size_t key = 0; key < b.keys; key += kLanes8)
      for (std::size_t r = 0; r < kRows; ++r) {
        const std::size_t at = r * b.stride + key;
        const Vec8 w = v8::Mul(scale, v8::LoadU(d, b.weights + at));
        v8::StoreU(v8::Mul(w, v8::Sub(v8::LoadU(d, g + at), mean[r])), d, g + at);
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
    const Tag8 d;
    const float per_key = 1.0F / static_cast<float>(b.keys);
    Spread<kRows> s;
    s.mean = sums<kRows>(b.keys, per_key, [&](std::size_t r, std::size_t key, auto show, Vec8 sum) HWY_ATTR {
      return v8::Add(sum, show.or_zero(v8::LoadU(d, b.logits + r * b.stride + key)));
    });
    s.deviation = sums<kRows>(b.keys, per_key, [&](std::size_t r, std::size_t key, auto show, Vec8 sum) HWY_ATTR {
      const Vec8 c = show.or_zero(v8::Sub(v8::LoadU(d, b.logits + r * b.stride + key), s.mean[r]));
      return v8::MulAdd(c, c, sum);
    });
    const Vec8 bound = v8::Set(d, 1 / rule.inverse_root_width);
    for (std::size_t r = 0; r < kRows; ++r) {
      const Vec8 variance = v8::Add(s.deviation[r], v8::Set(d, rule.epsilon));
      s.deviation[r] = rule.by_variance ? variance : v8::Sqrt(variance);
      s.divisor[r] = v8::Min(s.deviation[r], bound);
    }
    return s;
  }

  template <std::size_t kRows>
  static HWY_INLINE PerRow<kRows> scales(const RowBlock& b, const Spread<kRows>& s) {
    const Tag8 d;
    PerRow<kRows> scale;
    for (std::size_t r = 0; r < kRows; ++r) scale[r] = v8::Div(v8::Set(d, b.multiple), s.divisor[r]);
    return scale;
  }

  template <std::size_t kRows>
  static HWY_INLINE void weights(const RowRule& rule, const RowBlock& b) {
    softmax_rows<kRows>(b, scales(b, spread<kRows>(rule, b)));
  }

  template <std::size_t kRows>
  static HWY_INLINE void gradient(const RowRule& rule, const RowBlock& b, float* g) {
    const Tag8 d;
    const Spread<kRows> s = spread<kRows>(rule, b);
    const PerRow<kRows> scale = scales(b, s), mean = mean_gradients<kRows>(b, g);
    // Through the numerator of the logits, and along it: the gradient by ln(multiple).
    PerRow<kRows> slope = sums<kRows>(b.keys, 1, [&](std::size_t r, std::size_t key, auto show, Vec8 sum) HWY_ATTR {
      const std::size_t at = r * b.stride + key;
      const Vec8 w = v8::Mul(scale[r], v8::LoadU(d, b.weights + at));
      const Vec8 own = v8::Mul(w, v8::Sub(v8::LoadU(d, g + at), mean[r]));
      v8::StoreU(own, d, g + at);
      return v8::MulAdd(own, show.or_zero(v8::Sub(v8::LoadU(d, b.logits + at), s.mean[r])), sum);
    });
    // Through the divisor, unless that is bounded.
    const Vec8 bound = v8::Set(d, 1 / rule.inverse_root_width);
    const Vec8 twice_per_key = v8::Set(d, -2.0F / static_cast<float>(b.keys));
    for (std::size_t r = 0; r < kRows; ++r) {
      const Vec8 by_variance =
          rule.by_variance ? s.divisor[r] : v8::Mul(v8::Add(s.deviation[r], s.deviation[r]), s.divisor[r]);
      const Vec8 free = v8::Div(v8::Mul(slope[r], twice_per_key), by_variance);
      slope[r] = v8::IfThenZeroElse(v8::Gt(s.deviation[r], bound), free);
    }
    for_all_keys(b.keys, [&](std::size_t key, auto show) HWY_ATTR {
      for (std::size_t r = 0; r < kRows; ++r) {
        const std::size_t at = r * b.stride + key;
        const Vec8 c = show.or_zero(v8::Sub(v8::LoadU(d, b.logits + at), s.mean[r]));
        v8::StoreU(v8::MulAdd(slope[r], c, v8::LoadU(d, g + at)), d, g + at);
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
