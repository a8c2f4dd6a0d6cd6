// The parts of batch normalization: sums over all rows of a batch, column by column, and what is then done with each
// row. Sums are in double, in which products of floats are exact, row after row: no width of vectors shows in them.
// All matrices have the stride of `RowsOfChannels`, and room for whole cache lines.
#pragma once

#include <cstddef>

namespace eureka {

struct RowsOfChannels {
  std::size_t rows;
  std::size_t channels;
  std::size_t stride;
};

// Adds the sums of x and of its squares.
void add_moments(RowsOfChannels shape, const float* x, double* sums, double* squares);

// y = x * scale + shift + residual; a residual of nullptr: none; rectified: zero instead of what is negative
void scale_and_shift(RowsOfChannels shape, const float* x, const float* scale, const float* shift,
                     const float* residual, bool rectified, float* y);

// Sets the gradient to zero where `rectified`, the result of a rectification, is zero (nullptr: there is none), then
// adds the sums of the gradient and of its products with x.
void add_gradient_moments(RowsOfChannels shape, const float* rectified, float* gradient, const float* x, double* sums,
                          double* products);

// dx = factor * (gradient - offset - slope * (x - mean))
struct NormGradient {
  const float *factor, *offset, *slope, *mean;
};
void norm_gradient(RowsOfChannels shape, const NormGradient& norm, const float* gradient, const float* x, float* dx);

}  // namespace eureka
