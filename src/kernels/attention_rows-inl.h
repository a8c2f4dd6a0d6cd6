// What attention rules are made of, vectorized over the keys of a row. Included once per instruction set.
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

// Backward through a softmax of scale * logits, in place. Weights are 0 where a key is hidden or does not exist.
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

}  // namespace eureka::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
