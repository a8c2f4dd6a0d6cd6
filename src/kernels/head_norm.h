// Normalization of queries or keys, head by head (QK-norm): layer, RMS or L2, with a gain per dimension or one factor
// per head.
#pragma once

#include <cstddef>

namespace eureka {

struct HeadNorm {
  bool centered = false;  // LayerNorm: subtract the mean
  bool unit = false;      // L2: vectors of norm sqrt(head width) before the factor, epsilon beside the norm
  float epsilon = 1e-6F;
};

struct HeadNormShape {
  std::size_t rows;
  std::size_t heads;
  std::size_t width;  // of one head; heads lie side by side in a row
};

// y = normalized x * gain. gain: `width` values shared by all heads; factor: one per head; either may be nullptr.
void head_norm(const HeadNorm& norm, HeadNormShape shape, const float* x, std::size_t x_stride, const float* gain,
               const float* factor, float* y, std::size_t y_stride);

// Turns g = d loss / d y into d loss / d x, in place. Adds to d_gain and to d_log_factor where gain and factor are
// given.
void head_norm_backward(const HeadNorm& norm, HeadNormShape shape, const float* x, std::size_t x_stride,
                        const float* gain, const float* factor, float* g, std::size_t g_stride, float* d_gain,
                        float* d_log_factor);

}  // namespace eureka
