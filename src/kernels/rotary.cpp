#include "kernels/rotary.h"

namespace eureka {

// Products and sums are rounded one by one (no contraction), so plain loops give the same bits on every processor.
void turn_heads(RotaryShape shape, Turn turn, const float* cosines, const float* sines, const float* x,
                std::size_t x_stride, float* y, std::size_t y_stride) {
  const std::size_t pairs = shape.width / 2;
  const float sign = turn == Turn::forward ? 1.0F : -1.0F;
  for (std::size_t row = 0; row < shape.rows; ++row) {
    const float* c = cosines + row % shape.tokens * pairs;
    const float* s = sines + row % shape.tokens * pairs;
    for (std::size_t head = 0; head < shape.heads; ++head) {
      const float* from = x + row * x_stride + head * shape.width;
      float* to = y + row * y_stride + head * shape.width;
      for (std::size_t i = 0; i < pairs; ++i) {
        const float first = from[i], second = from[i + pairs], sine = sign * s[i];
        to[i] = first * c[i] - second * sine;
        to[i + pairs] = second * c[i] + first * sine;
      }
    }
  }
}

}  // namespace eureka
