// Rotary positions: each pair of a head's columns (i and i + width / 2) is turned by an angle that grows with the place
// of its token, so that the product of a query and a key depends on the distance between them.
#pragma once

#include <cstddef>

namespace eureka {

struct RotaryShape {
  std::size_t rows;
  std::size_t tokens;  // rows are tokens of samples that lie behind each other
  std::size_t heads;
  std::size_t width;  // of one head, even; heads lie side by side in a row
};

enum class Turn { forward, back };

// y = x turned, or turned back, which is also the gradient by x of a loss whose gradient by y is x. y may be x itself.
// cosines, sines: tokens x (width / 2).
void turn_heads(RotaryShape shape, Turn turn, const float* cosines, const float* sines, const float* x,
                std::size_t x_stride, float* y, std::size_t y_stride);

}  // namespace eureka
