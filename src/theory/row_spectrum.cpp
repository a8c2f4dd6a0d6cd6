#include "theory/row_spectrum.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"

namespace eureka::theory {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// Where an increasing function that is negative at 0+ and positive at `end` crosses zero, to relative precision.
template <class Function>
double crossing(double end, const Function& f) {
  double low = 0, high = end;
  for (int i = 0; i < 300 && high - low > 2e-16 * high; ++i) {
    const double middle = 0.5 * (low + high);
    if (middle <= low || middle >= high) break;
    (f(middle) > 0 ? high : low) = middle;
  }
  return 0.5 * (low + high);
}

}  // namespace

RowSpectrum::RowSpectrum(const Vector& log_weights) {
  EUREKA_CHECK(log_weights.size() > 0, "a row without tokens has no spectrum");
  std::vector<double> ascending(log_weights.begin(), log_weights.end());
  std::sort(ascending.begin(), ascending.end());

  log_eigenvalues_.push_back(-kInfinity);
  std::vector<double> distinct, count;
  for (const double log_weight : ascending) {
    if (log_weight == -kInfinity || (!distinct.empty() && log_weight == distinct.back())) {
      log_eigenvalues_.push_back(log_weight);
      if (!count.empty()) count.back() += 1;
    } else {
      distinct.push_back(log_weight);
      count.push_back(1);
    }
  }
  for (std::size_t gap = 0; gap + 1 < distinct.size(); ++gap)
    log_eigenvalues_.push_back(root_between(distinct, count, gap));
  std::sort(log_eigenvalues_.begin(), log_eigenvalues_.end());
}

// sum_i a_i / (a_i - lambda) = 0 with lambda = a[pole] e^x is sum_i -1 / expm1(x - ln(a_i / a[pole])) = 0: differences
// of logarithms only, so it neither cancels near the pole nor underflows.
double RowSpectrum::root_between(const std::vector<double>& distinct, const std::vector<double>& count,
                                 std::size_t gap) {
  const double below = distinct[gap], above = distinct[gap + 1], width = above - below;
  const auto secular = [&](double log_pole, double x) {
    double sum = 0;
    for (std::size_t i = 0; i < distinct.size(); ++i) sum -= count[i] / std::expm1(x - (distinct[i] - log_pole));
    return sum;
  };
  if (secular(below, 0.5 * width) > 0)
    return below + crossing(0.5 * width, [&](double x) { return secular(below, x); });
  // Seen from the upper pole the function of the distance decreases.
  return above - crossing(0.5 * width, [&](double x) { return -secular(above, -x); });
}

double RowSpectrum::eigenvalue(Index k) const { return std::exp(log_eigenvalue(k)); }

Vector RowSpectrum::eigenvalues() const {
  Vector values(size());
  for (Index k = 0; k < size(); ++k) values[k] = eigenvalue(k);
  return values;
}

double RowSpectrum::log_kappa() const {
  if (size() < 2) return kNaN;
  return size() == 2 ? 0 : log_eigenvalue(size() - 1) - log_eigenvalue(1);
}

RowStatistics row_statistics(const Vector& log_weights) {
  const Index tokens = log_weights.size();
  EUREKA_CHECK(tokens > 0, "a row without tokens has no statistics");
  RowStatistics s;
  s.tokens = tokens;
  Index top = 0;
  const double log_m = log_weights.maxCoeff(&top);
  const double m = s.largest = std::exp(log_m), n = static_cast<double>(tokens);
  if (tokens == 1) {
    s.participation = 1;
    s.effective_rank = s.log_pseudo_determinant = kNaN;
    s.log_largest = s.log_smallest = s.log_kappa = {kNaN, kNaN};
    return s;
  }

  double log_t = -kInfinity, log_min = kInfinity;
  for (Index i = 0; i < tokens; ++i) {
    if (i != top) log_t = std::max(log_t, log_weights[i]);
    log_min = std::min(log_min, log_weights[i]);
    if (log_weights[i] > -kInfinity) s.entropy -= std::exp(log_weights[i]) * log_weights[i];
  }
  s.log_pseudo_determinant = std::log(n) + log_weights.sum();
  if (log_t == -kInfinity) {
    // Exactly one-hot: J = 0.
    s.participation = 1;
    s.effective_rank = kNaN;
    s.log_largest = s.log_smallest = {-kInfinity, -kInfinity};
    s.log_kappa = {kNaN, kNaN};
    return s;
  }
  // Powers of the others in units of t, the second largest weight.
  double w = 0, q2 = 0, q3 = 0, q4 = 0;
  for (Index i = 0; i < tokens; ++i) {
    if (i == top) continue;
    const double x = std::exp(log_weights[i] - log_t), x2 = x * x;
    w += x;
    q2 += x2;
    q3 += x2 * x;
    q4 += x2 * x2;
  }
  const double t = std::exp(log_t), m2 = m * m, mw = m * w;
  const double trace = mw + w - t * q2;
  const double square = mw * mw + q2 * (1 + 2 * m2 + t * t * q2) - 2 * t * q3;
  const double cube = mw * mw * mw + 3 * m2 * m * w * q2 + (1 + 3 * m2) * q3 - 3 * t * q4 + 3 * t * t * q2 * q3 -
                      3 * t * m2 * q2 * q2 - t * t * t * q2 * q2 * q2;
  const double root = std::sqrt(square);
  s.rest = t * w;
  s.trace = t * trace;
  s.frobenius = t * root;
  s.cube_trace = t * t * t * cube;
  s.effective_rank = trace * trace / square;
  s.participation = 1 / (m2 + t * t * q2);
  s.log_largest.low =
      log_t + std::log(std::max({n / (n - 1) * mw, 0.5 * (mw + 1 - t) + m, square / trace, cube / square}));
  s.log_largest.high = std::min(log_m, log_t + std::log(std::min({2 * mw, trace, root, std::cbrt(cube)})));
  s.log_smallest.low = log_min;
  s.log_smallest.high = log_min + std::log(n / (n - 1)) + std::log1p(-std::exp(log_min));
  s.log_kappa = {std::max(0.0, s.log_largest.low - s.log_smallest.high), s.log_largest.high - s.log_smallest.low};
  return s;
}

}  // namespace eureka::theory
