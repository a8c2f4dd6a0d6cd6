#include "kernels/elementwise.h"

#include "base/exact_math.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/elementwise.cpp"
#include "hwy/foreach_target.h"
// After foreach_target.
#include "kernels/vector8-inl.h"

HWY_BEFORE_NAMESPACE();
namespace eureka::HWY_NAMESPACE {
namespace {

void column_sums(const float* x, std::size_t rows, std::size_t columns, std::size_t stride, float* sums) {
  const FloatTag d;
  std::size_t c = 0;
  // Four vectors at a time: independent chains, and each row is read a cache line or two at once.
  for (; c + 3 * kLanes < columns; c += 4 * kLanes) {
    const float* from = x + c;
    FloatVec s0 = hn::Zero(d), s1 = s0, s2 = s0, s3 = s0;
    for (std::size_t row = 0; row < rows; ++row, from += stride) {
      s0 = hn::Add(s0, hn::LoadU(d, from));
      s1 = hn::Add(s1, hn::LoadU(d, from + kLanes));
      s2 = hn::Add(s2, hn::LoadU(d, from + 2 * kLanes));
      s3 = hn::Add(s3, hn::LoadU(d, from + 3 * kLanes));
    }
    hn::StoreU(hn::Add(s0, hn::LoadU(d, sums + c)), d, sums + c);
    hn::StoreU(hn::Add(s1, hn::LoadU(d, sums + c + kLanes)), d, sums + c + kLanes);
    hn::StoreU(hn::Add(s2, hn::LoadU(d, sums + c + 2 * kLanes)), d, sums + c + 2 * kLanes);
    hn::StoreU(hn::Add(s3, hn::LoadU(d, sums + c + 3 * kLanes)), d, sums + c + 3 * kLanes);
  }
  for (; c < columns; c += kLanes) {
    FloatVec s = hn::Zero(d);
    for (std::size_t row = 0; row < rows; ++row) s = hn::Add(s, hn::LoadU(d, x + row * stride + c));
    hn::StoreU(hn::Add(s, hn::LoadU(d, sums + c)), d, sums + c);
  }
}

void add_vectors(const float* from, std::size_t count, float* to) {
  const FloatTag d;
  std::size_t i = 0;
  for (; i + kLanes <= count; i += kLanes) hn::StoreU(hn::Add(hn::LoadU(d, from + i), hn::LoadU(d, to + i)), d, to + i);
  for (; i < count; ++i) to[i] += from[i];
}

void multiply_matrices(std::size_t rows, std::size_t columns, const float* a, std::size_t a_stride, const float* b,
                       std::size_t b_stride, float* c, std::size_t c_stride) {
  const FloatTag d;
  for (std::size_t row = 0; row < rows; ++row, a += a_stride, b += b_stride, c += c_stride)
    for (std::size_t i = 0; i < columns; i += kLanes)
      hn::StoreU(hn::Mul(hn::LoadU(d, a + i), hn::LoadU(d, b + i)), d, c + i);
}

double sum_parts_now(float* const* parts, std::size_t count, std::size_t begin, std::size_t end) {
  const Tag8 d;
  Vec8 square = v8::Zero(d);
  for (std::size_t i = begin; i < end; i += kLanes8) {
    for (std::size_t step = 1; step < count; step *= 2) {
      for (std::size_t p = 0; p + step < count; p += 2 * step) {
        v8::StoreU(v8::Add(v8::LoadU(d, parts[p] + i), v8::LoadU(d, parts[p + step] + i)), d, parts[p] + i);
        v8::StoreU(v8::Zero(d), d, parts[p + step] + i);
      }
    }
    const Vec8 x = v8::LoadU(d, parts[0] + i);
    square = v8::MulAdd(x, x, square);
  }
  return static_cast<double>(sum_of(square));
}

AnswerLoss cross_entropy_now(const float* logits, std::size_t classes, std::size_t padded, std::int64_t label,
                             double smoothing, double weight, float* d_logits) {
  const Tag8 d;
  std::size_t best = 0;
  double logit_sum = 0;
  for (std::size_t c = 0; c < classes; ++c) {
    if (logits[c] > logits[best]) best = c;
    logit_sum += static_cast<double>(logits[c]);
  }
  const Vec8 top = v8::Set(d, logits[best]);
  double total = 0;
  for (std::size_t c = 0; c < classes; c += kLanes8) {
    const Mask8 valid = v8::FirstN(d, classes - c);
    const Vec8 e = v8::IfThenElseZero(valid, exp_of(v8::Sub(v8::LoadU(d, logits + c), top)));
    v8::StoreU(e, d, d_logits + c);
    total += static_cast<double>(sum_of(e));
  }
  const double log_total = exact::log(total) + static_cast<double>(logits[best]);
  const auto count = static_cast<double>(classes);
  const double plain = log_total - static_cast<double>(logits[label]);
  const double uniform = log_total - logit_sum / count;
  const auto probability = static_cast<float>(weight / total);
  const auto share = static_cast<float>(weight * smoothing / count);
  for (std::size_t c = 0; c < padded; ++c) d_logits[c] = c < classes ? d_logits[c] * probability - share : 0.0F;
  d_logits[label] -= static_cast<float>(weight * (1 - smoothing));
  return {.loss = (1 - smoothing) * plain + smoothing * uniform,
          .plain_loss = plain,
          .hit = best == static_cast<std::size_t>(label) ? 1.0 : 0.0,
          .possible = 1};
}

}  // namespace
}  // namespace eureka::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace eureka {

HWY_EXPORT(column_sums);
HWY_EXPORT(add_vectors);
HWY_EXPORT(multiply_matrices);
HWY_EXPORT(sum_parts_now);
HWY_EXPORT(cross_entropy_now);

void add_column_sums(const float* x, std::size_t rows, std::size_t columns, std::size_t stride, float* sums) {
  HWY_DYNAMIC_DISPATCH(column_sums)(x, rows, columns, stride, sums);
}

void add_to(const float* from, std::size_t count, float* to) { HWY_DYNAMIC_DISPATCH(add_vectors)(from, count, to); }

void multiply_elements(std::size_t rows, std::size_t columns, const float* a, std::size_t a_stride, const float* b,
                       std::size_t b_stride, float* c, std::size_t c_stride) {
  HWY_DYNAMIC_DISPATCH(multiply_matrices)(rows, columns, a, a_stride, b, b_stride, c, c_stride);
}

double sum_parts(float* const* parts, std::size_t count, std::size_t begin, std::size_t end) {
  return HWY_DYNAMIC_DISPATCH(sum_parts_now)(parts, count, begin, end);
}

AnswerLoss cross_entropy(const float* logits, std::size_t classes, std::size_t padded, std::int64_t label,
                         double smoothing, double weight, float* d_logits) {
  return HWY_DYNAMIC_DISPATCH(cross_entropy_now)(logits, classes, padded, label, smoothing, weight, d_logits);
}

AnswerLoss squared_loss(const float* outputs, std::size_t count, std::size_t padded, const float* targets,
                        double weight, float* d_outputs) {
  double error = 0, square = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const double target = static_cast<double>(targets[i]), difference = static_cast<double>(outputs[i]) - target;
    error += difference * difference;
    square += target * target;
    d_outputs[i] = static_cast<float>(2 * weight * difference / static_cast<double>(count));
  }
  for (std::size_t i = count; i < padded; ++i) d_outputs[i] = 0;
  const double mean = error / static_cast<double>(count);
  return {.loss = mean, .plain_loss = mean, .hit = square - error, .possible = square};
}

}  // namespace eureka
#endif
