// Four steps of a tile of 5 or 6 rows by 2 vectors, written out for AVX2: 20 instructions for each step of 6 rows, and
// hardly one for the loop around them. Where another thread shares the core, instructions are as scarce as multipliers,
// and GCC spends two more (bench/README.md). Same operations in the same order as TileSums::add: same bits. Included
// once per instruction set; EUREKA_STEPS_WRITTEN_OUT says whether this one has them.
#if defined(EUREKA_KERNELS_TILE_AVX2_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef EUREKA_KERNELS_TILE_AVX2_INL_H_
#undef EUREKA_KERNELS_TILE_AVX2_INL_H_
#else
#define EUREKA_KERNELS_TILE_AVX2_INL_H_
#endif

#include <cstddef>

#include "kernels/math-inl.h"

// Not under the address sanitizer, which sees what a compiler reads and nothing else.
#undef EUREKA_STEPS_WRITTEN_OUT
#if HWY_TARGET == HWY_AVX2 && HWY_ARCH_X86_64 && (HWY_COMPILER_GCC_ACTUAL || HWY_COMPILER_CLANG) && \
    !defined(__SANITIZE_ADDRESS__)
#define EUREKA_STEPS_WRITTEN_OUT 1
#else
#define EUREKA_STEPS_WRITTEN_OUT 0
#endif

#if EUREKA_STEPS_WRITTEN_OUT

HWY_BEFORE_NAMESPACE();
namespace eureka::HWY_NAMESPACE {

// Assembly reads best a line per instruction, and a step per line.
// clang-format off

// Two vectors of B.
#define EUREKA_B(at)              \
  "vmovups   " at ", %%ymm12\n\t" \
  "vmovups 32" at ", %%ymm13\n\t"
// A number of A, times both.
#define EUREKA_A(at, row)                         \
  "vbroadcastss " at ", %%ymm14\n\t"              \
  "vfmadd231ps %%ymm12, %%ymm14, %[" row "0]\n\t" \
  "vfmadd231ps %%ymm13, %%ymm14, %[" row "1]\n\t"

// One step, the numbers of A `at` bytes into its rows.
#define EUREKA_ALONG_5(at, b) EUREKA_B(b)                                                             \
  EUREKA_A(at "(%[a])", "r0") EUREKA_A(at "(%[a],%[lda])", "r1") EUREKA_A(at "(%[a],%[lda],2)", "r2") \
  EUREKA_A(at "(%[a3])", "r3") EUREKA_A(at "(%[a3],%[lda])", "r4")
#define EUREKA_ALONG_6(at, b) EUREKA_ALONG_5(at, b) EUREKA_A(at "(%[a3],%[lda],2)", "r5")
#define EUREKA_FOUR_ALONG(step)                                                  \
  step("0", "(%[y])")           step("4", "(%[y],%[ldb])")                       \
  step("8", "(%[y],%[ldb],2)")  step("12", "(%[y],%[ldb3])")

// One step, the numbers of the transposed A side by side from `at` on.
#define EUREKA_DOWN_5(at, b) EUREKA_B(b)                                         \
  EUREKA_A(at, "r0") EUREKA_A("4" at, "r1") EUREKA_A("8" at, "r2")               \
  EUREKA_A("12" at, "r3") EUREKA_A("16" at, "r4")
#define EUREKA_DOWN_6(at, b) EUREKA_DOWN_5(at, b) EUREKA_A("20" at, "r5")
#define EUREKA_FOUR_DOWN(step)                                                               \
  step("(%[a])", "(%[y])")                    step("(%[a],%[lda])", "(%[y],%[ldb])")         \
  step("(%[a],%[lda],2)", "(%[y],%[ldb],2)")  step("(%[a],%[lda3])", "(%[y],%[ldb3])")

#define EUREKA_SUM(row) [row##0] "+x"(s.row.v0.raw), [row##1] "+x"(s.row.v1.raw)
#define EUREKA_SUMS_5 EUREKA_SUM(r0), EUREKA_SUM(r1), EUREKA_SUM(r2), EUREKA_SUM(r3), EUREKA_SUM(r4)
#define EUREKA_SUMS_6 EUREKA_SUMS_5, EUREKA_SUM(r5)

// Runs the steps; strides are in bytes here. A compiler that could not see the reads would leave out what was written there: "memory".
#define EUREKA_STEPS(steps, sums, second_name, second)                                                           \
  asm(steps : sums                                                                                               \
      : [a] "r"(a), [lda] "r"(lda), [second_name] "r"(second), [y] "r"(y), [ldb] "r"(ldb), [ldb3] "r"(3 * ldb)   \
      : "xmm12", "xmm13", "xmm14", "memory")
// clang-format on

// Sums += four columns of A, given by rows, times four rows of B.
template <std::size_t kRows, class Sums>
HWY_INLINE void four_steps_along_rows(Sums& s, const float* a, std::size_t lda, const float* y, std::size_t ldb) {
  const float* a3 = a + 3 * lda;
  lda *= sizeof(float);
  ldb *= sizeof(float);
  if constexpr (kRows == 6)
    EUREKA_STEPS(EUREKA_FOUR_ALONG(EUREKA_ALONG_6), EUREKA_SUMS_6, a3, a3);
  else
    EUREKA_STEPS(EUREKA_FOUR_ALONG(EUREKA_ALONG_5), EUREKA_SUMS_5, a3, a3);
}

// The same where A is given transposed.
template <std::size_t kRows, class Sums>
HWY_INLINE void four_steps_down_columns(Sums& s, const float* a, std::size_t lda, const float* y, std::size_t ldb) {
  lda *= sizeof(float);
  ldb *= sizeof(float);
  if constexpr (kRows == 6)
    EUREKA_STEPS(EUREKA_FOUR_DOWN(EUREKA_DOWN_6), EUREKA_SUMS_6, lda3, 3 * lda);
  else
    EUREKA_STEPS(EUREKA_FOUR_DOWN(EUREKA_DOWN_5), EUREKA_SUMS_5, lda3, 3 * lda);
}

}  // namespace eureka::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // EUREKA_STEPS_WRITTEN_OUT

#endif
