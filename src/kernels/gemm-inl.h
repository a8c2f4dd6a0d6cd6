// Matrix products on register tiles of 6 rows by 2 vectors. What happens to a finished tile is a small functor,
// inlined: bias, residual, GELU cost no pass over memory of their own. Included once per instruction set.
#if defined(EUREKA_KERNELS_GEMM_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef EUREKA_KERNELS_GEMM_INL_H_
#undef EUREKA_KERNELS_GEMM_INL_H_
#else
#define EUREKA_KERNELS_GEMM_INL_H_
#endif

#include <type_traits>

#include "kernels/gemm.h"
#include "kernels/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace eureka::HWY_NAMESPACE {

inline constexpr std::size_t kTileRows = 6;

struct Store {
  float* c;
  std::size_t ldc;
  HWY_INLINE void operator()(FloatVec x, std::size_t row, std::size_t column) const {
    hn::StoreU(x, FloatTag(), c + row * ldc + column);
  }
};

// Stores exactly `columns` columns: what stands behind them belongs to somebody else.
struct StoreExactly {
  float* c;
  std::size_t ldc;
  std::size_t columns;
  HWY_INLINE void operator()(FloatVec x, std::size_t row, std::size_t column) const {
    const FloatTag d;
    float* to = c + row * ldc + column;
    if (column + kLanes <= columns)
      hn::StoreU(x, d, to);
    else
      hn::BlendedStore(x, hn::FirstN(d, columns - column), d, to);
  }
};

struct Accumulate {
  float* c;
  std::size_t ldc;
  // Old values are on their way while the products are summed.
  HWY_INLINE void soon(std::size_t row, std::size_t column) const { __builtin_prefetch(c + row * ldc + column, 1); }
  HWY_INLINE void operator()(FloatVec x, std::size_t row, std::size_t column) const {
    float* to = c + row * ldc + column;
    hn::StoreU(hn::Add(x, hn::LoadU(FloatTag(), to)), FloatTag(), to);
  }
};

struct AddBias {
  float* c;
  std::size_t ldc;
  const float* bias;
  HWY_INLINE void operator()(FloatVec x, std::size_t row, std::size_t column) const {
    hn::StoreU(hn::Add(x, hn::LoadU(FloatTag(), bias + column)), FloatTag(), c + row * ldc + column);
  }
};

struct AddBiasAndResidual {
  float* c;
  std::size_t ldc;
  const float* bias;
  const float* residual;
  std::size_t ld_residual;
  HWY_INLINE void operator()(FloatVec x, std::size_t row, std::size_t column) const {
    const FloatTag d;
    const FloatVec y = hn::Add(x, hn::LoadU(d, bias + column));
    hn::StoreU(hn::Add(y, hn::LoadU(d, residual + row * ld_residual + column)), d, c + row * ldc + column);
  }
};

struct AddNoisyBranch {
  AddBiasAndResidual to;
  const float* noise;
  std::size_t ld_noise;
  HWY_INLINE void operator()(FloatVec x, std::size_t row, std::size_t column) const {
    const FloatTag d;
    const FloatVec y = hn::Add(x, hn::LoadU(d, to.bias + column));
    const FloatVec n = hn::LoadU(d, noise + row * ld_noise + column);
    hn::StoreU(hn::MulAdd(y, n, hn::LoadU(d, to.residual + row * to.ld_residual + column)), d,
               to.c + row * to.ldc + column);
  }
};

// GELU, and its derivative for the way back: of a whole tile at once, so that its vectors are worked on side by side.
struct BiasGelu {
  float* y;
  float* slope;
  std::size_t ldc;
  const float* bias;
  template <std::size_t kRows, std::size_t kVectors>
  HWY_INLINE void tile(const FloatVec (&sum0)[kRows], const FloatVec (&sum1)[kRows], std::size_t row,
                       std::size_t column) const {
    const FloatTag d;
    constexpr std::size_t kCount = kRows * kVectors, kAtOnce = 4;
    alignas(64) float x[kCount * kLanes];
    for (std::size_t i = 0; i < kRows; ++i) {
      hn::Store(hn::Add(sum0[i], hn::LoadU(d, bias + column)), d, x + i * kVectors * kLanes);
      if (kVectors > 1)
        hn::Store(hn::Add(sum1[i], hn::LoadU(d, bias + column + kLanes)), d, x + (i * kVectors + 1) * kLanes);
    }
    const auto gelu = [&](std::size_t first, auto count) HWY_ATTR {
      constexpr std::size_t kNow = decltype(count)::value;
      FloatVec now[kNow], below[kNow], density[kNow];
      for (std::size_t i = 0; i < kNow; ++i) now[i] = hn::Load(d, x + (first + i) * kLanes);
      normal_distribution(now, below, density);
      for (std::size_t i = 0; i < kNow; ++i) {
        const std::size_t at = (row + (first + i) / kVectors) * ldc + column + (first + i) % kVectors * kLanes;
        hn::StoreU(hn::Mul(now[i], below[i]), d, y + at);
        hn::StoreU(hn::MulAdd(now[i], density[i], below[i]), d, slope + at);
      }
    };
    std::size_t first = 0;
    for (; first + kAtOnce <= kCount; first += kAtOnce) gelu(first, std::integral_constant<std::size_t, kAtOnce>());
    for (; first < kCount; ++first) gelu(first, std::integral_constant<std::size_t, 1>());
  }
};

struct TimesSlope {
  float* c;
  const float* slope;
  std::size_t ldc;
  HWY_INLINE void operator()(FloatVec x, std::size_t row, std::size_t column) const {
    const FloatTag d;
    hn::StoreU(hn::Mul(x, hn::LoadU(d, slope + row * ldc + column)), d, c + row * ldc + column);
  }
};

// One tile: rows of A times two vectors of columns of B. With kTransposed, A is given as depth x rows.
template <std::size_t kRows, std::size_t kVectors, bool kTransposed, class Finish>
HWY_INLINE void tile(const float* HWY_RESTRICT a, std::size_t lda, const float* HWY_RESTRICT b0,
                     const float* HWY_RESTRICT b1, std::size_t ldb, std::size_t depth, const Finish& finish,
                     std::size_t row, std::size_t column) {
  const FloatTag d;
  if constexpr (requires { finish.soon(row, column); })
    for (std::size_t i = 0; i < kRows; ++i) finish.soon(row + i, column);
  FloatVec sum0[kRows], sum1[kRows];
  for (std::size_t i = 0; i < kRows; ++i) sum0[i] = sum1[i] = hn::Zero(d);
  for (std::size_t k = 0; k < depth; ++k) {
    const FloatVec x0 = hn::LoadU(d, b0 + k * ldb);
    const FloatVec x1 = kVectors > 1 ? hn::LoadU(d, b1 + k * ldb) : x0;
    for (std::size_t i = 0; i < kRows; ++i) {
      const FloatVec y = hn::Set(d, kTransposed ? a[k * lda + i] : a[i * lda + k]);
      sum0[i] = hn::MulAdd(y, x0, sum0[i]);
      if (kVectors > 1) sum1[i] = hn::MulAdd(y, x1, sum1[i]);
    }
  }
  if constexpr (requires { finish.template tile<kRows, kVectors>(sum0, sum1, row, column); }) {
    finish.template tile<kRows, kVectors>(sum0, sum1, row, column);
  } else {
    for (std::size_t i = 0; i < kRows; ++i) {
      finish(sum0[i], row + i, column);
      if (kVectors > 1) finish(sum1[i], row + i, column + kLanes);
    }
  }
}

template <std::size_t kVectors, bool kTransposed, class Finish>
HWY_INLINE void tile_column(std::size_t first, std::size_t last, std::size_t depth, MatrixA a, const float* b0,
                            const float* b1, std::size_t ldb, const Finish& finish, std::size_t column) {
  const auto at = [&](std::size_t row) HWY_ATTR { return kTransposed ? a.data + row : a.data + row * a.stride; };
  std::size_t row = first;
  // Tiles of six and of five rows, where that comes out: a last tile of one or two rows takes as long as one of four.
  const std::size_t rows = last - first, tiles = (rows + kTileRows - 1) / kTileRows;
  const std::size_t low_tiles = rows + tiles >= kTileRows * tiles ? kTileRows * tiles - rows : 0;
  const std::size_t end = last - low_tiles * (kTileRows - 1);
  for (; row + kTileRows <= end; row += kTileRows)
    tile<kTileRows, kVectors, kTransposed>(at(row), a.stride, b0, b1, ldb, depth, finish, row, column);
  for (; row + kTileRows - 1 <= last; row += kTileRows - 1)
    tile<kTileRows - 1, kVectors, kTransposed>(at(row), a.stride, b0, b1, ldb, depth, finish, row, column);
  switch (last - row) {
    case 4:
      return tile<4, kVectors, kTransposed>(at(row), a.stride, b0, b1, ldb, depth, finish, row, column);
    case 3:
      return tile<3, kVectors, kTransposed>(at(row), a.stride, b0, b1, ldb, depth, finish, row, column);
    case 2:
      return tile<2, kVectors, kTransposed>(at(row), a.stride, b0, b1, ldb, depth, finish, row, column);
    case 1:
      return tile<1, kVectors, kTransposed>(at(row), a.stride, b0, b1, ldb, depth, finish, row, column);
    default:
      return;
  }
}

// finish(A B) over all tiles; A is rows x depth, or depth x rows with kTransposed; B is depth x columns. Columns are
// rounded up to whole vectors: B, and what `finish` writes to, have that room.
template <bool kTransposed, class Finish>
HWY_NOINLINE void product(ProductSize size, MatrixA a, MatrixB b, const Finish& finish) {
  // So many rows of A stay in the second-level cache while all columns of B pass; all blocks are about as high.
  constexpr std::size_t kFloatsAtOnce = std::size_t{1} << 16;
  const std::size_t limit = kTransposed ? 16 * kTileRows : HWY_MAX(16 * kTileRows, kFloatsAtOnce / size.depth);
  const std::size_t blocks = (size.rows + limit - 1) / limit;
  const std::size_t rows_at_once = round_up((size.rows + blocks - 1) / blocks, kTileRows);
  for (std::size_t first = 0; first < size.rows; first += rows_at_once) {
    const std::size_t last = HWY_MIN(size.rows, first + rows_at_once);
    for (std::size_t column = 0; column < size.columns; column += 2 * kLanes) {
      const float* b0 = b.column(column);
      if (column + kLanes < size.columns)
        tile_column<2, kTransposed>(first, last, size.depth, a, b0, b.column(column + kLanes), b.stride, finish,
                                    column);
      else
        tile_column<1, kTransposed>(first, last, size.depth, a, b0, b0, b.stride, finish, column);
    }
  }
}

// c[i][j] = a_i . b_j over `depth` columns. For few rows of A, where packing B would cost more than it saves. Reads up
// to whole vectors behind the end of a row.
HWY_INLINE void row_products(std::size_t a_rows, std::size_t b_rows, std::size_t depth, MatrixA a, MatrixA b, float* c,
                             std::size_t ldc) {
  const FloatTag d;
  const std::size_t whole = depth / kLanes * kLanes;
  const FloatMask rest = hn::FirstN(d, depth - whole);
  for (std::size_t j = 0; j < b_rows; ++j) {
    const float* y = b.data + j * b.stride;
    const FloatVec y_rest = whole < depth ? hn::IfThenElseZero(rest, hn::LoadU(d, y + whole)) : hn::Zero(d);
    std::size_t i = 0;
    for (; i + 4 <= a_rows; i += 4) {
      const float* x0 = a.data + i * a.stride;
      const float* x1 = x0 + a.stride;
      const float* x2 = x1 + a.stride;
      const float* x3 = x2 + a.stride;
      FloatVec s0 = hn::Zero(d), s1 = s0, s2 = s0, s3 = s0;
      const auto add = [&](FloatVec yk, std::size_t k) HWY_ATTR {
        s0 = hn::MulAdd(hn::LoadU(d, x0 + k), yk, s0);
        s1 = hn::MulAdd(hn::LoadU(d, x1 + k), yk, s1);
        s2 = hn::MulAdd(hn::LoadU(d, x2 + k), yk, s2);
        s3 = hn::MulAdd(hn::LoadU(d, x3 + k), yk, s3);
      };
      for (std::size_t k = 0; k < whole; k += kLanes) add(hn::LoadU(d, y + k), k);
      if (whole < depth) add(y_rest, whole);
      c[i * ldc + j] = sum_of(s0);
      c[(i + 1) * ldc + j] = sum_of(s1);
      c[(i + 2) * ldc + j] = sum_of(s2);
      c[(i + 3) * ldc + j] = sum_of(s3);
    }
    for (; i < a_rows; ++i) {
      const float* x = a.data + i * a.stride;
      FloatVec s = hn::Zero(d);
      for (std::size_t k = 0; k < whole; k += kLanes) s = hn::MulAdd(hn::LoadU(d, x + k), hn::LoadU(d, y + k), s);
      if (whole < depth) s = hn::MulAdd(hn::LoadU(d, x + whole), y_rest, s);
      c[i * ldc + j] = sum_of(s);
    }
  }
}

}  // namespace eureka::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
