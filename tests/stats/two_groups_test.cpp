#include <gtest/gtest.h>

#include <cmath>

#include "stats/cox.h"
#include "stats/log_rank.h"
#include "stats/published_data.h"

namespace eureka {
namespace {

TEST(LogRank, MatchesFreireichLeukaemiaTrial) {
  const auto test = log_rank(freireich_placebo(), freireich_6mp());
  ASSERT_TRUE(test);
  EXPECT_NEAR(test->chi_square, 16.79, 5e-3);
  EXPECT_EQ(test->observed, 9);
  EXPECT_NEAR(test->expected, 19.25, 5e-3);
  EXPECT_NEAR(test->variance, 6.257, 5e-4);
  EXPECT_NEAR(test->p, 4.2e-5, 5e-7);
}

TEST(LogRank, MatchesTheMaintenanceTrial) {
  const auto test = log_rank(aml_maintained(), aml_not_maintained());
  EXPECT_NEAR(test->chi_square, 3.396, 5e-4);
  EXPECT_NEAR(test->p, 0.0653, 5e-5);
}

TEST(LogRank, DoesNotMindTheOrderOfGroups) {
  EXPECT_NEAR(log_rank(aml_maintained(), aml_not_maintained())->chi_square,
              log_rank(aml_not_maintained(), aml_maintained())->chi_square, 1e-12);
}

TEST(LogRank, OfAGroupWithItselfIsNothingAtAll) {
  const auto same = log_rank(freireich_6mp(), freireich_6mp());
  EXPECT_NEAR(same->chi_square, 0, 1e-12);
  EXPECT_NEAR(same->p, 1, 1e-6);
}

TEST(LogRank, HasNoAnswerWithoutInformation) {
  EXPECT_FALSE(log_rank({}, {}));
  EXPECT_FALSE(log_rank(freireich_6mp(), {}));
  EXPECT_FALSE(log_rank(times_from({-5, -5}), times_from({-5, -5})));
  EXPECT_FALSE(log_rank(times_from({-5, -5}), times_from({6, 7}))) << "the first group had left before any event";
  EXPECT_FALSE(log_rank(times_from({5, 5}), times_from({5, 5}))) << "all at once: no order to learn from";
}

// Printed in many textbooks for the 6-MP trial, placebo over treated.
TEST(Cox, MatchesFreireichLeukaemiaTrialForBothWaysWithTies) {
  const auto efron = hazard_ratio(freireich_6mp(), freireich_placebo());
  EXPECT_NEAR(*efron->log_ratio, 1.572, 5e-4);
  EXPECT_NEAR(*efron->standard_error, 0.412, 5e-4);
  const auto breslow = hazard_ratio(freireich_6mp(), freireich_placebo(), 0.95, Ties::breslow);
  EXPECT_NEAR(*breslow->log_ratio, 1.509, 5e-4);
  EXPECT_NEAR(*breslow->standard_error, 0.410, 5e-4);
}

TEST(Cox, MatchesTheMaintenanceTrial) {
  const auto efron = hazard_ratio(aml_maintained(), aml_not_maintained());
  EXPECT_NEAR(*efron->log_ratio, 0.9155, 5e-5);
  EXPECT_NEAR(*efron->standard_error, 0.5119, 5e-5);
  EXPECT_LT(*efron->interval.low, 1);
  EXPECT_GT(*efron->interval.high, 1);
}

TEST(Cox, TurnsOverWithTheGroups) {
  const auto there = hazard_ratio(aml_maintained(), aml_not_maintained());
  const auto back = hazard_ratio(aml_not_maintained(), aml_maintained());
  EXPECT_NEAR(*there->ratio * *back->ratio, 1, 1e-9);
  EXPECT_NEAR(*there->interval.low * *back->interval.high, 1, 1e-9);
}

TEST(Cox, GivesABoundWhereTheLikelihoodIsMonotone) {
  const auto never = hazard_ratio(times_from({3, 4, 5, 6, 7}), times_from({-9, -9, -9, -9, -9}));
  EXPECT_EQ(never->limit, HazardLimit::zero);
  EXPECT_FALSE(never->ratio);
  EXPECT_FALSE(never->interval.low);
  ASSERT_TRUE(never->interval.high);
  EXPECT_LT(*never->interval.high, 1);

  const auto always_first = hazard_ratio(times_from({13, 14, 15, 16, 17}), times_from({1, 2, 3, 4, 5}));
  EXPECT_EQ(always_first->limit, HazardLimit::infinite);
  EXPECT_FALSE(always_first->ratio);
  EXPECT_FALSE(always_first->interval.high);
  EXPECT_GT(*always_first->interval.low, 1);

  // one event in all: the likelihood is b - log(1 + e^b), so the bound is where it is 1.92 below 0
  const auto one_event = hazard_ratio(times_from({-9}), times_from({3}));
  EXPECT_EQ(one_event->limit, HazardLimit::infinite);
  const double share = std::exp(-3.841458821 / 2);
  EXPECT_NEAR(*one_event->interval.low, share / (1 - share), 1e-6);
}

TEST(Cox, IsOneForIdenticalGroupsAndNothingWithoutInformation) {
  EXPECT_NEAR(*hazard_ratio(freireich_6mp(), freireich_6mp())->ratio, 1, 1e-9);
  EXPECT_FALSE(hazard_ratio({}, freireich_6mp()));
  EXPECT_FALSE(hazard_ratio(times_from({-5}), times_from({-5})));
}

}  // namespace
}  // namespace eureka
