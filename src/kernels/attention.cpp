#include "kernels/attention.h"

#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/attention.cpp"
#include "hwy/foreach_target.h"
// After foreach_target.
#include "kernels/attention_units-inl.h"
#include "kernels/transpose-inl.h"

HWY_BEFORE_NAMESPACE();
namespace eureka::HWY_NAMESPACE {
namespace {

// A name of its own, by which a profile tells attention from the other products.
struct StoreLogits : Store {};

HWY_INLINE MatrixB plain(MatrixA x) { return MatrixB::plain(x.data, x.stride); }

HWY_INLINE MatrixA part(MatrixA x, std::size_t row, std::size_t column) {
  return {x.data + row * x.stride + column, x.stride};
}

// c = x y^T for the rows of a piece, with one row of x for every query and one of y for every key: through a transposed
// copy of y, which stays for the other pieces of a unit, or row by row where there are few queries.
HWY_INLINE void query_key_products(const Units& units, const Piece& piece, MatrixA x, MatrixA y, float* c,
                                   float* transposed) {
  const AttentionShape& shape = units.shape;
  const std::size_t stride = shape.weight_stride(), transposed_stride = row_stride(shape.keys);
  for (std::size_t unit = piece.first; unit < piece.last; ++unit) {
    const MatrixA own = units.part(x, shape.queries, unit, piece.first_row), other = units.part(y, shape.keys, unit);
    float* to = c + units.inside(piece, unit);
    if (shape.queries < 3) {
      row_products(piece.rows, piece.keys, shape.head_width, own, other, to, stride);
      continue;
    }
    if (piece.first_row == 0)
      transpose(other, shape.keys, shape.head_width, transposed, transposed_stride, kColumnUnit);
    product<Left::rows>({piece.rows, piece.keys, shape.head_width}, own, MatrixB::plain(transposed, transposed_stride),
                        StoreLogits{{to, stride}});
  }
}

// Adds x^T y of a piece to the gradients of its keys, as one sum over all pieces of a unit: x has a row for every query
// and a column for every key, y a row for every query.
HWY_INLINE void add_to_keys(const Units& units, const Piece& piece, std::size_t unit, const float* x, MatrixA y,
                            MatrixC to) {
  const AttentionShape& shape = units.shape;
  const std::size_t width = shape.head_width, stride = shape.weight_stride(), begun = units.begun_keys(piece);
  const MatrixB right = plain(units.part(y, shape.queries, unit, piece.first_row));
  if (begun > 0)
    product<Left::transposed>({begun, width, piece.rows}, {x, stride}, right,
                              ContinueExactly{units.store(to, shape.keys, unit)});
  if (begun < piece.keys)
    product<Left::transposed>({piece.keys - begun, width, piece.rows}, {x + begun, stride}, right,
                              units.store(to, shape.keys, unit, begun));
}

// Scratch memory: two transposed matrices, then what belongs to a piece.
struct AttentionScratch {
  AttentionScratch(const AttentionShape& shape, float* memory)
      : keys(memory),
        values(keys + shape.transposed_floats()),
        d_logits(values + shape.transposed_floats()),
        weights(d_logits + shape.piece_floats()),
        logits(weights + shape.piece_floats()) {}
  float *keys, *values, *d_logits, *weights, *logits;
};

// The logits and weights of a piece, to the same bits in the forward and in the backward pass.
template <class Kernel, class Options>
HWY_INLINE void logits_and_weights(const Options& options, const Units& units, const Piece& piece, MatrixA q, MatrixA k,
                                   float* logits, float* weights, float* transposed) {
  query_key_products(units, piece, q, k, logits, transposed);
  weights_of<Kernel>(options, units, piece, logits, weights);
  fix_weights(units, piece, weights);
}

void forward(const AttentionShape& shape, const HeadRules& rule, MatrixA q, MatrixA k, MatrixA v, AttentionKept kept,
             MatrixC out, float* memory) {
  const Units units(shape, rule);
  const AttentionScratch scratch(shape, memory);
  with_rule(rule.row, [&](auto kernel, const auto& options) HWY_ATTR {
    units.for_pieces([&](const Piece& piece) HWY_ATTR {
      float* weights = kept.exists() ? kept.weights + units.at(piece) : scratch.weights;
      float* logits = kept.exists() ? kept.logits + units.at(piece) : weights;
      logits_and_weights<decltype(kernel)>(options, units, piece, q, k, logits, weights, scratch.keys);
      for (std::size_t unit = piece.first; unit < piece.last; ++unit)
        product<Left::rows>(
            {piece.rows, shape.head_width, piece.keys}, {weights + units.inside(piece, unit), shape.weight_stride()},
            plain(units.part(v, shape.keys, unit)), units.store(out, shape.queries, unit, piece.first_row));
    });
  });
}

void backward(const AttentionShape& shape, const HeadRules& rule, MatrixA q, MatrixA k, MatrixA v, AttentionKept kept,
              MatrixA d_out, MatrixC dq, MatrixC dk, MatrixC dv, float* d_log_multiples, float* memory,
              AttentionTaps taps) {
  const std::size_t stride = shape.weight_stride();
  const Units units(shape, rule);
  const AttentionScratch scratch(shape, memory);
  const auto tap = [&](float* to, const Piece& piece) {
    for (std::size_t row = 0; to != nullptr && row < piece.all_rows(); ++row) {
      float* own = to + units.at(piece) + row * stride;
      std::memcpy(own, scratch.d_logits + row * stride, piece.keys * sizeof(float));
      std::memset(own + piece.keys, 0, (stride - piece.keys) * sizeof(float));
    }
  };
  with_rule(rule.row, [&](auto kernel, const auto& options) HWY_ATTR {
    using Options = std::remove_cvref_t<decltype(options)>;
    float by_multiple = 0;
    units.for_pieces([&](const Piece& piece) HWY_ATTR {
      float* weights = kept.exists() ? kept.weights + units.at(piece) : scratch.weights;
      float* logits = kept.exists() ? kept.logits + units.at(piece) : weights;
      if (!kept.exists()) {
        if (rule.learned || Options::kGradientNeedsLogits) logits = scratch.logits;
        logits_and_weights<decltype(kernel)>(options, units, piece, q, k, logits, weights, scratch.keys);
      }
      float* d_logits = scratch.d_logits;
      query_key_products(units, piece, d_out, v, d_logits, scratch.values);
      for (std::size_t unit = piece.first; unit < piece.last; ++unit)
        add_to_keys(units, piece, unit, weights + units.inside(piece, unit), d_out, dv);
      tap(taps.d_weights, piece);
      gradient_of<decltype(kernel)>(options, units, piece, logits, weights, d_logits, by_multiple, d_log_multiples);
      clear_fixed(units, piece, d_logits);
      tap(taps.d_logits, piece);
      for (std::size_t unit = piece.first; unit < piece.last; ++unit) {
        const float* g = d_logits + units.inside(piece, unit);
        product<Left::rows>({piece.rows, shape.head_width, piece.keys}, {g, stride},
                            plain(units.part(k, shape.keys, unit)),
                            units.store(dq, shape.queries, unit, piece.first_row));
        add_to_keys(units, piece, unit, g, q, dk);
      }
    });
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
        const AttentionRow row =
            row_of(rule, sample, head - first, 0, shape.keys, logits + head * stride, weights + head * stride);
        decltype(kernel)::weights(options, row);
        if (rule.fixed.has(head - first)) fix_row(rule.fixed, sample, row);
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

void attention(const AttentionShape& shape, const HeadRules& rule, MatrixA q, MatrixA k, MatrixA v, AttentionKept kept,
               MatrixC out, float* scratch) {
  HWY_DYNAMIC_DISPATCH(forward)(shape, rule, q, k, v, kept, out, scratch);
}

void attention_backward(const AttentionShape& shape, const HeadRules& rule, MatrixA q, MatrixA k, MatrixA v,
                        AttentionKept kept, MatrixA d_out, MatrixC dq, MatrixC dk, MatrixC dv, float* d_log_multiples,
                        float* scratch, AttentionTaps taps) {
  HWY_DYNAMIC_DISPATCH(backward)
  (shape, rule, q, k, v, kept, d_out, dq, dk, dv, d_log_multiples, scratch, taps);
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
