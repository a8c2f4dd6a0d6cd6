// LayerNorm and RMSNorm over the rows of a matrix, forward and backward. Rows are padded with zeros to whole cache
// lines, and so are gain and bias: the padding of the result is zero again.
#pragma once

#include <cstddef>

namespace eureka {

struct NormShape {
  std::size_t rows;
  std::size_t width;
  float epsilon;
  bool centered = true;  // LayerNorm; else RMSNorm, which has no mean and no bias
};

// y = (x - mean) / sqrt(variance + epsilon) * gain + bias; keeps mean and 1/deviation of every row.
// Without centering the mean is zero, and `bias` and `d_bias` are not looked at.
void layer_norm(NormShape shape, const float* x, std::size_t x_stride, const float* gain, const float* bias, float* y,
                std::size_t y_stride, float* mean, float* inverse_deviation);

// dx = (residual +) the gradient of the loss by x, given dy; adds to the gradients of gain and bias.
// residual: nullptr for none; it may be dx itself.
void layer_norm_backward(NormShape shape, const float* x, std::size_t x_stride, const float* gain, const float* mean,
                         const float* inverse_deviation, const float* dy, std::size_t dy_stride, const float* residual,
                         float* dx, std::size_t dx_stride, float* d_gain, float* d_bias);

}  // namespace eureka
