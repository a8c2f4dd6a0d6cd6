// The rows of attention as they are worked on: piece by piece, each small enough for the cache, whatever the number of
// tokens. Included once per instruction set.
#if defined(EUREKA_KERNELS_ATTENTION_UNITS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef EUREKA_KERNELS_ATTENTION_UNITS_INL_H_
#undef EUREKA_KERNELS_ATTENTION_UNITS_INL_H_
#else
#define EUREKA_KERNELS_ATTENTION_UNITS_INL_H_
#endif

#include <cstring>

#include "kernels/attention.h"
#include "kernels/attention_rules-inl.h"
#include "kernels/gemm-inl.h"

HWY_BEFORE_NAMESPACE();
namespace eureka::HWY_NAMESPACE {

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

// The weights of a row of a fixed head: the same on every key that it goes to.
inline void fix_row(const FixedWeights& fixed, std::size_t fixed_row, const AttentionRow& row) {
  const std::uint8_t* wanted = fixed.wanted == nullptr ? nullptr : fixed.wanted + fixed_row * fixed.wanted_keys;
  const auto sees = [&](std::size_t key) { return row.visible == nullptr || row.visible[key] != 0; };
  const auto wants = [&](std::size_t key) {
    return wanted != nullptr && key >= fixed.first_wanted && wanted[key - fixed.first_wanted] != 0 && sees(key);
  };
  std::size_t seen = 0, chosen = 0;
  for (std::size_t key = 0; key < row.keys; ++key) {
    seen += sees(key) ? 1 : 0;
    chosen += wants(key) ? 1 : 0;
  }
  const float share = seen == 0 ? 0.0F : 1.0F / static_cast<float>(chosen > 0 ? chosen : seen);
  for (std::size_t key = 0; key < row.keys; ++key)
    row.weights[key] = (chosen > 0 ? wants(key) : sees(key)) ? share : 0.0F;
}

// What is worked on at once: some rows of one unit, or all rows of several.
struct Piece {
  std::size_t first, last;      // units
  std::size_t first_row, rows;  // of each
  std::size_t keys;             // up to the last that any of the rows sees

  std::size_t all_rows() const { return (last - first) * rows; }
};

// A unit is one head of one sample. Where every query sees every key, rows of several units are worked on side by side.
struct Units {
  Units(const AttentionShape& s, const HeadRules& r) : shape(s), rule(r), count(s.samples * s.heads) {
    side_by_side = !r.mask.causal && r.mask.visible == nullptr;
    bool same_multiples = true;
    for (std::size_t head = 1; head < s.heads; ++head) same_multiples &= r.multiples[head] == r.multiples[0];
    at_once = side_by_side && same_multiples ? s.units_at_once() : 1;
  }

  std::size_t sample(std::size_t unit) const { return unit / shape.heads; }
  std::size_t head(std::size_t unit) const { return unit % shape.heads; }

  // action(piece); the pieces of a unit follow each other.
  template <class Action>
  HWY_INLINE void for_pieces(const Action& action) const {
    // The shorter the pieces, the more hidden keys they leave out; below so many rows products lose more than that.
    constexpr std::size_t kCausalRows = 32;
    const std::size_t most = rule.mask.causal ? kCausalRows : shape.queries;
    const std::size_t rows_at_once = HWY_MIN(shape.rows_at_once(), most);
    for (std::size_t first = 0; first < count; first += at_once)
      for (std::size_t row = 0; row < shape.queries; row += rows_at_once) {
        const std::size_t rows = HWY_MIN(rows_at_once, shape.queries - row);
        action(Piece{first, HWY_MIN(count, first + at_once), row, rows, rule.mask.causal ? row + rows : shape.keys});
      }
  }

  // Where a piece begins in the memory of all rows, which lie behind each other, unit after unit.
  std::size_t at(const Piece& piece) const {
    return (piece.first * shape.queries + piece.first_row) * shape.weight_stride();
  }
  // Where one of its units begins in memory of the piece alone.
  std::size_t inside(const Piece& piece, std::size_t unit) const {
    return (unit - piece.first) * piece.rows * shape.weight_stride();
  }

  // A unit's own part, from row `first_row` on, of a matrix with `per_sample` rows per sample.
  std::size_t offset(std::size_t stride, std::size_t per_sample, std::size_t unit, std::size_t first_row) const {
    return (sample(unit) * per_sample + first_row) * stride + head(unit) * shape.head_width;
  }
  MatrixA part(MatrixA x, std::size_t per_sample, std::size_t unit, std::size_t first_row = 0) const {
    return {x.data + offset(x.stride, per_sample, unit, first_row), x.stride};
  }
  StoreExactly store(MatrixC x, std::size_t per_sample, std::size_t unit, std::size_t first_row = 0) const {
    return {x.data + offset(x.stride, per_sample, unit, first_row), x.stride, shape.head_width};
  }

  // The keys of a unit whose gradients have been begun by the pieces before this one.
  std::size_t begun_keys(const Piece& piece) const {
    if (rule.mask.causal) return piece.first_row;
    return piece.first_row > 0 ? shape.keys : 0;
  }

  RowBlock block(const Piece& piece, const float* logits, float* weights) const {
    return {
        logits, weights, shape.weight_stride(), shape.keys, rule.multiples[head(piece.first)], rule.inverse_root_width};
  }
  // action(unit, row of the piece, row) for each of them.
  template <class Action>
  HWY_INLINE void for_rows(const Piece& piece, const float* logits, float* weights, const Action& action) const {
    const std::size_t stride = shape.weight_stride();
    std::size_t index = 0;
    for (std::size_t unit = piece.first; unit < piece.last; ++unit)
      for (std::size_t query = piece.first_row; query < piece.first_row + piece.rows; ++query, ++index)
        action(unit, index,
               row_of(rule, sample(unit), head(unit), query, shape.keys, logits + index * stride,
                      weights + index * stride));
  }

  const AttentionShape& shape;
  const HeadRules& rule;
  std::size_t count, at_once;
  bool side_by_side;
};

// The weights of a piece from its logits; both are memory of the piece.
template <class Kernel, class Options>
HWY_INLINE void weights_of(const Options& options, const Units& units, const Piece& piece, const float* logits,
                           float* weights) {
  if constexpr (has_block<Kernel>) {
    if (units.side_by_side) {
      const RowBlock block = units.block(piece, logits, weights);
      for_blocks_of_rows(piece.all_rows(), [&](std::size_t row, auto count) HWY_ATTR {
        Kernel::Block::template weights<decltype(count)::value>(options, block.from(row));
      });
      return;
    }
  }
  units.for_rows(piece, logits, weights, [&](std::size_t, std::size_t, const AttentionRow& row) HWY_ATTR {
    Kernel::weights(options, row);
    clear_behind(row, piece.keys, row.weights);
  });
}

// Heads that are fixed get the weights they are given.
HWY_INLINE void fix_weights(const Units& units, const Piece& piece, float* weights) {
  const FixedWeights& fixed = units.rule.fixed;
  if (fixed.heads == nullptr) return;
  units.for_rows(piece, weights, weights, [&](std::size_t unit, std::size_t index, const AttentionRow& row) HWY_ATTR {
    const std::size_t query = piece.first_row + index % piece.rows, sample = units.sample(unit);
    if (fixed.has(units.head(unit)))
      fix_row(fixed, fixed.per_query ? sample * units.shape.queries + query : sample, row);
  });
}

// And no gradient by their logits.
HWY_INLINE void clear_fixed(const Units& units, const Piece& piece, float* g) {
  if (units.rule.fixed.heads == nullptr) return;
  const std::size_t floats = piece.rows * units.shape.weight_stride();
  for (std::size_t unit = piece.first; unit < piece.last; ++unit)
    if (units.rule.fixed.has(units.head(unit))) std::memset(g + units.inside(piece, unit), 0, floats * sizeof(float));
}

// Turns gradients by weights into gradients by logits. `by_multiple` is the sum over the rows of a unit so far.
template <class Kernel, class Options>
HWY_INLINE void gradient_of(const Options& options, const Units& units, const Piece& piece, const float* logits,
                            float* weights, float* g, float& by_multiple, float* d_log_multiples) {
  const HeadRules& rule = units.rule;
  const std::size_t stride = units.shape.weight_stride();
  if constexpr (has_block<Kernel>) {
    // NormSoftmax of two keys has a form of its own, without cancellation.
    if (units.side_by_side && !rule.learned && units.shape.keys > 2) {
      const RowBlock block = units.block(piece, logits, weights);
      for_blocks_of_rows(piece.all_rows(), [&](std::size_t row, auto count) HWY_ATTR {
        Kernel::Block::template gradient<decltype(count)::value>(options, block.from(row), g + row * stride);
      });
      return;
    }
  }
  units.for_rows(piece, logits, weights, [&](std::size_t unit, std::size_t index, const AttentionRow& row) HWY_ATTR {
    const std::size_t query = piece.first_row + index % piece.rows;
    if (query == 0) by_multiple = 0;
    by_multiple += Kernel::gradient(options, row, g + index * stride, rule.learned);
    clear_behind(row, piece.keys, g + index * stride);
    if (query + 1 < units.shape.queries || !rule.learned || rule.fixed.has(units.head(unit))) return;
    d_log_multiples[units.head(unit)] += by_multiple;
  });
}

}  // namespace eureka::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
