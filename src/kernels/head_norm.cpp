#include "kernels/head_norm.h"

#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/head_norm.cpp"
#include "hwy/foreach_target.h"
// After foreach_target.
#include "kernels/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace eureka::HWY_NAMESPACE {
namespace {

HWY_INLINE FloatVec load(const float* x, std::size_t i, std::size_t width) {
  const FloatTag d;
  return hn::IfThenElseZero(hn::FirstN(d, width - i), hn::LoadU(d, x + i));
}

HWY_INLINE void store(FloatVec v, float* x, std::size_t i, std::size_t width) {
  const FloatTag d;
  if (i + kLanes <= width)
    hn::StoreU(v, d, x + i);
  else
    hn::BlendedStore(v, hn::FirstN(d, width - i), d, x + i);
}

HWY_INLINE float sum_row(const float* x, std::size_t width) {
  FloatVec sum = hn::Zero(FloatTag());
  for (std::size_t i = 0; i < width; i += kLanes) sum = hn::Add(sum, load(x, i, width));
  return sum_of(sum);
}

// normalised x = (x - mean) * scale; scale = top / sqrt(inside), inside = share * |x - mean|^2 + epsilon.
struct Normal {
  float mean, scale, inside, share;

  HWY_INLINE FloatVec centre(const float* x, std::size_t i, std::size_t width) const {
    const FloatTag d;
    return hn::IfThenElseZero(hn::FirstN(d, width - i), hn::Sub(hn::LoadU(d, x + i), hn::Set(d, mean)));
  }
};

HWY_INLINE Normal normal_of(const HeadNorm& norm, const float* x, std::size_t width) {
  const FloatTag d;
  const auto size = static_cast<float>(width);
  Normal n{};
  n.mean = norm.centred ? sum_row(x, width) / size : 0;
  n.share = norm.unit ? 1 : 1 / size;
  FloatVec square = hn::Zero(d);
  for (std::size_t i = 0; i < width; i += kLanes) {
    const FloatVec c = n.centre(x, i, width);
    square = hn::MulAdd(c, c, square);
  }
  n.inside = n.share * sum_of(square) + (norm.unit ? norm.epsilon * norm.epsilon : norm.epsilon);
  n.scale = (norm.unit ? std::sqrt(size) : 1.0F) / std::sqrt(n.inside);
  return n;
}

void forward(const HeadNorm& norm, HeadNormShape shape, const float* x, std::size_t x_stride, const float* gain,
             const float* factor, float* y, std::size_t y_stride) {
  const FloatTag d;
  for (std::size_t row = 0; row < shape.rows; ++row) {
    for (std::size_t head = 0; head < shape.heads; ++head) {
      const float* from = x + row * x_stride + head * shape.width;
      float* to = y + row * y_stride + head * shape.width;
      const Normal n = normal_of(norm, from, shape.width);
      const FloatVec scale = hn::Set(d, factor != nullptr ? n.scale * factor[head] : n.scale);
      for (std::size_t i = 0; i < shape.width; i += kLanes) {
        FloatVec v = hn::Mul(n.centre(from, i, shape.width), scale);
        if (gain != nullptr) v = hn::Mul(v, load(gain, i, shape.width));
        store(v, to, i, shape.width);
      }
    }
  }
}

void backward(const HeadNorm& norm, HeadNormShape shape, const float* x, std::size_t x_stride, const float* gain,
              const float* factor, float* g, std::size_t g_stride, float* d_gain, float* d_log_factor) {
  const FloatTag d;
  const std::size_t width = shape.width;
  for (std::size_t row = 0; row < shape.rows; ++row) {
    for (std::size_t head = 0; head < shape.heads; ++head) {
      const float* from = x + row * x_stride + head * width;
      float* gr = g + row * g_stride + head * width;
      const Normal n = normal_of(norm, from, width);
      const FloatVec own = hn::Set(d, factor != nullptr ? factor[head] : 1.0F);
      FloatVec along = hn::Zero(d);  // sum of inner gradient times centred x
      for (std::size_t i = 0; i < width; i += kLanes) {
        const FloatVec c = n.centre(from, i, width);
        FloatVec inner = hn::Mul(load(gr, i, width), own);
        if (gain != nullptr) {
          const FloatVec by_gain = hn::Mul(hn::Mul(inner, c), hn::Set(d, n.scale));
          store(hn::Add(by_gain, load(d_gain, i, width)), d_gain, i, width);
          inner = hn::Mul(inner, load(gain, i, width));
        }
        along = hn::MulAdd(inner, c, along);
        store(inner, gr, i, width);
      }
      const float total = sum_of(along);
      if (factor != nullptr) d_log_factor[head] += total * n.scale;
      const FloatVec back = hn::Set(d, n.share / n.inside * total), scale = hn::Set(d, n.scale);
      for (std::size_t i = 0; i < width; i += kLanes) {
        const FloatVec v = hn::NegMulAdd(back, n.centre(from, i, width), load(gr, i, width));
        store(hn::Mul(scale, v), gr, i, width);
      }
      if (norm.centred) {
        const FloatVec mean = hn::Set(d, sum_row(gr, width) / static_cast<float>(width));
        for (std::size_t i = 0; i < width; i += kLanes) store(hn::Sub(load(gr, i, width), mean), gr, i, width);
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
