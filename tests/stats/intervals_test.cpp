#include "stats/intervals.h"

#include <gtest/gtest.h>

#include <vector>

#include "stats/distributions.h"

namespace eureka {
namespace {

TEST(Distributions, MatchPrintedTables) {
  EXPECT_NEAR(normal_quantile(0.975), 1.959963985, 1e-9);
  EXPECT_NEAR(normal_quantile(0.005), -2.575829304, 1e-9);
  EXPECT_NEAR(normal_cdf(-1.959963985), 0.025, 1e-10);
  EXPECT_NEAR(chi_square_quantile(0.95), 3.841458821, 1e-8);
  EXPECT_NEAR(chi_square_tail(6.634896601), 0.01, 1e-10);
  EXPECT_NEAR(student_t_quantile(0.975, 1), 12.7062047, 1e-6);
  EXPECT_NEAR(student_t_quantile(0.975, 9), 2.262157163, 1e-8);
  EXPECT_NEAR(student_t_quantile(0.975, 19), 2.093024054, 1e-8);
  EXPECT_NEAR(student_t_quantile(0.95, 120), 1.657650899, 1e-8);
  EXPECT_NEAR(fair_coin_cdf(1, 10), 11.0 / 1024, 1e-14);
  EXPECT_EQ(fair_coin_cdf(0, 0), 1);
}

TEST(Distributions, StudentIsCauchyForOneDegreeAndNormalForMany) {
  EXPECT_NEAR(student_t_cdf(1, 1), 0.75, 1e-12);
  EXPECT_NEAR(student_t_cdf(-2, 1e7), normal_cdf(-2), 1e-6);
}

struct PrintedInterval {
  double hits, n, low, high;
};

// Newcombe 1998, table I, method 3.
TEST(WilsonInterval, MatchesNewcombesTable) {
  for (const auto& [hits, n, low, high] : std::vector<PrintedInterval>{
           {81, 263, 0.2553, 0.3662}, {15, 148, 0.0624, 0.1605}, {0, 20, 0, 0.1611}, {1, 29, 0.0061, 0.1718}}) {
    const Interval interval = wilson_interval(hits, n);
    EXPECT_NEAR(interval.low, low, 5e-5) << hits << "/" << n;
    EXPECT_NEAR(interval.high, high, 5e-5) << hits << "/" << n;
  }
}

TEST(WilsonInterval, IsAMirrorAndDefinedAtTheEnds) {
  EXPECT_EQ(wilson_interval(0, 0).low, 0);
  EXPECT_EQ(wilson_interval(0, 0).high, 1);
  EXPECT_EQ(wilson_interval(10, 10).high, 1);
  for (int hits = 0; hits <= 10; ++hits)
    EXPECT_NEAR(wilson_interval(hits, 10).low, 1 - wilson_interval(10 - hits, 10).high, 1e-12);
}

// Student's own sleep data (1908): extra sleep 0.7 -1.6 ..., mean 0.75; 95% from -0.53 to 2.03.
TEST(MeanInterval, MatchesStudentsSleepData) {
  const auto interval = mean_interval(std::vector<double>{0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0});
  ASSERT_TRUE(interval);
  EXPECT_NEAR(interval->low, -0.5297804, 1e-6);
  EXPECT_NEAR(interval->high, 2.0297804, 1e-6);
  EXPECT_FALSE(mean_interval(std::vector<double>{1.0}));
  EXPECT_FALSE(mean_interval({}));
}

}  // namespace
}  // namespace eureka
