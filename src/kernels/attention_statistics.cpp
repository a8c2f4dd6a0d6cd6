#include "kernels/attention_statistics.h"

#include <algorithm>
#include <cmath>
#include <vector>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/attention_statistics.cpp"
#include "hwy/foreach_target.h"
// After foreach_target.
#include "kernels/vector8-inl.h"

// What one pass over a row gathers. Sums of the others, all but one largest weight, are in units of the second largest.
#ifndef EUREKA_KERNELS_ROW_SUMS_
#define EUREKA_KERNELS_ROW_SUMS_
namespace eureka {
struct RowSums {
  float keys = 0, active = 0;
  float largest = 0, log_second = 0, log_smallest = 0;
  float log_sum = 0, minus_entropy = 0;
  float others = 0, others2 = 0, others3 = 0, others4 = 0;
  bool underflowed = false;
};
}  // namespace eureka
#endif

HWY_BEFORE_NAMESPACE();
namespace eureka::HWY_NAMESPACE {
namespace {

constexpr float kSmallestFloat = 1.4e-45F;
constexpr float kHidden = -1e30F;  // below every logarithm

// One vector of a row: the keys that count, their weights (0 elsewhere) and logarithms (kHidden elsewhere).
struct KeyVector {
  Mask8 counts;
  Vec8 weights, logs;
};

// Loads what is left of an array, without reading past its end.
HWY_INLINE Vec8 load_some(const float* values, std::size_t left) {
  const Tag8 d;
  if (left >= kLanes8) return v8::LoadU(d, values);
  HWY_ALIGN float copy[kLanes8] = {};
  for (std::size_t i = 0; i < left; ++i) copy[i] = values[i];
  return v8::LoadU(d, copy);
}

HWY_INLINE Mask8 counting(const StatisticsRow& row, std::size_t key) {
  const Tag8 d;
  const Mask8 exist = v8::FirstN(d, row.keys - key);
  if (row.visible == nullptr) return exist;
  return v8::And(exist, v8::Ne(load_some(row.visible + key, row.keys - key), v8::Zero(d)));
}

struct Tops {
  float weight = 0, logit = 0;
};

HWY_INLINE Tops tops_of(const StatisticsRow& row) {
  const Tag8 d;
  const Vec8 scale = v8::Set(d, row.scale);
  Vec8 weight = v8::Zero(d), logit = v8::Set(d, kHidden);
  for (std::size_t key = 0; key < row.keys; key += kLanes8) {
    const Mask8 counts = counting(row, key);
    weight = v8::Max(weight, v8::IfThenElseZero(counts, load_some(row.weights + key, row.keys - key)));
    if (row.logits == nullptr) continue;
    const Vec8 z = v8::Mul(scale, load_some(row.logits + key, row.keys - key));
    logit = v8::Max(logit, v8::IfThenElse(counts, z, v8::Set(d, kHidden)));
  }
  return {max_of(weight), max_of(logit)};
}

// Logarithms of the weights: from the logits where they are given, else of weights held above zero.
HWY_INLINE KeyVector key_vector(const StatisticsRow& row, std::size_t key, const Tops& tops, Vec8 log_top) {
  const Tag8 d;
  KeyVector v{counting(row, key), {}, {}};
  v.weights = v8::IfThenElseZero(v.counts, load_some(row.weights + key, row.keys - key));
  Vec8 logs;
  if (row.logits != nullptr) {
    const Vec8 z = v8::Mul(v8::Set(d, row.scale), load_some(row.logits + key, row.keys - key));
    logs = v8::Add(v8::Sub(z, v8::Set(d, tops.logit)), log_top);
  } else {
    logs = log_of(v8::Max(v.weights, v8::Set(d, kSmallestFloat)));
  }
  v.logs = v8::IfThenElse(v.counts, logs, v8::Set(d, kHidden));
  return v;
}

RowSums sums_now(const StatisticsRow& row, float threshold) {
  const Tag8 d;
  const Vec8 zero = v8::Zero(d), one = v8::Set(d, 1.0F), hidden = v8::Set(d, kHidden);
  const Tops tops = tops_of(row);
  const Vec8 log_top = log_of(v8::Max(v8::Set(d, tops.weight), v8::Set(d, kSmallestFloat)));
  const Vec8 top_weight = v8::Set(d, tops.weight);
  const bool by_logits = row.logits != nullptr;

  Vec8 keys = zero, active = zero, ties = zero, smallest = zero, logs = zero, entropy = zero;
  Vec8 runner_up = hidden, second_weight = zero;
  Mask8 lost = v8::FirstN(d, 0);
  for (std::size_t key = 0; key < row.keys; key += kLanes8) {
    const KeyVector v = key_vector(row, key, tops, log_top);
    const Mask8 is_top = by_logits ? v8::Ge(v.logs, log_top) : v8::And(v.counts, v8::Ge(v.weights, top_weight));
    keys = v8::Add(keys, v8::IfThenElseZero(v.counts, one));
    active = v8::Add(active, v8::IfThenElseZero(v8::Gt(v.weights, v8::Set(d, threshold)), one));
    ties = v8::Add(ties, v8::IfThenElseZero(is_top, one));
    runner_up = v8::Max(runner_up, v8::IfThenElse(is_top, hidden, v.logs));
    second_weight = v8::Max(second_weight, v8::IfThenZeroElse(is_top, v.weights));
    smallest = v8::Min(smallest, v8::IfThenElseZero(v.counts, v.logs));
    logs = v8::Add(logs, v8::IfThenElseZero(v.counts, v.logs));
    entropy = v8::MulAdd(v.weights, v8::IfThenElseZero(v.counts, v.logs), entropy);
    lost = v8::Or(lost, v8::And(v.counts, v8::Eq(v.weights, zero)));
  }
  RowSums sums;
  sums.keys = sum_of(keys);
  sums.active = sum_of(active);
  sums.largest = tops.weight;
  sums.log_smallest = min_of(smallest);
  sums.log_sum = sum_of(logs);
  sums.minus_entropy = sum_of(entropy);
  sums.underflowed = !by_logits && !v8::AllFalse(d, lost);
  const float tied = sum_of(ties);
  sums.log_second = tied > 1 ? v8::GetLane(log_top) : max_of(runner_up);

  Vec8 first = zero, second = zero, third = zero, fourth = zero;
  const Vec8 log_second = v8::Set(d, sums.log_second), floor = v8::Set(d, kSmallestFloat);
  // Times 2^60 first: the inverse of a denormal weight would overflow.
  const Vec8 lift = v8::Set(d, 1.152921504606846976e18F);
  const float unit = tied > 1 ? tops.weight : max_of(second_weight);
  const Vec8 inverse = v8::Div(one, v8::Mul(v8::Max(v8::Set(d, unit), floor), lift));
  for (std::size_t key = 0; key < row.keys; key += kLanes8) {
    Vec8 x;
    if (by_logits) {
      const KeyVector v = key_vector(row, key, tops, log_top);
      x = v8::IfThenElseZero(v8::And(v.counts, v8::Lt(v.logs, log_top)), exp_of(v8::Sub(v.logs, log_second)));
    } else {
      const Vec8 w = v8::Max(load_some(row.weights + key, row.keys - key), floor);
      const Mask8 other = v8::And(counting(row, key), v8::Lt(w, top_weight));
      x = v8::IfThenElseZero(other, v8::Mul(v8::Mul(w, lift), inverse));
    }
    const Vec8 x2 = v8::Mul(x, x);
    first = v8::Add(first, x);
    second = v8::Add(second, x2);
    third = v8::MulAdd(x2, x, third);
    fourth = v8::MulAdd(x2, x2, fourth);
  }
  // Of several equal largest weights one is split off; the rest are others, each one unit.
  const float more = tied > 1 ? tied - 1 : 0;
  sums.others = sum_of(first) + more;
  sums.others2 = sum_of(second) + more;
  sums.others3 = sum_of(third) + more;
  sums.others4 = sum_of(fourth) + more;
  return sums;
}

}  // namespace
}  // namespace eureka::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace eureka {

HWY_EXPORT(sums_now);

namespace {

constexpr float kLn10 = 2.302585093F;

// The moments and bounds of theory/row_spectrum.h, in units of the second largest weight t.
AttentionRowStatistics from_sums(const RowSums& sums) {
  AttentionRowStatistics s;
  s.keys = sums.keys;
  s.active = sums.active;
  s.underflowed = sums.underflowed;
  if (sums.keys < 2) return s;
  const double n = sums.keys, m = sums.largest, m2 = m * m, t = std::exp(sums.log_second);
  const double w = sums.others, q2 = sums.others2, q3 = sums.others3, q4 = sums.others4, mw = m * w;
  const double trace = mw + w - t * q2;
  const double square = mw * mw + q2 * (1 + 2 * m2 + t * t * q2) - 2 * t * q3;
  const double cube = mw * mw * mw + 3 * m2 * m * w * q2 + (1 + 3 * m2) * q3 - 3 * t * q4 + 3 * t * t * q2 * q3 -
                      3 * t * m2 * q2 * q2 - t * t * t * q2 * q2 * q2;
  const double root = std::sqrt(square), share = n / (n - 1);
  const double low = std::max(std::max(share * mw, 0.5 * (mw + 1 - t) + m), std::max(square / trace, cube / square));
  double high = std::min(std::min(2 * mw, trace), std::min(root, std::cbrt(cube)));
  if (t * high > m) high = m / t;
  const double smallest = std::exp(sums.log_smallest), above_smallest = share * (1 - smallest);
  const float log_ratio = sums.log_second - sums.log_smallest;
  s.trace = static_cast<float>(t * trace);
  s.frobenius = static_cast<float>(t * root);
  s.effective_rank = static_cast<float>(trace * trace / square);
  s.largest_low = static_cast<float>(t * low);
  s.largest_high = static_cast<float>(t * high);
  s.smallest_low = static_cast<float>(smallest);
  s.smallest_high = static_cast<float>(smallest * above_smallest);
  s.log10_kappa_low = std::max(0.0F, (log_ratio + std::log(static_cast<float>(low / above_smallest))) / kLn10);
  s.log10_kappa_high = (log_ratio + std::log(static_cast<float>(high))) / kLn10;
  s.log_pseudo_determinant = sums.log_sum + std::log(sums.keys);
  s.entropy = -sums.minus_entropy;
  s.participation = static_cast<float>(1 / (m2 + t * t * q2));
  return s;
}

StatisticSummary summary_of(std::vector<float>& values) {
  StatisticSummary summary;
  if (values.empty()) return summary;
  double sum = 0;
  for (const float v : values) sum += v;
  summary.mean = static_cast<float>(sum / static_cast<double>(values.size()));
  const auto percentile = [&](std::size_t percent) {
    const auto place = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) * percent / 100);
    std::nth_element(values.begin(), place, values.end());
    return *place;
  };
  summary.percentile_5 = percentile(5);
  summary.median = percentile(50);
  summary.percentile_95 = percentile(95);
  return summary;
}

}  // namespace

AttentionRowStatistics attention_statistics(const StatisticsRow& row, float threshold) {
  return from_sums(HWY_DYNAMIC_DISPATCH(sums_now)(row, threshold));
}

HeadStatistics summarize(std::span<const AttentionRowStatistics> rows) {
  HeadStatistics head;
  double degrees = 0;
  for (const AttentionRowStatistics& row : rows) {
    if (row.keys < 2) continue;
    ++head.rows;
    head.underflowed += row.underflowed ? 1 : 0;
    degrees += std::max(0.0F, row.active - 1);
  }
  head.active_degrees = static_cast<std::size_t>(degrees);
  std::vector<float> values;
  values.reserve(head.rows);
  const auto fill = [&](StatisticSummary HeadStatistics::*summary, float AttentionRowStatistics::*value) {
    values.clear();
    for (const AttentionRowStatistics& row : rows)
      if (row.keys >= 2) values.push_back(row.*value);
    head.*summary = summary_of(values);
  };
  fill(&HeadStatistics::trace, &AttentionRowStatistics::trace);
  fill(&HeadStatistics::frobenius, &AttentionRowStatistics::frobenius);
  fill(&HeadStatistics::effective_rank, &AttentionRowStatistics::effective_rank);
  fill(&HeadStatistics::largest_low, &AttentionRowStatistics::largest_low);
  fill(&HeadStatistics::largest_high, &AttentionRowStatistics::largest_high);
  fill(&HeadStatistics::smallest_low, &AttentionRowStatistics::smallest_low);
  fill(&HeadStatistics::smallest_high, &AttentionRowStatistics::smallest_high);
  fill(&HeadStatistics::log10_kappa_low, &AttentionRowStatistics::log10_kappa_low);
  fill(&HeadStatistics::log10_kappa_high, &AttentionRowStatistics::log10_kappa_high);
  fill(&HeadStatistics::log_pseudo_determinant, &AttentionRowStatistics::log_pseudo_determinant);
  fill(&HeadStatistics::entropy, &AttentionRowStatistics::entropy);
  fill(&HeadStatistics::participation, &AttentionRowStatistics::participation);
  fill(&HeadStatistics::active, &AttentionRowStatistics::active);
  return head;
}

}  // namespace eureka
#endif
