#include "diagnostics/row_jacobian.h"

#include <algorithm>
#include <cmath>

#include "base/exact_math.h"

namespace eureka {
namespace {

constexpr double kLn10 = 2.302585092994045684;
// Stands for what is too large for a double: far beyond every ratio that still matters.
constexpr double kHuge = 1e280;

double bounded_exp(double x) { return x > 640 ? kHuge : exact::exp(x); }

// A root of f between two ends where it has different signs, to rounding: regula falsi that halves the value of an end
// which stays (Illinois), with a bisection whenever that shortens the interval too little.
template <class Function>
double root_between(double low, double high, const Function& f) {
  double f_low = f(low), f_high = f(high);
  if (f_low == 0 || !(low < high)) return low;
  if (f_high == 0) return high;
  if ((f_low < 0) == (f_high < 0)) return std::abs(f_low) < std::abs(f_high) ? low : high;
  constexpr int kMostSteps = 200;
  constexpr double kClose = 1e-13;
  bool bisect = false;
  for (int step = 0; step < kMostSteps && high - low > kClose * high; ++step) {
    const double width = high - low;
    double middle = bisect ? low + width / 2 : low + width * (f_low / (f_low - f_high));
    if (!(middle > low && middle < high)) middle = low + width / 2;
    if (!(middle > low && middle < high)) break;
    const double f_middle = f(middle);
    if (f_middle == 0) return middle;
    if ((f_middle < 0) == (f_low < 0)) {
      low = middle;
      f_low = f_middle;
      f_high /= 2;
    } else {
      high = middle;
      f_high = f_middle;
      f_low /= 2;
    }
    bisect = high - low > width / 2;
  }
  return low + (high - low) / 2;
}

// Shares p_i of the keys, and what is left of the whole (softmax_one): J = diag(p) - p p'. One key with the largest
// share stands apart; the others are in units of the second largest.
class Shares {
 public:
  // logs: ln p up to a constant; `rest` likewise, -infinity where nothing is left.
  Shares(const std::vector<double>& logs, double rest) : keys_(logs.size()) {
    const std::size_t top = static_cast<std::size_t>(std::max_element(logs.begin(), logs.end()) - logs.begin());
    double second = -kHuge, least = kHuge;
    for (std::size_t i = 0; i < keys_; ++i) {
      least = std::min(least, logs[i]);
      if (i != top) second = std::max(second, logs[i]);
    }
    others_.reserve(keys_);
    for (std::size_t i = 0; i < keys_; ++i)
      if (i != top) others_.push_back(exact::exp(logs[i] - second));
    rest_ = rest < -kHuge ? 0 : bounded_exp(rest - second);
    top_ = bounded_exp(logs[top] - second);
    for (const double r : others_) {
      sum_ += r;
      square_ += r * r;
      fourth_ += r * r * r * r;
    }
    const double whole = top_ + sum_ + rest_;
    largest_ = top_ / whole;
    log_unit_ = -exact::log(whole);
    unit_ = 1 / whole;
    log_least_ = log_unit_ + least - second;
    inverse_.reserve(keys_);
    // p_least / p_i: from the shares unless the smallest has underflowed.
    const double smallest = *std::min_element(others_.begin(), others_.end());
    const bool direct = smallest > 1e-250;
    bool skipped = false;
    for (std::size_t i = 0; i < keys_; ++i) {
      if (!skipped && logs[i] == least) {
        skipped = true;
        continue;
      }
      const double ratio = i == top ? (direct ? smallest / top_ : exact::exp(least - logs[i]))
                                    : (direct ? smallest / others_[i < top ? i : i - 1] : exact::exp(least - logs[i]));
      inverse_.push_back(std::min(1.0, ratio));
    }
    rest_by_least_ = rest_ == 0 ? 0 : bounded_exp(rest - least);
  }

  double unit() const { return unit_; }
  double trace_in_units() const {
    double trace = largest_ * (sum_ + rest_);
    for (const double r : others_) trace += r * (1 - unit_ * r);
    return trace;
  }
  double square_in_units() const {
    const double apart = largest_ * (sum_ + rest_);
    double square = apart * apart + 2 * largest_ * largest_ * square_ + unit_ * unit_ * (square_ * square_ - fourth_);
    for (const double r : others_) square += (r * (1 - unit_ * r)) * (r * (1 - unit_ * r));
    return square;
  }
  double sum_of_squares() const { return largest_ * largest_ + unit_ * unit_ * square_; }

  RowJacobian::Extremes extremes() const {
    const double top = largest_in_units(), least = smallest_by_least();
    const double log_largest = log_unit_ + exact::log(top), log_smallest = log_least_ + exact::log(least);
    return {.largest = unit_ * top,
            .smallest = exact::exp(log_smallest),
            .log10_condition = std::max(0.0, (log_largest - log_smallest) / kLn10)};
  }

 private:
  // The root of sum p_i / (p_i - lambda) = rest / lambda between the two largest shares, both poles taken out.
  double largest_in_units() const {
    double ties = 0;
    for (const double r : others_) ties += r == 1 ? 1 : 0;
    const auto f = [&](double x) {
      double others = rest_ > 0 ? -rest_ / x : 0.0;
      for (const double r : others_)
        if (r != 1) others += r / (r - x);
      const double left = 1 - x / top_;
      return (x - 1) * (1 + left * others) - ties * left;
    };
    return root_between(1.0, std::min(top_, trace_in_units()), f);
  }

  // The same between the two smallest shares, or below the smallest where something is left, in units of that share.
  double smallest_by_least() const {
    const double second = *std::max_element(inverse_.begin(), inverse_.end());
    if (rest_ > 0) {
      double ties = 1;
      for (const double q : inverse_) ties += q == 1 ? 1 : 0;
      const auto f = [&](double x) {
        double sum = 0;
        for (const double q : inverse_)
          if (q != 1) sum += 1 / (1 - x * q);
        return (1 - x) * (rest_by_least_ - x * sum) - ties * x;
      };
      return root_between(0.0, 1.0, f);
    }
    if (second == 1) return 1;
    const auto n = static_cast<double>(keys_);
    // Keys that share the second smallest share have one pole, taken out with it.
    double ties = 0;
    std::vector<double> between;
    for (const double q : inverse_)
      if (q == second)
        ++ties;
      else
        between.push_back(q);
    const auto f = [&](double x) {
      double sum = 0;
      for (const double q : between) sum += 1 / (1 - x * q);
      const double left = 1 - x * second;
      return left * (1 + (1 - x) * sum) + ties * (1 - x);
    };
    // No more than keys / (keys - 1), whatever the other shares.
    return root_between(1.0, std::min(1 / second, n / (n - 1)), f);
  }

  std::size_t keys_;
  std::vector<double> others_;   // all but the top, in units
  std::vector<double> inverse_;  // smallest share / share, of all but the smallest
  double rest_ = 0, rest_by_least_ = 0;
  double top_ = 1, largest_ = 1;  // of the top: in units, and its share
  double sum_ = 0, square_ = 0, fourth_ = 0;
  double unit_ = 1, log_unit_ = 0, log_least_ = 0;
};

std::optional<double> rank_of(double trace, double square) {
  if (!(square > 0)) return std::nullopt;
  return trace * trace / square;
}

RowJacobian of_shares(const Shares& shares) {
  const double trace = shares.trace_in_units();
  return {.trace = shares.unit() * trace,
          .effective_rank = rank_of(trace, shares.square_in_units()),
          .active_keys = 1 / shares.sum_of_squares(),
          .extremes = shares.extremes()};
}

// With a sharpness s that answers to the logits: J = s / scale * J_softmax (1 - pull c c'), c the centered logits.
RowJacobian of_normalized(const RowLaw& law, double scale, const Shares& shares, const std::vector<double>& logits,
                          const std::vector<double>& logs) {
  const auto keys = static_cast<double>(logits.size());
  double mean = 0, top = -kHuge, whole = 0, weighted = 0, length = 0;
  for (const double s : logits) mean += s / keys;
  for (const double log : logs) top = std::max(top, log);
  std::vector<double> weights;
  for (std::size_t i = 0; i < logits.size(); ++i) {
    weights.push_back(exact::exp(logs[i] - top));
    whole += weights.back();
  }
  for (std::size_t i = 0; i < logits.size(); ++i) {
    weights[i] /= whole;
    weighted += weights[i] * (logits[i] - mean);
    length += (logits[i] - mean) * (logits[i] - mean);
  }
  double along = 0, image = 0;  // c' J c and |J c|^2
  for (std::size_t i = 0; i < logits.size(); ++i) {
    const double away = logits[i] - mean - weighted;
    along += weights[i] * away * away;
    image += weights[i] * weights[i] * away * away;
  }
  const double stretch = law.sharpness / scale;
  const double plain = shares.unit() * shares.trace_in_units(),
               plain_square = shares.unit() * shares.unit() * shares.square_in_units();
  const double trace = plain - law.pull * along;
  const double square = plain_square - 2 * law.pull * image + law.pull * law.pull * image * length;
  RowJacobian j{.trace = stretch * trace, .active_keys = 1 / shares.sum_of_squares()};
  // Two keys always end at plus and minus one: what is left of J is rounding.
  constexpr double kRounding = 1e-9;
  if (trace > kRounding * plain && square > kRounding * plain_square) j.effective_rank = rank_of(trace, square);
  return j;
}

RowJacobian of_sigmoid(const RowLaw& law, const std::vector<double>& logits) {
  RowJacobian j;
  double square = 0, log_largest = -kHuge, log_smallest = kHuge;
  for (const double s : logits) {
    const double u = std::abs(law.sharpness * s - law.shift);
    const double log_slope = -u - 2 * exact::log(1 + exact::exp(-u)), slope = exact::exp(log_slope);
    j.trace += slope;
    square += slope * slope;
    log_largest = std::max(log_largest, log_slope);
    log_smallest = std::min(log_smallest, log_slope);
  }
  j.effective_rank = rank_of(j.trace, square);
  j.extremes = {.largest = exact::exp(log_largest),
                .smallest = exact::exp(log_smallest),
                .log10_condition = (log_largest - log_smallest) / kLn10};
  return j;
}

// On the support J = S (diag(p) - p p') with p = sqrt(a) / S; outside of it, nothing.
RowJacobian of_entmax15(const std::vector<double>& weights) {
  std::vector<double> logs;
  double whole = 0, square = 0;
  for (const double a : weights) {
    square += a * a;
    if (a <= 0) continue;
    whole += std::sqrt(a);
    logs.push_back(exact::log(a) / 2);
  }
  RowJacobian j{.trace = 0, .active_keys = 1 / square};
  if (logs.size() < 2) return j;
  const RowJacobian shares = of_shares(Shares(logs, -2 * kHuge));
  j.trace = whole * shares.trace;
  j.effective_rank = shares.effective_rank;
  j.extremes = {.largest = whole * shares.extremes->largest,
                .smallest = whole * shares.extremes->smallest,
                .log10_condition = shares.extremes->log10_condition};
  return j;
}

bool all_finite(const std::vector<double>& values) {
  return std::ranges::all_of(values, [](double value) { return std::isfinite(value); });
}

}  // namespace

std::optional<RowJacobian> row_jacobian(const FusedRule& rule, const RowFacts& facts, double scale,
                                        const JacobianRow& row) {
  const RowForm form = rule.form();
  if (form == RowForm::other || !all_finite(row.logits) || !all_finite(row.weights)) return std::nullopt;
  if (form == RowForm::entmax15) return of_entmax15(row.weights);
  const RowLaw law = rule.law(facts);
  if (form == RowForm::sigmoid) return of_sigmoid(law, row.logits);
  std::vector<double> logs;
  logs.reserve(row.logits.size());
  for (const double s : row.logits) logs.push_back(law.sharpness * s);
  const Shares shares(logs, form == RowForm::softmax_one ? 0.0 : -2 * kHuge);
  if (rule.normalizes_rows) return of_normalized(law, scale, shares, row.logits, logs);
  RowJacobian j = of_shares(shares);
  // z is scaled logits; a rule may sharpen them beyond their scale.
  const double stretch = law.sharpness / scale;
  if (stretch == 1) return j;
  j.trace *= stretch;
  j.extremes->largest *= stretch;
  j.extremes->smallest *= stretch;
  return j;
}

}  // namespace eureka
