#include "stats/kaplan_meier.h"

#include <gtest/gtest.h>

#include <cmath>

#include "stats/pointwise_intervals.h"
#include "stats/published_data.h"

namespace eureka {
namespace {

TEST(KaplanMeier, MatchesFreireichLeukaemiaTrial) {
  const SurvivalCurve treated(freireich_6mp(), 40), placebo(freireich_placebo(), 40);
  const std::vector<std::pair<double, double>> printed = {{6, 0.8571},  {7, 0.8067},  {10, 0.7529}, {13, 0.6902},
                                                          {16, 0.6275}, {22, 0.5378}, {23, 0.4482}};
  ASSERT_EQ(treated.steps().size(), printed.size());
  for (std::size_t i = 0; i < printed.size(); ++i) {
    EXPECT_EQ(treated.steps()[i].time, printed[i].first);
    EXPECT_NEAR(treated.steps()[i].survival, printed[i].second, 5e-5);
  }
  EXPECT_EQ(treated.median(), 23);
  EXPECT_EQ(placebo.median(), 8);
  EXPECT_EQ(treated.events(), 9U);
  EXPECT_NEAR(std::sqrt(treated.steps()[0].variance), 0.0764, 5e-5);  // Greenwood
  EXPECT_NEAR(std::sqrt(treated.steps()[6].variance), 0.1346, 5e-5);
  EXPECT_NEAR(*placebo.restricted_mean(), 182.0 / 21, 1e-9);  // no censoring: the plain mean, 8.667 weeks
}

TEST(KaplanMeier, IsThePlainMeanAndStudentsVarianceWithoutEarlyCensoring) {
  const SurvivalCurve curve(times_from({2, 3, 3, 7, -10, -10}), 10);
  EXPECT_NEAR(*curve.restricted_mean(), 35.0 / 6, 1e-12);
  // sum of squares about the mean over n - 1, over n
  EXPECT_NEAR(*curve.restricted_mean_variance(), (271 - 35.0 * 35 / 6) / 5 / 6, 1e-12);
}

TEST(KaplanMeier, PointwiseIntervalIsWilsonsWithoutEarlyCensoring) {
  const SurvivalCurve curve(times_from({2, 3, 3, 7, -10, -10}), 10);
  EXPECT_NEAR(interval_at(curve, 3).low, wilson_interval(3, 6).low, 1e-12);
  EXPECT_NEAR(interval_at(curve, 9).high, wilson_interval(2, 6).high, 1e-12);
  EXPECT_NEAR(interval_at(curve, 1).low, wilson_interval(6, 6).low, 1e-12);
  EXPECT_FALSE(log_log_at(curve, 1));
}

TEST(KaplanMeier, CutsAtTheHorizon) {
  const SurvivalCurve curve(times_from({2, 8, 20, -30}), 10);
  EXPECT_EQ(curve.events(), 2U);
  EXPECT_NEAR(*curve.restricted_mean(), (2 + 8 + 10 + 10) / 4.0, 1e-12);
  EXPECT_EQ(SurvivalCurve(times_from({10}), 10).events(), 1U) << "an event at the horizon itself counts";
}

TEST(KaplanMeier, MedianIntervalHoldsTheMedianAndIsOpenWhenTheCurveIs) {
  const SurvivalCurve treated(freireich_6mp(), 40);
  const OpenInterval interval = treated.median_interval();
  ASSERT_TRUE(interval.low);
  EXPECT_GE(*interval.low, 10);
  EXPECT_LE(*interval.low, 16);  // printed: 13 by the step-wise rule
  EXPECT_FALSE(interval.high);
  const OpenInterval placebo = SurvivalCurve(freireich_placebo(), 40).median_interval();
  EXPECT_NEAR(*placebo.low, 4, 1);  // printed: 4 to 11 by the step-wise rule
  EXPECT_NEAR(*placebo.high, 11, 1);
}

TEST(KaplanMeier, IsDefinedForNothingOneAndNoEvents) {
  const SurvivalCurve none({}, 10);
  EXPECT_EQ(none.n(), 0U);
  EXPECT_EQ(none.at(5), 1);
  EXPECT_FALSE(none.median());
  EXPECT_FALSE(none.restricted_mean());
  EXPECT_FALSE(none.restricted_mean_interval());
  EXPECT_FALSE(none.median_interval().low);
  EXPECT_EQ(interval_at(none, 3).low, 0);

  const SurvivalCurve one(times_from({4}), 10);
  EXPECT_EQ(one.median(), 4);
  EXPECT_EQ(one.restricted_mean(), 4);
  EXPECT_FALSE(one.restricted_mean_interval());
  EXPECT_GT(interval_at(one, 4).high, 0.5) << "one run proves little";

  const SurvivalCurve stuck(times_from({-10, -10, -10, -10, -10}), 10);
  EXPECT_FALSE(stuck.median());
  EXPECT_EQ(stuck.restricted_mean(), 10);
  EXPECT_NEAR(stuck.restricted_mean_interval()->low, 10 * wilson_interval(5, 5).low, 1e-12);
  EXPECT_EQ(stuck.restricted_mean_interval()->high, 10);

  const SurvivalCurve at_once(times_from({4, 4, 4, 4, 4, 4}), 10);
  EXPECT_EQ(at_once.median(), 4);
  EXPECT_NEAR(*at_once.restricted_mean(), 4, 1e-12);
  EXPECT_FALSE(at_once.restricted_mean_interval());
  EXPECT_EQ(at_once.median_interval().low, 4);
  EXPECT_EQ(at_once.median_interval().high, 4);
}

TEST(KaplanMeier, MedianIsHalfWayAlongALevelStretchAtOneHalf) {
  EXPECT_EQ(SurvivalCurve(times_from({1, 2, 6, 8}), 10).median(), 4);
  EXPECT_EQ(SurvivalCurve(times_from({1, 2, -10, -10}), 10).median(), 6) << "no later event: to the last time observed";
  EXPECT_EQ(SurvivalCurve(times_from({400, 500, -1000, -1000}), 2500).median(), 750) << "quantile() of R 3.5.3 says so";
  EXPECT_FALSE(SurvivalCurve(times_from({1, -10, -10, -10}), 10).median());
}

}  // namespace
}  // namespace eureka
