#include "kernels/attention.h"

#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/attention.cpp"
#include "hwy/foreach_target.h"
// After foreach_target.
#include "kernels/attention_rows-inl.h"
#include "kernels/gemm-inl.h"

HWY_BEFORE_NAMESPACE();
namespace eureka::HWY_NAMESPACE {
namespace {

// to (columns x rows) = from^T; zeros behind the rows up to whole vectors.
HWY_INLINE void transpose(MatrixA from, std::size_t rows, std::size_t columns, float* HWY_RESTRICT to,
                          std::size_t to_stride) {
  const std::size_t padded = (rows + kLanes - 1) / kLanes * kLanes;
  std::size_t row = 0;
#if HWY_TARGET != HWY_SCALAR
  // Squares of four by four in registers.
  const hn::Full128<float> d;
  const hn::Full128<double> d2;
  for (; row + 4 <= rows && columns % 4 == 0; row += 4) {
    const float* r = from.data + row * from.stride;
    for (std::size_t c = 0; c < columns; c += 4) {
      const auto r0 = hn::LoadU(d, r + c), r1 = hn::LoadU(d, r + from.stride + c);
      const auto r2 = hn::LoadU(d, r + 2 * from.stride + c), r3 = hn::LoadU(d, r + 3 * from.stride + c);
      const auto low01 = hn::BitCast(d2, hn::InterleaveLower(d, r0, r1));
      const auto low23 = hn::BitCast(d2, hn::InterleaveLower(d, r2, r3));
      const auto high01 = hn::BitCast(d2, hn::InterleaveUpper(d, r0, r1));
      const auto high23 = hn::BitCast(d2, hn::InterleaveUpper(d, r2, r3));
      float* t = to + c * to_stride + row;
      hn::StoreU(hn::BitCast(d, hn::InterleaveLower(d2, low01, low23)), d, t);
      hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(d2, low01, low23)), d, t + to_stride);
      hn::StoreU(hn::BitCast(d, hn::InterleaveLower(d2, high01, high23)), d, t + 2 * to_stride);
      hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(d2, high01, high23)), d, t + 3 * to_stride);
    }
  }
#endif
  for (; row < padded; ++row)
    for (std::size_t c = 0; c < columns; ++c)
      to[c * to_stride + row] = row < rows ? from.data[row * from.stride + c] : 0.0F;
}

// c = x y^T per head: through a transposed copy of y, or row by row when x has few rows.
HWY_INLINE void query_key_products(std::size_t queries, std::size_t keys, std::size_t width, MatrixA x, MatrixA y,
                                   float* c, std::size_t c_stride, float* scratch) {
  if (queries < 3) return row_products(queries, keys, width, x, y, c, c_stride);
  const std::size_t stride = row_stride(keys);
  transpose(y, keys, width, scratch, stride);
  product<false>({queries, keys, width}, x, MatrixB::plain(scratch, stride), Store{c, c_stride});
}

HWY_INLINE MatrixA part(MatrixA x, std::size_t row, std::size_t column) {
  return {x.data + row * x.stride + column, x.stride};
}

// The row of one query; keys that a causal mask hides are not part of it.
HWY_INLINE AttentionRow row_of(const HeadRules& rule, std::size_t sample, std::size_t head, std::size_t query,
                               std::size_t keys, const float* logits, float* weights) {
  const AttentionMask& mask = rule.mask;
  return {.multiple = rule.multiples[head],
          .logits = logits,
          .weights = weights,
          .keys = mask.causal ? query + 1 : keys,
          .visible = mask.visible == nullptr ? nullptr : mask.visible + sample * mask.stride};
}

// Keys behind the end of a causal row have no weight and no gradient.
HWY_INLINE void clear_behind(const AttentionRow& row, std::size_t keys, float* values) {
  if (row.keys < keys) std::memset(values + row.keys, 0, (keys - row.keys) * sizeof(float));
}

void forward(const AttentionShape& shape, const HeadRules& rule, MatrixA q, MatrixA k, MatrixA v, float* logits,
             float* weights, MatrixC out, float* scratch) {
  const std::size_t width = shape.head_width, stride = shape.weight_stride();
  with_rule(rule.row.kind, [&](auto chosen) HWY_ATTR {
    for (std::size_t sample = 0; sample < shape.samples; ++sample) {
      for (std::size_t head = 0; head < shape.heads; ++head) {
        const std::size_t column = head * width, key = sample * shape.keys, query = sample * shape.queries;
        const std::size_t first = (sample * shape.heads + head) * shape.queries * stride;
        query_key_products(shape.queries, shape.keys, width, part(q, query, column), part(k, key, column),
                           logits + first, stride, scratch);
        for (std::size_t i = 0; i < shape.queries; ++i) {
          const std::size_t at = first + i * stride;
          const AttentionRow row = row_of(rule, sample, head, i, shape.keys, logits + at, weights + at);
          decltype(chosen)::weights(rule.row, row);
          clear_behind(row, shape.keys, row.weights);
        }
        product<false>({shape.queries, width, shape.keys}, {weights + first, stride},
                       MatrixB::plain(v.data + key * v.stride + column, v.stride),
                       StoreExactly{out.data + query * out.stride + column, out.stride, width});
      }
    }
  });
}

void backward(const AttentionShape& shape, const HeadRules& rule, MatrixA q, MatrixA k, MatrixA v, const float* logits,
              const float* weights, MatrixA d_out, MatrixC dq, MatrixC dk, MatrixC dv, float* d_log_multiples,
              float* scratch, AttentionTaps taps) {
  const std::size_t width = shape.head_width, stride = shape.weight_stride();
  const std::size_t row_floats = shape.queries * stride;
  float* d_logits = scratch + width * row_stride(shape.keys);
  with_rule(rule.row.kind, [&](auto chosen) HWY_ATTR {
    for (std::size_t sample = 0; sample < shape.samples; ++sample) {
      for (std::size_t head = 0; head < shape.heads; ++head) {
        const std::size_t column = head * width, key = sample * shape.keys, query = sample * shape.queries;
        const std::size_t first = (sample * shape.heads + head) * shape.queries * stride;
        const MatrixA go = part(d_out, query, column);
        const auto out = [&](MatrixC to, std::size_t row) HWY_ATTR {
          return StoreExactly{to.data + row * to.stride + column, to.stride, width};
        };
        query_key_products(shape.queries, shape.keys, width, go, part(v, key, column), d_logits, stride, scratch);
        product<true>({shape.keys, width, shape.queries}, {weights + first, stride}, MatrixB::plain(go.data, go.stride),
                      out(dv, key));
        if (taps.d_weights != nullptr) std::memcpy(taps.d_weights + first, d_logits, row_floats * sizeof(float));
        float by_multiple = 0;
        for (std::size_t i = 0; i < shape.queries; ++i) {
          const std::size_t at = first + i * stride;
          // Read only: the way back changes no weight.
          float* own = const_cast<float*>(weights) + at;
          const AttentionRow row = row_of(rule, sample, head, i, shape.keys, logits + at, own);
          by_multiple += decltype(chosen)::gradient(rule.row, row, d_logits + i * stride, rule.learned);
          clear_behind(row, shape.keys, d_logits + i * stride);
        }
        if (taps.d_logits != nullptr) std::memcpy(taps.d_logits + first, d_logits, row_floats * sizeof(float));
        if (rule.learned) d_log_multiples[head] += by_multiple;
        const MatrixA qh = part(q, query, column), kh = part(k, key, column);
        product<false>({shape.queries, width, shape.keys}, {d_logits, stride}, MatrixB::plain(kh.data, kh.stride),
                       out(dq, query));
        product<true>({shape.keys, width, shape.queries}, {d_logits, stride}, MatrixB::plain(qh.data, qh.stride),
                      out(dk, key));
      }
    }
  });
}

void absorbed_forward(const AbsorbedShape& shape, const HeadRules& rule, MatrixA u, MatrixA tokens,
                      const float* logit_offsets, float* logits, float* weights, MatrixC z) {
  const std::size_t stride = shape.weight_stride();
  with_rule(rule.row.kind, [&](auto chosen) HWY_ATTR {
    for (std::size_t sample = 0; sample < shape.samples; ++sample) {
      const std::size_t first = sample * shape.heads;
      const MatrixA own = part(tokens, sample * shape.keys, 0);
      row_products(shape.heads, shape.keys, shape.width, part(u, first, 0), own, logits + first * stride, stride);
      for (std::size_t head = first; head < first + shape.heads; ++head) {
        if (logit_offsets != nullptr)
          for (std::size_t key = 0; key < shape.keys; ++key) logits[head * stride + key] += logit_offsets[head];
        decltype(chosen)::weights(rule.row, row_of(rule, sample, head - first, 0, shape.keys, logits + head * stride,
                                                   weights + head * stride));
      }
      product<false>({shape.heads, shape.width, shape.keys}, {weights + first * stride, stride},
                     MatrixB::plain(own.data, own.stride), Store{z.data + first * z.stride, z.stride});
    }
  });
}

void absorbed_backward(const AbsorbedShape& shape, const HeadRules& rule, MatrixA u, MatrixA tokens,
                       const float* logits, const float* weights, MatrixA dz, const float* weight_offsets, MatrixC du,
                       MatrixC d_tokens, float* d_logit_sums, float* d_log_multiples, float* d_logits) {
  const std::size_t stride = shape.weight_stride();
  with_rule(rule.row.kind, [&](auto chosen) HWY_ATTR {
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
        const float by_multiple = decltype(chosen)::gradient(rule.row, row, g, rule.learned);
        if (rule.learned) d_log_multiples[i] += by_multiple;
        if (d_logit_sums != nullptr) {
          d_logit_sums[head] = 0;
          for (std::size_t key = 0; key < shape.keys; ++key) d_logit_sums[head] += g[key];
        }
      }
      product<false>({shape.heads, shape.width, shape.keys}, {d_logits, stride}, MatrixB::plain(own.data, own.stride),
                     Store{du.data + first * du.stride, du.stride});
      float* to = d_tokens.data + sample * shape.keys * d_tokens.stride;
      product<true>({shape.keys, shape.width, shape.heads}, {weights + first * stride, stride},
                    MatrixB::plain(dz_own.data, dz_own.stride), Store{to, d_tokens.stride});
      product<true>({shape.keys, shape.width, shape.heads}, {d_logits, stride},
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
