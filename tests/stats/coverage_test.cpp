// A quick look at the coverage of the 95% intervals; coverage_slow_test.cpp measures it properly and prints the table
// of docs/statistics.md.
#include "stats/coverage.h"

namespace eureka {
namespace {

constexpr std::uint64_t kReplications = 500;

TEST(Coverage, OfTheRateIsRightOnAverageOverRates) {
  for (const int n : {10, 20}) {
    const WilsonCoverage coverage = wilson_coverage_over_rates(n);
    EXPECT_GT(coverage.mean, 0.93);
    EXPECT_LT(coverage.mean, 0.97);
  }
}

TEST(Coverage, OfCurveMedianAndRestrictedMeanIsNearItsLevel) {
  const Setting censored = settings()[1];
  ASSERT_EQ(censored.name, "20% censored");
  const CurveCoverage coverage = measure_curve(censored, 10, kReplications);
  coverage.mean.expect_within(0.93, 0.97);
  coverage.median.expect_within(0.93, 0.97);
  coverage.pointwise.expect_within(0.93, 0.97);
}

TEST(Coverage, OfTheSpeedUpIsNearItsLevel) {
  measure_speedup(settings()[1], 2, 0.6, 10, kReplications, 400).expect_within(0.93, 0.97);
}

TEST(Coverage, OfTheHazardRatioIsNearItsLevel) {
  measure_hazard(2, 0.2, 10, kReplications).interval.expect_within(0.93, 0.97);
  measure_hazard(1, 0.2, 10, kReplications).log_rank.expect_within(0.93, 0.97);
}

}  // namespace
}  // namespace eureka
