// Logs of a dozen or two evaluations, as other programs leave them: stopped soon after the moment, or in the middle of
// it.
#include <gtest/gtest.h>

#include <vector>

#include "stats/detector.h"

namespace eureka {
namespace {

Findings found_in(const std::vector<double>& values, double spacing = 100) {
  std::vector<CurvePoint> curve;
  for (std::size_t i = 0; i < values.size(); ++i) curve.push_back({spacing * static_cast<double>(i), values[i]});
  return detect(curve, {.direction = Direction::up});
}

const std::vector<double> kPlateau = {0.11, 0.53, 0.56, 0.54, 0.55, 0.56, 0.55, 0.54, 0.56, 0.55};

std::vector<double> plateau_and(const std::vector<double>& rise) {
  std::vector<double> values = kPlateau;
  values.insert(values.end(), rise.begin(), rise.end());
  return values;
}

// The rise takes a fifth to a third of these logs.
TEST(ShortLogs, AMomentNeedNotBeNarrowAgainstTheLog) {
  for (const auto& rise : std::vector<std::vector<double>>{
           {0.75, 0.97, 0.98}, {0.62, 0.8, 0.95, 0.98}, {0.6, 0.7, 0.85, 0.96, 0.98}, {0.99, 0.99}}) {
    const Findings found = found_in(plateau_and(rise));
    ASSERT_EQ(found.moments.size(), 1U) << rise.size();
    EXPECT_FALSE(found.under_way);
    EXPECT_NEAR(found.moments[0].from, 0.55, 0.02);
    EXPECT_GT(found.moments[0].step, 900);
    EXPECT_LT(found.moments[0].step, 1200);
  }
}

TEST(ShortLogs, ARiseThatHasOnlyBegunIsUnderWay) {
  for (const auto& rise : std::vector<std::vector<double>>{{0.75}, {0.98}, {0.6, 0.72}, {0.57, 0.62, 0.75}}) {
    const Findings found = found_in(plateau_and(rise));
    EXPECT_TRUE(found.moments.empty()) << rise.back();
    ASSERT_TRUE(found.under_way) << rise.back();
    EXPECT_NEAR(found.under_way->from, 0.55, 0.02);
    EXPECT_EQ(found.under_way->reached, rise.back());
    EXPECT_GT(found.under_way->rise_start, 850);
    EXPECT_EQ(found.under_way->plateau.end, found.under_way->rise_start);
  }
}

TEST(ShortLogs, NothingIsUnderWayWhileTheCurveStillGrows) {
  MomentDetector detector({.direction = Direction::up});
  double step = 0;
  for (const double value : plateau_and({0.6, 0.75})) detector.add(step += 100, value);
  EXPECT_FALSE(detector.findings().under_way);
  detector.finish();
  EXPECT_TRUE(detector.findings().under_way);
}

TEST(ShortLogs, NoiseAndGradualLearningAreNeitherMomentNorUnderWay) {
  for (const auto& values :
       std::vector<std::vector<double>>{kPlateau,
                                        plateau_and({0.57, 0.54, 0.58}),
                                        {0.1, 0.2, 0.29, 0.37, 0.45, 0.52, 0.58, 0.64, 0.69, 0.73, 0.77, 0.8, 0.83},
                                        {0.1, 0.1, 0.12, 0.16, 0.22, 0.29, 0.37, 0.45, 0.53, 0.61, 0.68, 0.74, 0.79}}) {
    const Findings found = found_in(values);
    EXPECT_TRUE(found.moments.empty()) << values.back();
    EXPECT_FALSE(found.under_way) << values.back();
  }
}

// Five evaluations on the plateau that scatter by a fifth of the jump, as minibatches of 64 do.
TEST(ShortLogs, FiveNoisyEvaluationsAreAPlateau) {
  for (const std::vector<double>& start :
       std::vector<std::vector<double>>{{0.125, 0.5625, 0.5312, 0.6406, 0.5781, 0.5156},
                                        {0.2344, 0.4844, 0.5781, 0.5469, 0.5781, 0.5625},
                                        {0.055, 0.44, 0.555, 0.53, 0.565, 0.585}}) {
    std::vector<double> values = start;
    values.push_back(0.97);
    values.resize(20, 1);
    const Findings found = found_in(values);
    ASSERT_EQ(found.moments.size(), 1U) << start[1];
    EXPECT_NEAR(found.moments[0].step, 550, 50) << start[1];
    values.erase(values.begin() + 1, values.begin() + 4);  // two are none
    EXPECT_TRUE(found_in(values).moments.empty()) << start[1];
  }
}

// Most was learned at once; what follows a rest is a sixth of all, and as clear as can be.
TEST(ShortLogs, ASmallRiseAfterMuchWasLearnedIsAMoment) {
  const auto loss_that_ends_at = [](double level) {
    std::vector<double> values = {-1.948, -1.599, -1.195, -0.67, -0.294};
    values.insert(values.end(), 7, -0.245);
    values.insert(values.end(), 12, level);
    return found_in(values).moments;
  };
  ASSERT_EQ(loss_that_ends_at(-0.003).size(), 1U);
  EXPECT_NEAR(loss_that_ends_at(-0.003)[0].from, -0.245, 0.001);
  EXPECT_TRUE(loss_that_ends_at(-0.1).empty());
}

// The last step is the steepest: nothing says that it was the last of the rise.
TEST(ShortLogs, ARiseThatGetsSteeperIsUnderWay) {
  for (const auto& rise : std::vector<std::vector<double>>{{0.57, 0.62, 0.74, 0.9}, {0.6, 0.72, 0.88}}) {
    const Findings found = found_in(plateau_and(rise));
    EXPECT_TRUE(found.moments.empty()) << rise.size();
    EXPECT_TRUE(found.under_way) << rise.size();
  }
}

// How far the last value must be off the plateau depends on how well the plateau is known.
TEST(ShortLogs, OneHighValueIsUnderWayWhenThePlateauHardlyReachesIt) {
  const std::vector<double> noisy = {0.46, 0.53, 0.56, 0.54, 0.50, 0.51, 0.60, 0.50,
                                     0.54, 0.50, 0.54, 0.52, 0.55, 0.55, 0.51};
  const auto says_under_way = [&](double last, std::size_t evaluations) {
    std::vector<double> values = {0.17};
    values.insert(values.end(), noisy.begin(), noisy.begin() + static_cast<std::ptrdiff_t>(evaluations));
    values.push_back(last);
    return found_in(values).under_way.has_value();
  };
  EXPECT_TRUE(says_under_way(0.65, 15));
  EXPECT_FALSE(says_under_way(0.58, 15));
  EXPECT_FALSE(says_under_way(0.60, 5));
}

// The first value is left out of the range, as a bad start is: what remains then is the last hundredths.
TEST(ShortLogs, TheLastPolishOfWhatWasLearnedAtOnceIsNothing) {
  const Findings found = found_in({0.51, 0.96, 0.98, 0.98, 0.98, 0.98, 0.98, 0.98, 0.98, 0.99, 1, 0.99, 1, 0.99});
  EXPECT_TRUE(found.moments.empty());
  EXPECT_FALSE(found.under_way);
}

// The same shape, ten times as many evaluations: now the log shows that the rise is as wide as the plateau is long.
TEST(ShortLogs, WhatTheSpacingExcusesADenserLogDoesNot) {
  const std::vector<double> sparse = {0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.65, 0.8, 0.95, 1, 1, 1, 1, 1, 1, 1, 1, 1};
  std::vector<double> dense;
  for (std::size_t i = 0; i + 1 < sparse.size(); ++i)
    for (int part = 0; part < 10; ++part) dense.push_back(sparse[i] + 0.1 * part * (sparse[i + 1] - sparse[i]));
  EXPECT_EQ(found_in(sparse).moments.size(), 1U);
  EXPECT_EQ(found_in(dense, 10).moments.size(), 1U);
  dense.erase(dense.begin(), dense.begin() + 30);  // two lengths of plateau for three of rise
  EXPECT_TRUE(found_in(dense, 10).moments.empty());
}

// Validation accuracy of 144 samples that are all wrong for long: one right answer more is no moment, many are.
TEST(DetectorOfShares, OneSampleMoreIsNoMoment) {
  const auto moments = [](double answers) {
    std::vector<CurvePoint> curve;
    for (int i = 0; i < 60; ++i) curve.push_back({25.0 * i, (i < 30 ? 0 : i < 45 ? answers : 2 * answers) / 144});
    return detect(curve, {.direction = Direction::up}).moments.size();
  };
  EXPECT_EQ(moments(1), 0U);
  EXPECT_EQ(moments(2), 0U);
  EXPECT_EQ(moments(40), 2U);
  // From none to all is one, however few values a log has.
  std::vector<CurvePoint> jump;
  for (int i = 0; i < 20; ++i) jump.push_back({25.0 * i, i < 12 ? 0.0 : 1.0});
  EXPECT_EQ(detect(jump, {.direction = Direction::up}).moments.size(), 1U);
}

}  // namespace
}  // namespace eureka
