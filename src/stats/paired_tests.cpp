#include "stats/paired_tests.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/error.h"
#include "stats/distributions.h"

namespace eureka {
namespace {

constexpr std::size_t kMostExactPairs = 50;

struct Ranked {
  double magnitude = 0;
  bool positive = false;
  double rank = 0;
};

// Equal magnitudes share the mean of their ranks. Returns the sum of t^3 - t over groups of t equal ones.
double assign_ranks(std::vector<Ranked>& items) {
  std::sort(items.begin(), items.end(), [](const Ranked& a, const Ranked& b) { return a.magnitude < b.magnitude; });
  double tie_term = 0;
  for (std::size_t i = 0; i < items.size();) {
    std::size_t end = i;
    while (end < items.size() && items[end].magnitude == items[i].magnitude) ++end;
    const double shared = 0.5 * static_cast<double>(i + 1 + end);
    const auto equal = static_cast<double>(end - i);
    tie_term += equal * equal * equal - equal;
    for (; i < end; ++i) items[i].rank = shared;
  }
  return tie_term;
}

// Every assignment of signs is equally likely. Ranks are doubled so that shared ones are whole.
double exact_p(const std::vector<Ranked>& items, double positive_sum) {
  const std::size_t largest = items.size() * (items.size() + 1);
  std::vector<double> ways(largest + 1, 0.0);
  ways[0] = 1;
  for (const Ranked& item : items) {
    const auto rank = static_cast<std::size_t>(std::lround(2 * item.rank));
    for (std::size_t sum = largest; sum >= rank; --sum) ways[sum] += ways[sum - rank];
  }
  const auto observed = static_cast<std::size_t>(std::lround(2 * positive_sum));
  double below = 0, above = 0;
  for (std::size_t sum = 0; sum <= largest; ++sum) {
    if (sum <= observed) below += ways[sum];
    if (sum >= observed) above += ways[sum];
  }
  return std::min(1.0, 2 * std::min(below, above) * std::exp2(-static_cast<double>(items.size())));
}

double normal_p(double pairs, double positive_sum, double tie_term) {
  const double excess = std::abs(positive_sum - pairs * (pairs + 1) / 4);
  const double variance = pairs * (pairs + 1) * (2 * pairs + 1) / 24 - tie_term / 48;
  const double z = std::max(0.0, excess - 0.5) / std::sqrt(variance);
  return std::min(1.0, 2 * normal_cdf(-z));
}

}  // namespace

SignTest sign_test(std::size_t positive, std::size_t negative) {
  const double tail = fair_coin_cdf(std::min(positive, negative), positive + negative);
  return {positive, negative, std::min(1.0, 2 * tail)};
}

SignedRank signed_rank_test(std::span<const double> differences) {
  std::vector<Ranked> items;
  for (const double difference : differences) {
    EUREKA_CHECK(std::isfinite(difference), "a difference must be a number");
    if (difference != 0) items.push_back({std::abs(difference), difference > 0});
  }
  const double tie_term = assign_ranks(items);
  SignedRank result{.pairs = items.size(), .exact = items.size() <= kMostExactPairs};
  for (const Ranked& item : items) result.positive_sum += item.positive ? item.rank : 0;
  if (items.empty()) return result;
  result.p = result.exact ? exact_p(items, result.positive_sum)
                          : normal_p(static_cast<double>(items.size()), result.positive_sum, tie_term);
  return result;
}

}  // namespace eureka
