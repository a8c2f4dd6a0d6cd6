#include "base/random.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

namespace eureka {
namespace {

// Known answers of Random123's kat_vectors for philox4x32-10.
TEST(Philox, MatchesPublishedKnownAnswers) {
  EXPECT_EQ(philox({0, 0, 0, 0}, {0, 0}), (PhiloxBlock{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff}),
            (PhiloxBlock{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (PhiloxBlock{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(RandomStream, IsAFunctionOfSeedStreamAndIndex) {
  const auto first = [](std::uint64_t seed, const char* stream, std::uint64_t index) {
    return RandomStream(seed, stream, index).bits();
  };
  EXPECT_EQ(first(1, "data", 7), first(1, "data", 7));
  EXPECT_NE(first(1, "data", 7), first(2, "data", 7));
  EXPECT_NE(first(1, "data", 7), first(1, "weights", 7));
  EXPECT_NE(first(1, "data", 7), first(1, "data", 8));
}

TEST(RandomStream, NormalHasTheMomentsOfANormal) {
  std::vector<float> values(400'000);
  RandomStream(3, "normal").fill_normal(values);
  double mean = 0, square = 0, fourth = 0;
  for (const double x : values) {
    mean += x;
    square += x * x;
    fourth += x * x * x * x;
  }
  const double n = static_cast<double>(values.size());
  EXPECT_NEAR(mean / n, 0, 5 / std::sqrt(n));
  EXPECT_NEAR(square / n, 1, 5 * std::sqrt(2 / n));
  EXPECT_NEAR(fourth / n, 3, 5 * std::sqrt(96 / n));
}

TEST(RandomStream, NormalHasTheDistributionOfANormal) {
  std::vector<float> values(400'000);
  RandomStream random(9, "distribution");
  for (std::size_t i = 0; i < values.size() / 2; ++i) values[i] = random.normal();
  random.fill_normal(std::span(values).subspan(values.size() / 2));
  std::sort(values.begin(), values.end());
  double largest = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double expected = 0.5 * std::erfc(-values[i] / std::sqrt(2.0));
    largest =
        std::max(largest, std::abs(expected - (static_cast<double>(i) + 0.5) / static_cast<double>(values.size())));
  }
  EXPECT_LT(largest, 1.63 / std::sqrt(static_cast<double>(values.size())));  // Kolmogorov-Smirnov, 1%
  // 400,000 draws reach beyond 4; the half step keeps the largest possible at 5.9.
  EXPECT_GT(values.back(), 4);
  EXPECT_LT(values.back(), 5.9);
}

TEST(RandomStream, FillingInPartsOfWholeBlocksGivesTheSame) {
  std::vector<float> whole(1000), parts(1000);
  RandomStream(2, "fill").fill_normal(whole);
  RandomStream random(2, "fill");
  random.fill_normal(std::span(parts).first(400));
  random.fill_normal(std::span(parts).subspan(400));
  EXPECT_EQ(whole, parts);
}

// Golden values: no library function is behind them, so they hold on every machine.
TEST(RandomStream, NormalsAreTheSameOnEveryMachine) {
  std::vector<float> values(4);
  RandomStream(1, "golden").fill_normal(values);
  EXPECT_EQ(values, (std::vector<float>{-0.0428768508F, -1.13633358F, -0.0922998935F, 0.741086543F}));
}

TEST(RandomStream, BelowIsUniform) {
  RandomStream random(5, "below");
  constexpr int kClasses = 7;
  constexpr int kDraws = 70'000;
  std::vector<int> counts(kClasses);
  for (int i = 0; i < kDraws; ++i) ++counts[random.below(kClasses)];
  double chi_square = 0;
  for (const int count : counts) chi_square += std::pow(count - kDraws / kClasses, 2) / (kDraws / kClasses);
  EXPECT_LT(chi_square, 22.5);  // 0.1% point of chi-square with 6 degrees of freedom
}

TEST(RandomStream, ShuffleReachesEveryOrder) {
  std::map<std::vector<int>, int> seen;
  for (std::uint64_t i = 0; i < 6000; ++i) {
    std::vector<int> items = {1, 2, 3};
    RandomStream(1, "shuffle", i).shuffle(std::span(items));
    ++seen[items];
  }
  ASSERT_EQ(seen.size(), 6U);
  for (const auto& [order, count] : seen) EXPECT_NEAR(count, 1000, 150);
}

}  // namespace
}  // namespace eureka
