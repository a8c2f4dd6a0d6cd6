// NormSoftmax: each row of logits divided by min(deviation, sqrt(d)) before softmax (Jiang 2023; Hoffmann 2024).
//   cap root-width     softmax(multiple * s / min(deviation, sqrt(d)))
//   cap inverse-scale  softmax(s / min(deviation, sqrt(d) / multiple)), as published; the same where the multiple is 1
#ifndef EUREKA_KERNELS_RULES_NORM_SOFTMAX_H_
#define EUREKA_KERNELS_RULES_NORM_SOFTMAX_H_

#include "kernels/rule_options.h"

namespace eureka {

struct NormSoftmaxOptions : RuleOptions {
  static constexpr const char* kDescription = "softmax of logits normalised by their own spread";
  static constexpr RowForm kForm = RowForm::softmax;
  static constexpr bool kNormalizesRows = true;

  enum class Deviation { std, sample_std, variance };
  friend constexpr auto enum_names(Deviation) { return std::array{"std", "sample-std", "variance"}; }
  enum class Cap { root_width, inverse_scale };
  friend constexpr auto enum_names(Cap) { return std::array{"root-width", "inverse-scale"}; }

  Deviation deviation = Deviation::std;
  Cap cap = Cap::root_width;
  double epsilon = 1e-6;
  // What the deviation of a row becomes; no option here, but of spread_softmax.
  double spread = 1;

  static constexpr bool kGradientNeedsLogits = true;

  template <class V>
  void visit(V& v) {
    v("deviation", deviation,
      "by n keys (std), by n - 1 (sample-std: the published norm_softmax_std), or variance (the published "
      "norm_softmax)");
    v("cap", cap,
      "the most that logits are divided by: sqrt(head width), the scale multiplying afterwards, or sqrt(head width) / "
      "scale.multiple and nothing afterwards, as published");
    v("epsilon", epsilon, Range{1e-12, 1}, "added to the variance, so that rows of equal logits stay finite");
  }

  bool by_variance() const { return deviation == Deviation::variance; }

  // What the sum of squares is divided by; a row of one key has none, whatever that is.
  template <class Number>
  Number degrees(Number keys) const {
    if (deviation != Deviation::sample_std || keys < 2) return keys;
    return keys - 1;
  }
  // The most that a row is divided by, and what it is multiplied by.
  template <class Number>
  Number bound(Number multiple, Number inverse_root_width) const {
    return static_cast<Number>(spread) / (cap == Cap::root_width ? inverse_root_width : multiple * inverse_root_width);
  }
  template <class Number>
  Number factor(Number multiple) const {
    return cap == Cap::root_width ? multiple * static_cast<Number>(spread) : static_cast<Number>(spread);
  }

  RowLaw law(const RowFacts& row) const {
    const double degrees_of_freedom = degrees(row.keys), most = bound(row.multiple, row.inverse_root_width);
    const double variance = row.variance * (row.keys / degrees_of_freedom) + epsilon;
    const double divisor = by_variance() ? variance : __builtin_sqrt(variance);
    if (divisor > most) return {.sharpness = row.scale()};
    // d divisor / d variance is 1, or 1 / (2 divisor); d variance = 2 / degrees * (centered logits . d logits).
    const double by_spread = by_variance() ? 2 / divisor : 1 / (divisor * divisor);
    return {.sharpness = factor(row.multiple) / divisor, .pull = by_spread / degrees_of_freedom};
  }
};

}  // namespace eureka
#endif

#ifdef EUREKA_RULE_KERNELS
HWY_BEFORE_NAMESPACE();
namespace eureka::HWY_NAMESPACE {

template <>
struct RowKernel<NormSoftmaxOptions> {
  struct Spread {
    float keys, mean, deviation, divisor;
    bool bounded;  // the divisor is its bound, not the deviation
  };

  static HWY_INLINE float scale(const NormSoftmaxOptions& options, const AttentionRow& row, const Spread& s) {
    return options.factor(row.multiple) / s.divisor;
  }

  static HWY_INLINE Spread spread(const NormSoftmaxOptions& options, const AttentionRow& row) {
    const Tag8 d;
    Spread result{};
    result.keys = visible_keys(row);
    Vec8 sum = v8::Zero(d), square = v8::Zero(d);
    for_keys(row, [&](std::size_t key, auto show)
                      HWY_ATTR { sum = v8::Add(sum, show.or_zero(v8::LoadU(d, row.logits + key))); });
    result.mean = sum_of(sum) / result.keys;
    const Vec8 mean = v8::Set(d, result.mean);
    for_keys(row, [&](std::size_t key, auto show) HWY_ATTR {
      const Vec8 c = show.or_zero(v8::Sub(v8::LoadU(d, row.logits + key), mean));
      square = v8::MulAdd(c, c, square);
    });
    const float variance = sum_of(square) / options.degrees(result.keys) + static_cast<float>(options.epsilon);
    result.deviation = options.by_variance() ? variance : __builtin_sqrtf(variance);
    const float bound = options.bound(row.multiple, row.inverse_root_width);
    result.bounded = result.deviation > bound;
    result.divisor = result.bounded ? bound : result.deviation;
    return result;
  }

  static HWY_INLINE void weights(const NormSoftmaxOptions& options, const AttentionRow& row) {
    const Spread s = spread(options, row);
    softmax_of(row, scale(options, row, s), s.mean);
  }

  static HWY_INLINE float gradient(const NormSoftmaxOptions& options, const AttentionRow& row, float* g, bool) {
    const Tag8 d;
    const Spread s = spread(options, row);
    softmax_gradient(row, scale(options, row, s), g);
    const float by_factor = along_logits(row, g, s.mean);
    if (s.bounded) return by_factor;
    // Under the published cap the scale moves nothing but the bound.
    const float by_multiple = options.cap == NormSoftmaxOptions::Cap::root_width ? by_factor : 0.0F;
    if (s.keys == 2 && !options.by_variance()) {
      // Two keys always end at plus and minus the spread: both parts below cancel but for this share.
      const Vec8 left = v8::Set(d, static_cast<float>(options.epsilon) / (s.deviation * s.deviation));
      for (std::size_t key = 0; key < row.keys; key += kLanes8)
        v8::StoreU(v8::Mul(left, v8::LoadU(d, g + key)), d, g + key);
      return by_multiple;
    }
    // Through the divisor; its own gradient has mean zero, as the softmax part has.
    const float by_divisor = -by_factor / s.divisor;
    const float by_variance = options.by_variance() ? by_divisor : by_divisor / (2 * s.deviation);
    const Vec8 slope = v8::Set(d, 2 * by_variance / options.degrees(s.keys)), center = v8::Set(d, s.mean);
    for_keys(row, [&](std::size_t key, auto show) HWY_ATTR {
      const Vec8 c = show.or_zero(v8::Sub(v8::LoadU(d, row.logits + key), center));
      v8::StoreU(v8::MulAdd(slope, c, v8::LoadU(d, g + key)), d, g + key);
    });
    return by_multiple;
  }

  // A few rows side by side.
  struct Block {
    template <std::size_t kRows>
    struct Spread {
      PerRow<kRows> mean, deviation, divisor;
    };

    template <std::size_t kRows>
    static HWY_INLINE Spread<kRows> spread(const NormSoftmaxOptions& options, const RowBlock& b) {
      const WideTag d;
      const auto keys = static_cast<float>(b.keys);
      const float per_key = 1.0F / keys, per_degree = 1.0F / options.degrees(keys);
      Spread<kRows> s;
      s.mean = sums<kRows>(b.keys, per_key, [&](std::size_t r, std::size_t key, auto show, Vec8 sum) HWY_ATTR {
        return add_eights(sum, show.or_zero(wide::LoadU(d, b.logits + r * b.stride + key)));
      });
      s.deviation = sums<kRows>(b.keys, per_degree, [&](std::size_t r, std::size_t key, auto show, Vec8 sum) HWY_ATTR {
        const WideVec c = show.or_zero(wide::Sub(wide::LoadU(d, b.logits + r * b.stride + key), s.mean[r]));
        return multiply_add_eights(c, c, sum);
      });
      const WideVec bound = wide::Set(d, options.bound(b.multiple, b.inverse_root_width));
      for (std::size_t r = 0; r < kRows; ++r) {
        const WideVec variance = wide::Add(s.deviation[r], wide::Set(d, static_cast<float>(options.epsilon)));
        s.deviation[r] = options.by_variance() ? variance : wide::Sqrt(variance);
        s.divisor[r] = wide::Min(s.deviation[r], bound);
      }
      return s;
    }

    template <std::size_t kRows>
    static HWY_INLINE PerRow<kRows> scales(const NormSoftmaxOptions& options, const RowBlock& b,
                                           const Spread<kRows>& s) {
      const WideTag d;
      const WideVec multiple = wide::Set(d, options.factor(b.multiple));
      PerRow<kRows> scale;
      for (std::size_t r = 0; r < kRows; ++r) scale[r] = wide::Div(multiple, s.divisor[r]);
      return scale;
    }

    template <std::size_t kRows>
    static HWY_INLINE void weights(const NormSoftmaxOptions& options, const RowBlock& b) {
      softmax_rows<kRows>(b, scales(options, b, spread<kRows>(options, b)));
    }

    template <std::size_t kRows>
    static HWY_INLINE void gradient(const NormSoftmaxOptions& options, const RowBlock& b, float* g) {
      const WideTag d;
      const Spread<kRows> s = spread<kRows>(options, b);
      const PerRow<kRows> scale = scales(options, b, s), mean = mean_gradients<kRows>(b, g);
      // Through the numerator of the logits, and along it: the gradient by ln(factor).
      PerRow<kRows> slope = sums<kRows>(b.keys, 1, [&](std::size_t r, std::size_t key, auto show, Vec8 sum) HWY_ATTR {
        const std::size_t at = r * b.stride + key;
        const WideVec w = wide::Mul(scale[r], wide::LoadU(d, b.weights + at));
        const WideVec own = wide::Mul(w, wide::Sub(wide::LoadU(d, g + at), mean[r]));
        wide::StoreU(own, d, g + at);
        return multiply_add_eights(own, show.or_zero(wide::Sub(wide::LoadU(d, b.logits + at), s.mean[r])), sum);
      });
      // Through the divisor, unless that is bounded.
      const WideVec bound = wide::Set(d, options.bound(b.multiple, b.inverse_root_width));
      const WideVec twice_per_degree = wide::Set(d, -2.0F / options.degrees(static_cast<float>(b.keys)));
      for (std::size_t r = 0; r < kRows; ++r) {
        const WideVec by_variance =
            options.by_variance() ? s.divisor[r] : wide::Mul(wide::Add(s.deviation[r], s.deviation[r]), s.divisor[r]);
        const WideVec free = wide::Div(wide::Mul(slope[r], twice_per_degree), by_variance);
        slope[r] = wide::IfThenZeroElse(wide::Gt(s.deviation[r], bound), free);
      }
      for_all_keys(b.keys, [&](std::size_t key, auto show) HWY_ATTR {
        for (std::size_t r = 0; r < kRows; ++r) {
          const std::size_t at = r * b.stride + key;
          const WideVec c = show.or_zero(wide::Sub(wide::LoadU(d, b.logits + at), s.mean[r]));
          wide::StoreU(wide::MulAdd(slope[r], c, wide::LoadU(d, g + at)), d, g + at);
        }
      });
    }
  };
};

}  // namespace eureka::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
