#include "kernels/attention.h"

#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/attention.cpp"
#include "hwy/foreach_target.h"
// After foreach_target.
#include "kernels/attention_rules-inl.h"
#include "kernels/gemm-inl.h"
#include "kernels/transpose-inl.h"

HWY_BEFORE_NAMESPACE();
namespace eureka::HWY_NAMESPACE {
namespace {

// A name of its own, by which a profile tells attention from the other products.
struct StoreLogits : Store {};

// c = x y^T per head: through a transposed copy of y, or row by row when x has few rows.
HWY_INLINE void query_key_products(std::size_t queries, std::size_t keys, std::size_t width, MatrixA x, MatrixA y,
                                   float* c, std::size_t c_stride, float* scratch) {
  if (queries < 3) return row_products(queries, keys, width, x, y, c, c_stride);
  const std::size_t stride = row_stride(keys);
  transpose(y, keys, width, scratch, stride, kColumnUnit);
  product<Left::rows>({queries, keys, width}, x, MatrixB::plain(scratch, stride), StoreLogits{{c, c_stride}});
}

HWY_INLINE MatrixB plain(MatrixA x) { return MatrixB::plain(x.data, x.stride); }

HWY_INLINE MatrixA part(MatrixA x, std::size_t row, std::size_t column) {
  return {x.data + row * x.stride + column, x.stride};
}

// The row of one query; keys that a causal mask hides are not part of it.
HWY_INLINE AttentionRow row_of(const HeadRules& rule, std::size_t sample, std::size_t head, std::size_t query,
                               std::size_t keys, const float* logits, float* weights) {
  const AttentionMask& mask = rule.mask;
  return {.multiple = rule.multiples[head],
          .inverse_root_width = rule.inverse_root_width,
          .logits = logits,
          .weights = weights,
          .keys = mask.causal ? query + 1 : keys,
          .visible = mask.visible == nullptr ? nullptr : mask.visible + sample * mask.stride};
}

// Keys behind the end of a causal row have no weight and no gradient.
HWY_INLINE void clear_behind(const AttentionRow& row, std::size_t keys, float* values) {
  if (row.keys < keys) std::memset(values + row.keys, 0, (keys - row.keys) * sizeof(float));
}

// The given weights of a row of a fixed head.
HWY_INLINE const float* fixed_row(const HeadRules& rule, std::size_t sample, std::size_t query, std::size_t queries,
                                  std::size_t stride) {
  return rule.fixed.rows + (rule.fixed.per_query ? sample * queries + query : sample) * stride;
}

// Rows of all heads of all samples lie behind each other, `stride` floats apart: unit after unit, a unit being one head
// of one sample. Where every query sees every key, rows of several units are worked on side by side.
struct Units {
  Units(const AttentionShape& s, const HeadRules& r) : shape(s), rule(r), count(s.samples * s.heads) {
    side_by_side = !r.mask.causal && r.mask.visible == nullptr;
    bool same_multiples = true;
    for (std::size_t head = 1; head < s.heads; ++head) same_multiples &= r.multiples[head] == r.multiples[0];
    at_once = side_by_side && same_multiples ? s.units_at_once() : 1;
  }
  std::size_t sample(std::size_t unit) const { return unit / shape.heads; }
  std::size_t head(std::size_t unit) const { return unit % shape.heads; }
  std::size_t row(std::size_t unit) const { return unit * shape.queries * shape.weight_stride(); }
  // Row and column of a unit's own part in a matrix with `per_sample` rows per sample.
  MatrixA part(MatrixA x, std::size_t per_sample, std::size_t unit) const {
    return {x.data + sample(unit) * per_sample * x.stride + head(unit) * shape.head_width, x.stride};
  }
  StoreExactly store(MatrixC x, std::size_t per_sample, std::size_t unit) const {
    return {x.data + sample(unit) * per_sample * x.stride + head(unit) * shape.head_width, x.stride, shape.head_width};
  }
  RowBlock block(std::size_t unit, const float* logits, float* weights) const {
    return {logits + row(unit), weights + row(unit),        shape.weight_stride(),
            shape.keys,         rule.multiples[head(unit)], rule.inverse_root_width};
  }

  const AttentionShape& shape;
  const HeadRules& rule;
  std::size_t count, at_once;
  bool side_by_side;
};

template <class Kernel, class Options>
HWY_INLINE void weights_of(const Options& options, const Units& units, std::size_t first, std::size_t last,
                           const float* logits, float* weights) {
  const HeadRules& rule = units.rule;
  if constexpr (has_block<Kernel>) {
    if (units.side_by_side) {
      const RowBlock block = units.block(first, logits, weights);
      for_blocks_of_rows((last - first) * units.shape.queries, [&](std::size_t row, auto count) HWY_ATTR {
        Kernel::Block::template weights<decltype(count)::value>(options, block.from(row));
      });
      return;
    }
  }
  for (std::size_t unit = first; unit < last; ++unit)
    for (std::size_t i = 0; i < units.shape.queries; ++i) {
      const std::size_t at = units.row(unit) + i * units.shape.weight_stride();
      const AttentionRow row =
          row_of(rule, units.sample(unit), units.head(unit), i, units.shape.keys, logits + at, weights + at);
      Kernel::weights(options, row);
      clear_behind(row, units.shape.keys, row.weights);
    }
}

// Heads that are fixed get the weights they are given.
HWY_INLINE void fix_weights(const Units& units, std::size_t first, std::size_t last, float* weights) {
  const HeadRules& rule = units.rule;
  if (rule.fixed.heads == nullptr) return;
  const std::size_t queries = units.shape.queries, stride = units.shape.weight_stride();
  for (std::size_t unit = first; unit < last; ++unit)
    for (std::size_t i = 0; i < queries && rule.fixed.has(units.head(unit)); ++i)
      std::memcpy(weights + units.row(unit) + i * stride, fixed_row(rule, units.sample(unit), i, queries, stride),
                  units.shape.keys * sizeof(float));
}

// And no gradient by their logits; g belongs to the rows from unit `first` on.
HWY_INLINE void clear_fixed(const Units& units, std::size_t first, std::size_t last, float* g) {
  if (units.rule.fixed.heads == nullptr) return;
  const std::size_t floats = units.shape.queries * units.shape.weight_stride();
  for (std::size_t unit = first; unit < last; ++unit)
    if (units.rule.fixed.has(units.head(unit))) std::memset(g + (unit - first) * floats, 0, floats * sizeof(float));
}

// Turns gradients by weights into gradients by logits; g belongs to the rows from unit `first` on.
template <class Kernel, class Options>
HWY_INLINE void gradient_of(const Options& options, const Units& units, std::size_t first, std::size_t last,
                            const float* logits, float* weights, float* g, float* d_log_multiples) {
  const HeadRules& rule = units.rule;
  const std::size_t stride = units.shape.weight_stride();
  if constexpr (has_block<Kernel>) {
    // NormSoftmax of two keys has a form of its own, without cancellation.
    if (units.side_by_side && !rule.learned && units.shape.keys > 2) {
      const RowBlock block = units.block(first, logits, weights);
      for_blocks_of_rows((last - first) * units.shape.queries, [&](std::size_t row, auto count) HWY_ATTR {
        Kernel::Block::template gradient<decltype(count)::value>(options, block.from(row), g + row * stride);
      });
      return;
    }
  }
  for (std::size_t unit = first; unit < last; ++unit) {
    float by_multiple = 0;
    for (std::size_t i = 0; i < units.shape.queries; ++i, g += stride) {
      const std::size_t at = units.row(unit) + i * stride;
      const AttentionRow row =
          row_of(rule, units.sample(unit), units.head(unit), i, units.shape.keys, logits + at, weights + at);
      by_multiple += Kernel::gradient(options, row, g, rule.learned);
      clear_behind(row, units.shape.keys, g);
    }
    if (rule.learned && !rule.fixed.has(units.head(unit))) d_log_multiples[units.head(unit)] += by_multiple;
  }
}

void forward(const AttentionShape& shape, const HeadRules& rule, MatrixA q, MatrixA k, MatrixA v, float* logits,
             float* weights, MatrixC out, float* scratch) {
  const std::size_t width = shape.head_width, stride = shape.weight_stride();
  const Units units(shape, rule);
  with_rule(rule.row, [&](auto kernel, const auto& options) HWY_ATTR {
    for (std::size_t first = 0; first < units.count; first += units.at_once) {
      const std::size_t last = HWY_MIN(units.count, first + units.at_once);
      for (std::size_t unit = first; unit < last; ++unit)
        query_key_products(shape.queries, shape.keys, width, units.part(q, shape.queries, unit),
                           units.part(k, shape.keys, unit), logits + units.row(unit), stride, scratch);
      weights_of<decltype(kernel)>(options, units, first, last, logits, weights);
      fix_weights(units, first, last, weights);
      for (std::size_t unit = first; unit < last; ++unit)
        product<Left::rows>({shape.queries, width, shape.keys}, {weights + units.row(unit), stride},
                            plain(units.part(v, shape.keys, unit)), units.store(out, shape.queries, unit));
    }
  });
}

void backward(const AttentionShape& shape, const HeadRules& rule, MatrixA q, MatrixA k, MatrixA v, const float* logits,
              const float* weights, MatrixA d_out, MatrixC dq, MatrixC dk, MatrixC dv, float* d_log_multiples,
              float* scratch, AttentionTaps taps) {
  const std::size_t width = shape.head_width, stride = shape.weight_stride(), unit_floats = shape.queries * stride;
  float* d_logits = scratch + width * row_stride(shape.keys);
  const Units units(shape, rule);
  const auto tap = [&](float* to, std::size_t first, std::size_t last) {
    if (to != nullptr) std::memcpy(to + units.row(first), d_logits, (last - first) * unit_floats * sizeof(float));
  };
  with_rule(rule.row, [&](auto kernel, const auto& options) HWY_ATTR {
    for (std::size_t first = 0; first < units.count; first += units.at_once) {
      const std::size_t last = HWY_MIN(units.count, first + units.at_once);
      for (std::size_t unit = first; unit < last; ++unit) {
        const MatrixA go = units.part(d_out, shape.queries, unit);
        query_key_products(shape.queries, shape.keys, width, go, units.part(v, shape.keys, unit),
                           d_logits + (unit - first) * unit_floats, stride, scratch);
        product<Left::transposed>({shape.keys, width, shape.queries}, {weights + units.row(unit), stride}, plain(go),
                                  units.store(dv, shape.keys, unit));
      }
      tap(taps.d_weights, first, last);
      // Read only: the backward pass changes no weight.
      gradient_of<decltype(kernel)>(options, units, first, last, logits, const_cast<float*>(weights), d_logits,
                                    d_log_multiples);
      clear_fixed(units, first, last, d_logits);
      tap(taps.d_logits, first, last);
      for (std::size_t unit = first; unit < last; ++unit) {
        const MatrixA g{d_logits + (unit - first) * unit_floats, stride};
        product<Left::rows>({shape.queries, width, shape.keys}, g, plain(units.part(k, shape.keys, unit)),
                            units.store(dq, shape.queries, unit));
        product<Left::transposed>({shape.keys, width, shape.queries}, g, plain(units.part(q, shape.queries, unit)),
                                  units.store(dk, shape.keys, unit));
      }
    }
  });
}

void absorbed_forward(const AbsorbedShape& shape, const HeadRules& rule, MatrixA u, MatrixA tokens,
                      const float* logit_offsets, float* logits, float* weights, MatrixC z) {
  const std::size_t stride = shape.weight_stride();
  with_rule(rule.row, [&](auto kernel, const auto& options) HWY_ATTR {
    for (std::size_t sample = 0; sample < shape.samples; ++sample) {
      const std::size_t first = sample * shape.heads;
      const MatrixA own = part(tokens, sample * shape.keys, 0);
      row_products(shape.heads, shape.keys, shape.width, part(u, first, 0), own, logits + first * stride, stride);
      for (std::size_t head = first; head < first + shape.heads; ++head) {
        if (logit_offsets != nullptr)
          for (std::size_t key = 0; key < shape.keys; ++key) logits[head * stride + key] += logit_offsets[head];
        decltype(kernel)::weights(options, row_of(rule, sample, head - first, 0, shape.keys, logits + head * stride,
                                                  weights + head * stride));
        if (rule.fixed.has(head - first))
          std::memcpy(weights + head * stride, fixed_row(rule, sample, 0, 1, stride), shape.keys * sizeof(float));
      }
      product<Left::rows>({shape.heads, shape.width, shape.keys}, {weights + first * stride, stride},
                          MatrixB::plain(own.data, own.stride), Store{z.data + first * z.stride, z.stride});
    }
  });
}

void absorbed_backward(const AbsorbedShape& shape, const HeadRules& rule, MatrixA u, MatrixA tokens,
                       const float* logits, const float* weights, MatrixA dz, const float* weight_offsets, MatrixC du,
                       MatrixC d_tokens, float* d_logit_sums, float* d_log_multiples, float* d_logits) {
  const std::size_t stride = shape.weight_stride();
  with_rule(rule.row, [&](auto kernel, const auto& options) HWY_ATTR {
    for (std::size_t sample = 0; sample < shape.samples; ++sample) {
      const std::size_t first = sample * shape.heads;
      const MatrixA own = part(tokens, sample * shape.keys, 0);
      const MatrixA dz_own = part(dz, first, 0), u_own = part(u, first, 0);
      row_products(shape.heads, shape.keys, shape.width, dz_own, own, d_logits, stride);
      for (std::size_t i = 0; i < shape.heads; ++i) {
        const std::size_t head = first + i;
        float* g = d_logits + i * stride;
        if (weight_offsets != nullptr)
          for (std::size_t key = 0; key < shape.keys; ++key) g[key] += weight_offsets[head];
        const AttentionRow row =
            row_of(rule, sample, i, 0, shape.keys, logits + head * stride, const_cast<float*>(weights) + head * stride);
        const float by_multiple = decltype(kernel)::gradient(options, row, g, rule.learned);
        if (rule.fixed.has(i))
          std::memset(g, 0, shape.keys * sizeof(float));
        else if (rule.learned)
          d_log_multiples[i] += by_multiple;
        if (d_logit_sums != nullptr) {
          d_logit_sums[head] = 0;
          for (std::size_t key = 0; key < shape.keys; ++key) d_logit_sums[head] += g[key];
        }
      }
      product<Left::rows>({shape.heads, shape.width, shape.keys}, {d_logits, stride},
                          MatrixB::plain(own.data, own.stride), Store{du.data + first * du.stride, du.stride});
      float* to = d_tokens.data + sample * shape.keys * d_tokens.stride;
      product<Left::transposed>({shape.keys, shape.width, shape.heads}, {weights + first * stride, stride},
                                MatrixB::plain(dz_own.data, dz_own.stride), Store{to, d_tokens.stride});
      product<Left::transposed>({shape.keys, shape.width, shape.heads}, {d_logits, stride},
                                MatrixB::plain(u_own.data, u_own.stride), Accumulate{to, d_tokens.stride});
    }
  });
}

}  // namespace
}  // namespace eureka::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace eureka {

HWY_EXPORT(forward);
HWY_EXPORT(backward);
HWY_EXPORT(absorbed_forward);
HWY_EXPORT(absorbed_backward);

void attention(const AttentionShape& shape, const HeadRules& rule, MatrixA q, MatrixA k, MatrixA v, float* logits,
               float* weights, MatrixC out, float* scratch) {
  HWY_DYNAMIC_DISPATCH(forward)(shape, rule, q, k, v, logits, weights, out, scratch);
}

void attention_backward(const AttentionShape& shape, const HeadRules& rule, MatrixA q, MatrixA k, MatrixA v,
                        const float* logits, const float* weights, MatrixA d_out, MatrixC dq, MatrixC dk, MatrixC dv,
                        float* d_log_multiples, float* scratch, AttentionTaps taps) {
  HWY_DYNAMIC_DISPATCH(backward)
  (shape, rule, q, k, v, logits, weights, d_out, dq, dk, dv, d_log_multiples, scratch, taps);
}

void absorbed_attention(const AbsorbedShape& shape, const HeadRules& rule, MatrixA u, MatrixA tokens,
                        const float* logit_offsets, float* logits, float* weights, MatrixC z) {
  HWY_DYNAMIC_DISPATCH(absorbed_forward)(shape, rule, u, tokens, logit_offsets, logits, weights, z);
}

void absorbed_attention_backward(const AbsorbedShape& shape, const HeadRules& rule, MatrixA u, MatrixA tokens,
                                 const float* logits, const float* weights, MatrixA dz, const float* weight_offsets,
                                 MatrixC du, MatrixC d_tokens, float* d_logit_sums, float* d_log_multiples,
                                 float* scratch) {
  HWY_DYNAMIC_DISPATCH(absorbed_backward)
  (shape, rule, u, tokens, logits, weights, dz, weight_offsets, du, d_tokens, d_logit_sums, d_log_multiples, scratch);
}

}  // namespace eureka
#endif
