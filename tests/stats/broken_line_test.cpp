#include "stats/broken_line.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "base/random.h"

namespace eureka {
namespace {

using Values = std::vector<double>;

double residual_of_line(const Values& x, const Values& v, const Values& w, std::size_t begin, std::size_t end) {
  double n = 0, mx = 0, mv = 0, xx = 0, xv = 0, sum = 0;
  for (std::size_t i = begin; i < end; ++i) n += w[i], mx += w[i] * x[i], mv += w[i] * v[i];
  mx /= n, mv /= n;
  for (std::size_t i = begin; i < end; ++i)
    xx += w[i] * (x[i] - mx) * (x[i] - mx), xv += w[i] * (x[i] - mx) * (v[i] - mv);
  const double slope = xx > 0 ? xv / xx : 0;
  for (std::size_t i = begin; i < end; ++i) sum += w[i] * std::pow(v[i] - mv - slope * (x[i] - mx), 2);
  return sum;
}

// Every way to cut n points into pieces: the reference of the dynamic program.
double cheapest_by_trying_all(const Values& x, const Values& v, const Values& w, double penalty) {
  const std::size_t n = x.size();
  double cheapest = std::numeric_limits<double>::infinity();
  for (unsigned cuts = 0; cuts < (1U << (n - 1)); ++cuts) {
    double cost = 0;
    std::size_t begin = 0;
    for (std::size_t end = 1; end <= n; ++end) {
      if (end < n && !(cuts >> (end - 1) & 1U)) continue;
      cost += penalty + residual_of_line(x, v, w, begin, end);
      begin = end;
    }
    cheapest = std::min(cheapest, cost);
  }
  return cheapest;
}

TEST(BrokenLine, IsTheCheapestOfAllSegmentations) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    RandomStream random(seed, "broken-line-test");
    Values x, v, weights;
    for (int i = 0; i < 12; ++i) {
      weights.push_back(seed % 2 ? 0.1 + random.uniform() : 1.0);
      x.push_back(i / 12.0 + 0.02 * random.uniform());
      v.push_back((i >= 5 ? 1.0 : 0.0) + 0.3 * random.normal());
    }
    for (const double penalty : {0.01, 0.1, 0.5}) {
      const BrokenLine line = fit_broken_line(x, v, weights, penalty);
      double cost = 0;
      for (std::size_t i = 0; i < x.size(); ++i) cost += weights[i] * std::pow(v[i] - line.fit[i], 2);
      const double reference = cheapest_by_trying_all(x, v, weights, penalty);
      EXPECT_NEAR(cost + penalty * static_cast<double>(line.pieces.size()), reference, 1e-9)
          << seed << ", penalty " << penalty;
    }
  }
}

TEST(BrokenLine, PutsItsCornersWhereTheCurveHasThem) {
  std::vector<double> x, v;
  for (int i = 0; i < 60; ++i) {
    x.push_back(i / 60.0);
    v.push_back(i < 20 ? 0.1 : i < 30 ? 0.15 + 0.07 * (i - 20) : 0.95);
  }
  const BrokenLine line = fit_broken_line(x, v, Values(x.size(), 1), 1e-4);
  ASSERT_EQ(line.pieces.size(), 3U);
  EXPECT_EQ(line.pieces[1].first, 20U);
  EXPECT_EQ(line.pieces[1].last, 29U);
  for (std::size_t i = 0; i < x.size(); ++i) EXPECT_NEAR(line.fit[i], v[i], 1e-9);
}

TEST(BrokenLine, IsOneLevelPieceThroughWhiteNoise) {
  int more_pieces = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    RandomStream random(seed, "broken-line-test");
    std::vector<double> x, v;
    for (int i = 0; i < 100; ++i) x.push_back(i / 100.0), v.push_back(random.normal());
    more_pieces += fit_broken_line(x, v, Values(100, 1), 4 * std::log(100.0)).pieces.size() > 1;
  }
  EXPECT_LE(more_pieces, 10);
}

TEST(NoiseLevel, IsTheStandardDeviationWhateverTheCurveBelow) {
  RandomStream random(3, "broken-line-test");
  std::vector<double> x, v;
  for (int i = 0; i < 2000; ++i) {
    x.push_back(i + 0.3 * random.uniform());
    v.push_back(0.002 * i + (i > 700 ? 5 : 0) + 0.2 * random.normal() + (i % 50 == 0 ? 30 : 0));
  }
  EXPECT_NEAR(noise_level(x, v), 0.2, 0.02);
  EXPECT_EQ(noise_level({}, {}), 0);
}

TEST(LocalNoise, IsThatOfTheNeighborhoodAndNowhereLessThanThatOfTheWhole) {
  RandomStream random(4, "broken-line-test");
  Values x, v;  // a restless plateau, a drop, and calm
  for (int i = 0; i < 400; ++i) {
    x.push_back(i);
    v.push_back(i < 100 ? 3 + 0.5 * random.normal() : 1 + 0.01 * random.normal());
  }
  const double whole = noise_level(x, v);
  const Values noise = local_noise(x, v);
  ASSERT_EQ(noise.size(), v.size());
  EXPECT_LT(whole, 0.05);
  EXPECT_NEAR(noise[50], 0.5, 0.25);
  EXPECT_EQ(noise[300], whole);
  EXPECT_EQ(local_noise(x, v, /*short_log=*/true)[50], noise_level(x, v, true));
  EXPECT_EQ(local_noise(Values{0, 1}, Values{0, 1}), Values(2, 0.0));
}

TEST(WithoutSpikes, RemovesThreeKeepsFourAndKeepsEdges) {
  const std::vector<double> edge = {0, 0, 0, 0, 0, 1, 1, 1, 1, 1};
  EXPECT_EQ(without_spikes(edge, Values(10, 0.1)), edge);
  std::vector<double> three(20, 0.0), four(20, 0.0);
  for (std::size_t i = 8; i < 11; ++i) three[i] = 1;
  for (std::size_t i = 8; i < 12; ++i) four[i] = 1;
  EXPECT_EQ(without_spikes(three, Values(20, 0.1)), std::vector<double>(20, 0.0));
  EXPECT_EQ(without_spikes(four, Values(20, 0.1)), four);
  EXPECT_EQ(without_spikes(three, Values(20, 2)), three);  // within what the noise there explains
}

}  // namespace
}  // namespace eureka
