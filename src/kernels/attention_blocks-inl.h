// What attention rules are made of, for a few rows side by side, where every query sees every key: one row alone would
// wait for its own sums most of the time. Same results as one row at a time, to rounding. Included once per instruction
// set.
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
  float multiple;            // of 1/sqrt(head width)
  float inverse_root_width;  // 1 / sqrt(head width)

  float scale() const { return multiple * inverse_root_width; }
  RowBlock from(std::size_t row) const {
    return {logits + row * stride, weights + row * stride, stride, keys, multiple, inverse_root_width};
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
