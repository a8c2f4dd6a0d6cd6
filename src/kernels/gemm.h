// Matrix products of a training step, in float32. Everything is row-major with a stride; rows are padded to whole cache
// lines (kernels/buffer.h) and the padding holds zeros, so that no product has a remainder in its columns.
//
//   pack_transposed(weight, 192, 64, 64, packed);            once per step: W (out x in) for y = x W^T
//   multiply_add_bias({rows, 192, 64}, {x, 64}, MatrixB::packed(packed, 64), bias, {y, 208});
//
// Requires: columns of B and C have room up to the next multiple of 16, C rows do not overlap A or B.
// Ensures:  the bits of a row of the result do not depend on how many rows there are.
#pragma once

#include <cstddef>

#include "kernels/buffer.h"

namespace eureka {

struct ProductSize {
  std::size_t rows;     // of the result
  std::size_t columns;  // of the result
  std::size_t depth;    // summed over
};

struct MatrixA {
  const float* data;
  std::size_t stride;
};

// The right factor, depth x columns: plain row-major, or packed into panels of 16 columns.
struct MatrixB {
  const float* data;
  std::size_t stride;        // from row to row
  std::size_t panel_stride;  // from one 16 columns to the next

  static MatrixB plain(const float* data, std::size_t stride) { return {data, stride, kPanel}; }
  static MatrixB packed(const float* data, std::size_t depth) { return {data, kPanel, depth * kPanel}; }

  const float* column(std::size_t c) const { return data + c / kPanel * panel_stride + c % kPanel; }
};

struct MatrixC {
  float* data;
  std::size_t stride;
};

// Packs W (rows x columns) as the factor of x W^T: depth `columns`, result columns `rows`.
// `packed` has round_up(rows) * columns floats.
void pack_transposed(const float* w, std::size_t rows, std::size_t columns, std::size_t stride, float* packed);

// Packs W (rows x columns) as the factor of x W: depth `depth` >= rows, of which rows from `first` are written.
// `packed` has depth * round_up(columns) floats.
void pack(const float* w, std::size_t rows, std::size_t columns, std::size_t stride, std::size_t first,
          std::size_t depth, float* packed);

// C = A B
void multiply(ProductSize size, MatrixA a, MatrixB b, MatrixC c);
// C += A B
void multiply_accumulate(ProductSize size, MatrixA a, MatrixB b, MatrixC c);
// C = A B + bias
void multiply_add_bias(ProductSize size, MatrixA a, MatrixB b, const float* bias, MatrixC c);
// C = residual + noise * (A B + bias); no noise: nullptr
void multiply_add_branch(ProductSize size, MatrixA a, MatrixB b, const float* bias, MatrixA residual, MatrixA noise,
                         MatrixC c);
// C = gelu(A B + bias) with the exact (erf) form, and its derivative in `slope`, with the stride of C
void multiply_gelu(ProductSize size, MatrixA a, MatrixB b, const float* bias, MatrixC c, float* slope);
// C = max(A B + bias, 0), and its derivative, 1 or 0, in `slope`, with the stride of C
void multiply_relu(ProductSize size, MatrixA a, MatrixB b, const float* bias, MatrixC c, float* slope);
// C = (A B) * slope, element by element; slope has the stride of C
void multiply_by_slope(ProductSize size, MatrixA a, MatrixB b, const float* slope, MatrixC c);
// C += A^T B, A given as depth x rows: gradients of weights, summed over the rows of a batch
void multiply_transposed_accumulate(ProductSize size, MatrixA a, MatrixB b, MatrixC c);
// C = A B^T, both given by rows of `depth` columns; for few rows of A
void multiply_rows(std::size_t a_rows, std::size_t b_rows, std::size_t depth, MatrixA a, MatrixA b, MatrixC c);

// Floating-point operations per second of this core in a loop of fused multiply-adds on registers.
double measured_peak_flops();

}  // namespace eureka
