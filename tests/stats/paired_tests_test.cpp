#include "stats/paired_tests.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "base/random.h"
#include "stats/holm.h"

namespace eureka {
namespace {

// Hollander and Wolfe 1973: depression scale before and after a tranquilliser.
TEST(SignedRank, MatchesHollanderAndWolfesDepressionData) {
  const std::vector<double> before = {1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30};
  const std::vector<double> after = {0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29};
  std::vector<double> differences;
  for (std::size_t i = 0; i < before.size(); ++i) differences.push_back(before[i] - after[i]);
  const SignedRank test = signed_rank_test(differences);
  EXPECT_EQ(test.positive_sum, 40);
  EXPECT_TRUE(test.exact);
  EXPECT_NEAR(test.p, 2 * 0.01953125, 1e-12);
}

// Darwin 1876: heights of 15 pairs of crossed and self-fertilised maize, in eighths of an inch.
TEST(SignedRank, MatchesDarwinsMaize) {
  const SignedRank test =
      signed_rank_test(std::vector<double>{49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48});
  EXPECT_EQ(test.positive_sum, 96);
  EXPECT_NEAR(test.p, 0.04126, 5e-6);
}

// With ties the exact distribution is over signs: all 2^n of them, one by one.
TEST(SignedRank, IsExactWithTies) {
  RandomStream random(3, "tied differences");
  for (int round = 0; round < 20; ++round) {
    std::vector<double> differences;
    for (int i = 0; i < 9; ++i) differences.push_back((1.0 + random.below(4)) * (random.chance(0.7) ? 1 : -1));
    const SignedRank test = signed_rank_test(differences);
    double below = 0, above = 0;
    for (unsigned signs = 0; signs < 512; ++signs) {
      std::vector<double> flipped;
      for (unsigned i = 0; i < 9; ++i) flipped.push_back(std::abs(differences[i]) * ((signs >> i & 1) != 0 ? 1 : -1));
      const double sum = signed_rank_test(flipped).positive_sum;
      below += sum <= test.positive_sum;
      above += sum >= test.positive_sum;
    }
    EXPECT_NEAR(test.p, std::min(1.0, 2 * std::min(below, above) / 512), 1e-12);
  }
}

TEST(SignedRank, IsNearTheExactValueWhereItTurnsNormal) {
  std::vector<double> differences;
  for (int i = 1; i <= 50; ++i) differences.push_back(i % 3 == 0 ? -i : i);
  const double exact = signed_rank_test(differences).p;
  differences.push_back(0.5);
  const SignedRank normal = signed_rank_test(differences);
  EXPECT_FALSE(normal.exact);
  EXPECT_NEAR(normal.p, exact, 0.1 * exact);
}

TEST(SignedRank, LeavesOutZerosAndIsDefinedWithoutPairs) {
  EXPECT_EQ(signed_rank_test({}).p, 1);
  EXPECT_EQ(signed_rank_test(std::vector<double>{0, 0}).p, 1);
  EXPECT_EQ(signed_rank_test(std::vector<double>{0, 0, 3}).pairs, 1U);
  EXPECT_EQ(signed_rank_test(std::vector<double>{3}).p, 1);
}

TEST(SignTest, IsExactBinomial) {
  EXPECT_NEAR(sign_test(9, 1).p, 22.0 / 1024, 1e-12);
  EXPECT_NEAR(sign_test(0, 5).p, 2.0 / 32, 1e-12);
  EXPECT_EQ(sign_test(4, 4).p, 1);
  EXPECT_EQ(sign_test(0, 0).p, 1);
}

TEST(Holm, MatchesTheWorkedExample) {
  const std::vector<double> corrected = holm_corrected(std::vector<double>{0.01, 0.04, 0.03, 0.005});
  const std::vector<double> expected = {0.03, 0.06, 0.06, 0.02};
  for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(corrected[i], expected[i], 1e-12);
}

TEST(Holm, NeverExceedsOneAndLeavesASingleTestAlone) {
  EXPECT_TRUE(holm_corrected({}).empty());
  EXPECT_EQ(holm_corrected(std::vector<double>{0.2})[0], 0.2);
  for (const double p : holm_corrected(std::vector<double>{0.9, 0.8, 0.7})) EXPECT_EQ(p, 1);
}

}  // namespace
}  // namespace eureka
