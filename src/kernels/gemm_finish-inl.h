// What happens to a finished tile of a matrix product: a small functor, inlined, so that bias, residual and GELU cost
// no pass over memory of their own. Included once per instruction set.
#if defined(EUREKA_KERNELS_GEMM_FINISH_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef EUREKA_KERNELS_GEMM_FINISH_INL_H_
#undef EUREKA_KERNELS_GEMM_FINISH_INL_H_
#else
#define EUREKA_KERNELS_GEMM_FINISH_INL_H_
#endif

#include <cstddef>
#include <type_traits>

#include "kernels/math-inl.h"
#include "kernels/vector8-inl.h"

HWY_BEFORE_NAMESPACE();
namespace eureka::HWY_NAMESPACE {

inline constexpr std::size_t kTileRows = 6;

template <std::size_t n>
using Count = std::integral_constant<std::size_t, n>;

// What a tile will write or read at its end is asked for at its beginning: it comes from the third-level cache or from
// memory, and is on its way while the products are summed.
HWY_INLINE void soon_written(const float* p) { __builtin_prefetch(p, 1); }
HWY_INLINE void soon_read(const float* p) { __builtin_prefetch(p, 0); }

struct Store {
  float* c;
  std::size_t ldc;
  HWY_INLINE void soon(std::size_t row, std::size_t column) const { soon_written(c + row * ldc + column); }
  HWY_INLINE void operator()(FloatVec x, std::size_t row, std::size_t column) const {
    hn::StoreU(x, FloatTag(), c + row * ldc + column);
  }
};

// Stores exactly `columns` columns: what stands behind them belongs to somebody else.
struct StoreExactly {
  float* c;
  std::size_t ldc;
  std::size_t columns;
  HWY_INLINE void soon(std::size_t row, std::size_t column) const { soon_written(c + row * ldc + column); }
  HWY_INLINE void operator()(FloatVec x, std::size_t row, std::size_t column) const {
    const FloatTag d;
    float* to = c + row * ldc + column;
    if (column + kLanes <= columns)
      hn::StoreU(x, d, to);
    else if (column < columns)
      hn::BlendedStore(x, hn::FirstN(d, columns - column), d, to);
  }
};

// Continues sums that earlier rows of both factors have left there: to the bits of one sum over all of them.
struct ContinueExactly : StoreExactly {
  HWY_INLINE FloatVec start(std::size_t row, std::size_t column) const {
    return hn::LoadU(FloatTag(), c + row * ldc + column);
  }
};

struct Accumulate {
  float* c;
  std::size_t ldc;
  HWY_INLINE void soon(std::size_t row, std::size_t column) const { soon_written(c + row * ldc + column); }
  HWY_INLINE void operator()(FloatVec x, std::size_t row, std::size_t column) const {
    float* to = c + row * ldc + column;
    hn::StoreU(hn::Add(x, hn::LoadU(FloatTag(), to)), FloatTag(), to);
  }
};

struct AddBias {
  float* c;
  std::size_t ldc;
  const float* bias;
  HWY_INLINE void soon(std::size_t row, std::size_t column) const { soon_written(c + row * ldc + column); }
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
  HWY_INLINE void soon(std::size_t row, std::size_t column) const {
    soon_read(residual + row * ld_residual + column);
    soon_written(c + row * ldc + column);
  }
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
  HWY_INLINE void soon(std::size_t row, std::size_t column) const {
    soon_read(noise + row * ld_noise + column);
    to.soon(row, column);
  }
  HWY_INLINE void operator()(FloatVec x, std::size_t row, std::size_t column) const {
    const FloatTag d;
    const FloatVec y = hn::Add(x, hn::LoadU(d, to.bias + column));
    const FloatVec n = hn::LoadU(d, noise + row * ld_noise + column);
    hn::StoreU(hn::MulAdd(y, n, hn::LoadU(d, to.residual + row * to.ld_residual + column)), d,
               to.c + row * to.ldc + column);
  }
};

// GELU, and its derivative for the backward pass: of a whole tile at once, its vectors worked on side by side.
struct BiasGelu {
  float* y;
  float* slope;
  std::size_t ldc;
  const float* bias;
  HWY_INLINE void soon(std::size_t row, std::size_t column) const {
    soon_written(y + row * ldc + column);
    soon_written(slope + row * ldc + column);
  }
  template <std::size_t kRows, std::size_t kVectors>
  HWY_INLINE void tile(const FloatVec (&sum0)[kTileRows], const FloatVec (&sum1)[kTileRows], std::size_t row,
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
    for (; first + kAtOnce <= kCount; first += kAtOnce) gelu(first, Count<kAtOnce>());
    for (; first < kCount; ++first) gelu(first, Count<1>());
  }
};

// ReLU, and its derivative for the backward pass.
struct BiasRelu {
  float* y;
  float* slope;
  std::size_t ldc;
  const float* bias;
  HWY_INLINE void soon(std::size_t row, std::size_t column) const {
    soon_written(y + row * ldc + column);
    soon_written(slope + row * ldc + column);
  }
  HWY_INLINE void operator()(FloatVec x, std::size_t row, std::size_t column) const {
    const FloatTag d;
    const FloatVec sum = hn::Add(x, hn::LoadU(d, bias + column));
    const auto open = hn::Gt(sum, hn::Zero(d));
    hn::StoreU(hn::IfThenElseZero(open, sum), d, y + row * ldc + column);
    hn::StoreU(hn::IfThenElseZero(open, hn::Set(d, 1.0F)), d, slope + row * ldc + column);
  }
};

struct TimesSlope {
  float* c;
  const float* slope;
  std::size_t ldc;
  HWY_INLINE void soon(std::size_t row, std::size_t column) const {
    soon_read(slope + row * ldc + column);
    soon_written(c + row * ldc + column);
  }
  HWY_INLINE void operator()(FloatVec x, std::size_t row, std::size_t column) const {
    const FloatTag d;
    hn::StoreU(hn::Mul(x, hn::LoadU(d, slope + row * ldc + column)), d, c + row * ldc + column);
  }
};

}  // namespace eureka::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
