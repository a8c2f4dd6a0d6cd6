#include "kernels/head_norm.h"

#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/head_norm.cpp"
#include "hwy/foreach_target.h"
// After foreach_target.
#include "kernels/vector8-inl.h"

HWY_BEFORE_NAMESPACE();
namespace eureka::HWY_NAMESPACE {
namespace {

HWY_INLINE Vec8 load(const float* x, std::size_t i, std::size_t width) {
  const Tag8 d;
  return v8::IfThenElseZero(v8::FirstN(d, width - i), v8::LoadU(d, x + i));
}

HWY_INLINE void store(Vec8 v, float* x, std::size_t i, std::size_t width) {
  const Tag8 d;
  if (i + kLanes8 <= width)
    v8::StoreU(v, d, x + i);
  else
    v8::BlendedStore(v, v8::FirstN(d, width - i), d, x + i);
}

HWY_INLINE float sum_row(const float* x, std::size_t width) {
  Vec8 sum = v8::Zero(Tag8());
  for (std::size_t i = 0; i < width; i += kLanes8) sum = v8::Add(sum, load(x, i, width));
  return sum_of(sum);
}

// normalized x = (x - mean) * scale; scale = top / sqrt(inside), inside = share * |x - mean|^2 + epsilon.
struct Normal {
  float mean, scale, inside, share;

  HWY_INLINE Vec8 center(const float* x, std::size_t i, std::size_t width) const {
    const Tag8 d;
    return v8::IfThenElseZero(v8::FirstN(d, width - i), v8::Sub(v8::LoadU(d, x + i), v8::Set(d, mean)));
  }
};

HWY_INLINE Normal normal_of(const HeadNorm& norm, const float* x, std::size_t width) {
  const Tag8 d;
  const auto size = static_cast<float>(width);
  Normal n{};
  n.mean = norm.centered ? sum_row(x, width) / size : 0;
  n.share = norm.unit ? 1 : 1 / size;
  Vec8 square = v8::Zero(d);
  for (std::size_t i = 0; i < width; i += kLanes8) {
    const Vec8 c = n.center(x, i, width);
    square = v8::MulAdd(c, c, square);
  }
  n.inside = n.share * sum_of(square) + (norm.unit ? norm.epsilon * norm.epsilon : norm.epsilon);
  n.scale = (norm.unit ? std::sqrt(size) : 1.0F) / std::sqrt(n.inside);
  return n;
}

void forward(const HeadNorm& norm, HeadNormShape shape, const float* x, std::size_t x_stride, const float* gain,
             const float* factor, float* y, std::size_t y_stride) {
  const Tag8 d;
  for (std::size_t row = 0; row < shape.rows; ++row) {
    for (std::size_t head = 0; head < shape.heads; ++head) {
      const float* from = x + row * x_stride + head * shape.width;
      float* to = y + row * y_stride + head * shape.width;
      const Normal n = normal_of(norm, from, shape.width);
      const Vec8 scale = v8::Set(d, factor != nullptr ? n.scale * factor[head] : n.scale);
      for (std::size_t i = 0; i < shape.width; i += kLanes8) {
        Vec8 v = v8::Mul(n.center(from, i, shape.width), scale);
        if (gain != nullptr) v = v8::Mul(v, load(gain, i, shape.width));
        store(v, to, i, shape.width);
      }
    }
  }
}

void backward(const HeadNorm& norm, HeadNormShape shape, const float* x, std::size_t x_stride, const float* gain,
              const float* factor, float* g, std::size_t g_stride, float* d_gain, float* d_log_factor) {
  const Tag8 d;
  const std::size_t width = shape.width;
  for (std::size_t row = 0; row < shape.rows; ++row) {
    for (std::size_t head = 0; head < shape.heads; ++head) {
      const float* from = x + row * x_stride + head * width;
      float* gr = g + row * g_stride + head * width;
      const Normal n = normal_of(norm, from, width);
      const Vec8 own = v8::Set(d, factor != nullptr ? factor[head] : 1.0F);
      Vec8 along = v8::Zero(d);  // sum of inner gradient times centered x
      for (std::size_t i = 0; i < width; i += kLanes8) {
        const Vec8 c = n.center(from, i, width);
        Vec8 inner = v8::Mul(load(gr, i, width), own);
        if (gain != nullptr) {
          const Vec8 by_gain = v8::Mul(v8::Mul(inner, c), v8::Set(d, n.scale));
          store(v8::Add(by_gain, load(d_gain, i, width)), d_gain, i, width);
          inner = v8::Mul(inner, load(gain, i, width));
        }
        along = v8::MulAdd(inner, c, along);
        store(inner, gr, i, width);
      }
      const float total = sum_of(along);
      if (factor != nullptr) d_log_factor[head] += total * n.scale;
      const Vec8 back = v8::Set(d, n.share / n.inside * total), scale = v8::Set(d, n.scale);
      for (std::size_t i = 0; i < width; i += kLanes8) {
        const Vec8 v = v8::NegMulAdd(back, n.center(from, i, width), load(gr, i, width));
        store(v8::Mul(scale, v), gr, i, width);
      }
      if (norm.centered) {
        const Vec8 mean = v8::Set(d, sum_row(gr, width) / static_cast<float>(width));
        for (std::size_t i = 0; i < width; i += kLanes8) store(v8::Sub(load(gr, i, width), mean), gr, i, width);
      }
    }
  }
}

}  // namespace
}  // namespace eureka::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace eureka {

HWY_EXPORT(forward);
HWY_EXPORT(backward);

void head_norm(const HeadNorm& norm, HeadNormShape shape, const float* x, std::size_t x_stride, const float* gain,
               const float* factor, float* y, std::size_t y_stride) {
  HWY_DYNAMIC_DISPATCH(forward)(norm, shape, x, x_stride, gain, factor, y, y_stride);
}

void head_norm_backward(const HeadNorm& norm, HeadNormShape shape, const float* x, std::size_t x_stride,
                        const float* gain, const float* factor, float* g, std::size_t g_stride, float* d_gain,
                        float* d_log_factor) {
  HWY_DYNAMIC_DISPATCH(backward)
  (norm, shape, x, x_stride, gain, factor, g, g_stride, d_gain, d_log_factor);
}

}  // namespace eureka
#endif
