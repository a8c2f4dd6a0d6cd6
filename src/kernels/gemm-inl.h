// Matrix products on register tiles of 6 rows by 2 vectors; gemm_finish-inl.h says what becomes of a finished one.
// Included once per instruction set.
#if defined(EUREKA_KERNELS_GEMM_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef EUREKA_KERNELS_GEMM_INL_H_
#undef EUREKA_KERNELS_GEMM_INL_H_
#else
#define EUREKA_KERNELS_GEMM_INL_H_
#endif

#include <cstring>
#include <type_traits>

#include "kernels/gemm.h"
#include "kernels/gemm_finish-inl.h"
#include "kernels/tile_avx2-inl.h"
#include "kernels/vector8-inl.h"

HWY_BEFORE_NAMESPACE();
namespace eureka::HWY_NAMESPACE {

// How the left factor is given: by rows, or transposed; packed: transposed, and copied tile by tile before use, which
// pays where so many columns of B meet it that its walk down the columns costs more than the copy.
enum class Left { rows, transposed, packed };
inline constexpr std::size_t kBlockRows = 16 * kTileRows, kPackedBlockRows = 44 * kTileRows;  // of A at once
inline constexpr std::size_t kPackedDepth = 256, kColumnsWorthPacking = 256;

// The sums of a tile. Members instead of arrays: compilers keep those in registers without being asked twice.
template <std::size_t kRows, std::size_t kVectors>
struct TileSums {
  struct Row {
    FloatVec v0, v1;
    HWY_INLINE void add(const float* x, FloatVec y0, FloatVec y1) {
      const FloatVec all = hn::Set(FloatTag(), *x);
      v0 = hn::MulAdd(all, y0, v0);
      if (kVectors > 1) v1 = hn::MulAdd(all, y1, v1);
    }
  };
  Row r0, r1, r2, r3, r4, r5;

  // Adds x y^T: x has a number every `step` floats, y two vectors, the second `to_second` floats behind the first.
  HWY_INLINE void add(const float* HWY_RESTRICT x, std::size_t step, const float* HWY_RESTRICT y,
                      std::size_t to_second) {
    const FloatTag d;
    const FloatVec y0 = hn::LoadU(d, y), y1 = kVectors > 1 ? hn::LoadU(d, y + to_second) : y0;
    r0.add(x, y0, y1);
    if (kRows > 1) r1.add(x + step, y0, y1);
    if (kRows > 2) r2.add(x + 2 * step, y0, y1);
    if (kRows > 3) r3.add(x + 3 * step, y0, y1);
    if (kRows > 4) r4.add(x + 4 * step, y0, y1);
    if (kRows > 5) r5.add(x + 5 * step, y0, y1);
  }

  template <class Finish>
  HWY_INLINE void give_to(const Finish& finish, std::size_t row, std::size_t column) const {
    const FloatVec sum0[] = {r0.v0, r1.v0, r2.v0, r3.v0, r4.v0, r5.v0};
    const FloatVec sum1[] = {r0.v1, r1.v1, r2.v1, r3.v1, r4.v1, r5.v1};
    if constexpr (requires { finish.template tile<kRows, kVectors>(sum0, sum1, row, column); }) {
      finish.template tile<kRows, kVectors>(sum0, sum1, row, column);
    } else {
      for (std::size_t i = 0; i < kRows; ++i) {
        finish(sum0[i], row + i, column);
        if (kVectors > 1) finish(sum1[i], row + i, column + kLanes);
      }
    }
  }
};

// Two vectors of columns of B.
struct ColumnPair {
  const float* data;
  std::size_t stride;     // from row to row
  std::size_t to_second;  // from the first vector to the second
};

// One tile: rows of A times two vectors of columns of B. Unless it is given by rows, A is depth x rows.
// Where another thread shares the core, instructions are as scarce as multipliers: a function of its own, so that
// nothing else competes for its registers, and several steps per turn.
template <std::size_t kRows, std::size_t kVectors, Left kLeft, class Finish>
HWY_NOINLINE void tile(const float* a, std::size_t lda, const ColumnPair& b, std::size_t depth, const Finish& given,
                       std::size_t row, std::size_t column) {
  const Finish finish = given;  // A copy: stores of floats cannot change it.
  for (std::size_t i = 0; i < kRows; ++i) finish.soon(row + i, column);
  const auto from = [&](std::size_t i) HWY_ATTR {
    typename TileSums<kRows, kVectors>::Row sum{hn::Zero(FloatTag()), hn::Zero(FloatTag())};
    if constexpr (requires { finish.start(row, column); }) {
      if (i < kRows) sum.v0 = finish.start(row + i, column);
      if (i < kRows && kVectors > 1) sum.v1 = finish.start(row + i, column + kLanes);
    }
    return sum;
  };
  TileSums<kRows, kVectors> sums{from(0), from(1), from(2), from(3), from(4), from(5)};
  constexpr bool kByRows = kLeft == Left::rows;
  const std::size_t along_depth = kByRows ? 1 : lda, along_rows = kByRows ? lda : 1;
  const std::size_t to_second = 2 * kLanes <= kPanel ? kLanes : b.to_second, ldb = b.stride;
  const float* y = b.data;
#if EUREKA_STEPS_WRITTEN_OUT
  if constexpr (kRows >= kTileRows - 1 && kVectors == 2) {
    for (; depth >= 4; depth -= 4, a += 4 * along_depth, y += 4 * ldb) {
      if constexpr (kByRows)
        four_steps_along_rows<kRows>(sums, a, lda, y, ldb);
      else
        four_steps_down_columns<kRows>(sums, a, lda, y, ldb);
    }
  }
#else
  for (; depth >= 2; depth -= 2, a += 2 * along_depth, y += 2 * ldb) {
    sums.add(a, along_rows, y, to_second);
    sums.add(a + along_depth, along_rows, y + ldb, to_second);
  }
#endif
  for (; depth > 0; --depth, a += along_depth, y += ldb) sums.add(a, along_rows, y, to_second);
  // Where the results go is worked out anew: known since the prefetches, it would take registers the loop needs.
  asm("" : "+r"(row), "+r"(column));
  sums.give_to(finish, row, column);
}

// The next columns of B, brought near row by row, so many with every tile of the columns before them.
struct NextColumns {
  const float* row;
  std::size_t stride;
  std::size_t rows_left;
  std::size_t rows_per_tile;
  HWY_INLINE void bring_some() {
    const std::size_t count = HWY_MIN(rows_left, rows_per_tile);
    for (std::size_t i = 0; i < count; ++i, row += stride) __builtin_prefetch(row, 0, 2);
    rows_left -= count;
  }
};

// action(first row, number of rows as a type) for every tile of rows. Tiles of six and of five rows, where that comes
// out: a last tile of one or two rows takes as long as one of four.
template <class Action>
HWY_INLINE void for_tiles(std::size_t first, std::size_t last, const Action& action) {
  std::size_t row = first;
  const std::size_t rows = last - first, tiles = (rows + kTileRows - 1) / kTileRows;
  const std::size_t low_tiles = rows + tiles >= kTileRows * tiles ? kTileRows * tiles - rows : 0;
  const std::size_t end = last - low_tiles * (kTileRows - 1);
  for (; row + kTileRows <= end; row += kTileRows) action(row, Count<kTileRows>());
  for (; row + kTileRows - 1 <= last; row += kTileRows - 1) action(row, Count<kTileRows - 1>());
  switch (last - row) {
    case 4:
      return action(row, Count<4>());
    case 3:
      return action(row, Count<3>());
    case 2:
      return action(row, Count<2>());
    case 1:
      return action(row, Count<1>());
    default:
      return;
  }
}

// Tile after tile of the transposed A, each as depth x its rows. A comes from the third-level cache: a few lines of
// each of its rows at a time, asked for eight rows ahead.
HWY_INLINE void pack_tiles(std::size_t first, std::size_t last, std::size_t depth, MatrixA a, float* packed) {
  constexpr std::size_t kTilesAtOnce = 8, kAhead = 8;
  for (std::size_t begin = first; begin < last;) {
    const std::size_t tiles_left = (last - begin + kTileRows - 1) / kTileRows;
    // Tiles of five rows come last, at most five of them.
    const std::size_t end = tiles_left < 2 * kTilesAtOnce ? last : begin + kTilesAtOnce * kTileRows;
    for (std::size_t k = 0; k < depth; ++k) {
      for (std::size_t row = begin; row < end; row += kPanel) soon_read(a.data + (k + kAhead) * a.stride + row);
      for_tiles(begin, end, [&](std::size_t row, auto count) HWY_ATTR {
        constexpr std::size_t kRows = decltype(count)::value;
        std::memcpy(packed + (row - first) * depth + k * kRows, a.data + k * a.stride + row, kRows * sizeof(float));
      });
    }
    begin = end;
  }
}

template <std::size_t kVectors, Left kLeft, class Finish>
HWY_INLINE void tile_column(std::size_t first, std::size_t last, std::size_t depth, MatrixA a, const ColumnPair& b,
                            const Finish& finish, std::size_t column, NextColumns next) {
  for_tiles(first, last, [&](std::size_t row, auto count) HWY_ATTR {
    constexpr std::size_t kRows = decltype(count)::value;
    next.bring_some();
    if (kLeft == Left::packed)
      tile<kRows, kVectors, kLeft>(a.data + (row - first) * depth, kRows, b, depth, finish, row, column);
    else
      tile<kRows, kVectors, kLeft>(a.data + row * (kLeft == Left::rows ? a.stride : 1), a.stride, b, depth, finish, row,
                                   column);
  });
}

// Columns of a product are rounded up to whole vectors, and to eight, so that rows read in eights hold nothing old.
inline constexpr std::size_t kColumnUnit = HWY_MAX(kLanes, kLanes8);

// finish(A B) over all tiles; A is rows x depth, or depth x rows unless given by rows; B is depth x columns. B, and
// what `finish` writes to, have room for whole units of columns.
template <Left kLeft, class Finish>
HWY_NOINLINE void product(ProductSize size, MatrixA a, MatrixB b, const Finish& finish) {
  // So many rows of A stay in the second-level cache while all columns of B pass; all blocks are about as high.
  constexpr std::size_t kFloatsAtOnce = std::size_t{1} << 16;
  const std::size_t limit = kLeft == Left::packed ? kPackedBlockRows
                            : kLeft == Left::rows ? HWY_MAX(kBlockRows, kFloatsAtOnce / size.depth)
                                                  : kBlockRows;
  const std::size_t columns = round_up(size.columns, kColumnUnit);
  const std::size_t blocks = (size.rows + limit - 1) / limit;
  const std::size_t rows_at_once = round_up((size.rows + blocks - 1) / blocks, kTileRows);
  // A small B is near already, and a panel too deep for the first-level cache is fetched anew for every tile.
  const bool far = size.depth * size.columns > kFloatsAtOnce / 2 && size.depth <= 384;
  const std::size_t rows_of_b_per_tile = far ? size.depth * kTileRows / rows_at_once + 1 : 0;
  HWY_DASSERT(kLeft != Left::packed || size.depth <= kPackedDepth);
  alignas(64) float packed[kLeft == Left::packed ? kPackedBlockRows * kPackedDepth : 1];
  for (std::size_t first = 0; first < size.rows; first += rows_at_once) {
    const std::size_t last = HWY_MIN(size.rows, first + rows_at_once);
    if (kLeft == Left::packed) pack_tiles(first, last, size.depth, a, packed);
    const MatrixA left = kLeft == Left::packed ? MatrixA{packed, 0} : a;
    for (std::size_t column = 0; column < columns; column += 2 * kLanes) {
      const std::size_t behind = column + 2 * kLanes;
      const NextColumns next{b.column(behind), b.stride, behind < columns ? size.depth : 0, rows_of_b_per_tile};
      const bool two = column + kLanes < columns;
      const ColumnPair pair{b.column(column), b.stride,
                            two ? static_cast<std::size_t>(b.column(column + kLanes) - b.column(column)) : 0};
      if (two)
        tile_column<2, kLeft>(first, last, size.depth, left, pair, finish, column, next);
      else
        tile_column<1, kLeft>(first, last, size.depth, left, pair, finish, column, next);
    }
  }
}

// c[i][j] = a_i . b_j over `depth` columns. For few rows of A, where packing B would cost more than it saves. Reads up
// to whole vectors behind the end of a row.
HWY_INLINE void row_products(std::size_t a_rows, std::size_t b_rows, std::size_t depth, MatrixA a, MatrixA b, float* c,
                             std::size_t ldc) {
  const Tag8 d;
  const std::size_t whole = depth / kLanes8 * kLanes8;
  const Mask8 rest = v8::FirstN(d, depth - whole);
  for (std::size_t j = 0; j < b_rows; ++j) {
    const float* y = b.data + j * b.stride;
    const Vec8 y_rest = whole < depth ? v8::IfThenElseZero(rest, v8::LoadU(d, y + whole)) : v8::Zero(d);
    std::size_t i = 0;
    for (; i + 4 <= a_rows; i += 4) {
      const float* x0 = a.data + i * a.stride;
      const float* x1 = x0 + a.stride;
      const float* x2 = x1 + a.stride;
      const float* x3 = x2 + a.stride;
      Vec8 s0 = v8::Zero(d), s1 = s0, s2 = s0, s3 = s0;
      const auto add = [&](Vec8 yk, std::size_t k) HWY_ATTR {
        s0 = v8::MulAdd(v8::LoadU(d, x0 + k), yk, s0);
        s1 = v8::MulAdd(v8::LoadU(d, x1 + k), yk, s1);
        s2 = v8::MulAdd(v8::LoadU(d, x2 + k), yk, s2);
        s3 = v8::MulAdd(v8::LoadU(d, x3 + k), yk, s3);
      };
      for (std::size_t k = 0; k < whole; k += kLanes8) add(v8::LoadU(d, y + k), k);
      if (whole < depth) add(y_rest, whole);
      c[i * ldc + j] = sum_of(s0);
      c[(i + 1) * ldc + j] = sum_of(s1);
      c[(i + 2) * ldc + j] = sum_of(s2);
      c[(i + 3) * ldc + j] = sum_of(s3);
    }
    for (; i < a_rows; ++i) {
      const float* x = a.data + i * a.stride;
      Vec8 s = v8::Zero(d);
      for (std::size_t k = 0; k < whole; k += kLanes8) s = v8::MulAdd(v8::LoadU(d, x + k), v8::LoadU(d, y + k), s);
      if (whole < depth) s = v8::MulAdd(v8::LoadU(d, x + whole), y_rest, s);
      c[i * ldc + j] = sum_of(s);
    }
  }
}

}  // namespace eureka::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
