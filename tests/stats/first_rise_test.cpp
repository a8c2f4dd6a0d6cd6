#include "stats/first_rise.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "base/random.h"
#include "stats/two_curves.h"

namespace eureka {
namespace {

using Curve = std::vector<CurvePoint>;

// Recall: 0.03 to 0.25 about step 40, to 1 about step 300.
Curve recall(double noise, double last_step = 600, double start = 0.03) {
  RandomStream random(3, "first-rise-test");
  const auto rise = [](double u) { return 1 / (1 + std::exp(-2 * std::log(9.0) * u)); };
  Curve curve;
  for (double step = 0; step <= last_step; step += 5)
    curve.push_back({step, start + (0.25 - start) * rise((step - 40) / 30) + 0.75 * rise((step - 300) / 30) +
                               noise * random.normal()});
  return curve;
}

const DetectorOptions kKnown{.direction = Direction::up, .plateau_level = 0.25, .best_level = 1};

TEST(FirstRise, IsTheWayToTheKnownPlateauAndTheMomentComesAfterIt) {
  const Findings found = detect(recall(0.01), kKnown);
  ASSERT_TRUE(found.first_rise);
  EXPECT_NEAR(found.first_rise->step, 40, 6);
  EXPECT_NEAR(found.first_rise->from, 0.03, 0.03);
  EXPECT_NEAR(found.first_rise->to, 0.25, 0.02);
  ASSERT_EQ(found.moments.size(), 1U);
  EXPECT_NEAR(found.moments[0].step, 300, 6);
  EXPECT_LT(found.first_rise->rise_end, found.moments[0].rise_start);
}

TEST(FirstRise, IsNotNamedWhereNoPlateauIsKnown) {
  EXPECT_FALSE(detect(recall(0.01), {.direction = Direction::up}).first_rise);
}

TEST(FirstRise, IsSeenInARunThatStaysOnThePlateau) {
  const Findings found = detect(recall(0.01, 250), kKnown);
  EXPECT_TRUE(found.moments.empty());
  ASSERT_TRUE(found.first_rise);
  EXPECT_NEAR(found.first_rise->step, 40, 6);
}

TEST(FirstRise, IsNotThereInARunThatBeginsOnThePlateau) {
  EXPECT_FALSE(detect(recall(0.02, 600, 0.24), kKnown).first_rise);
}

TEST(FirstRise, IsNotALevelThatTheRunOnlyPasses) {
  Curve curve;
  for (double step = 0; step <= 600; step += 5) curve.push_back({step, 1 - std::exp(-step / 100)});
  EXPECT_FALSE(detect(curve, kKnown).first_rise);
}

TEST(FirstRise, IsNotACreep) {
  Curve curve;  // 500 steps up to the level, 60 on it
  for (double step = 0; step <= 560; step += 5) curve.push_back({step, std::min(0.25, 0.25 * step / 500)});
  EXPECT_FALSE(detect(curve, kKnown).first_rise);
}

TEST(FirstRise, WorksWhereLessIsBetter) {
  Curve curve = recall(0.01);
  for (CurvePoint& point : curve) point.value = 4 - 4 * point.value;
  const Findings found = detect(curve, {.direction = Direction::down, .plateau_level = 3, .best_level = 0});
  ASSERT_TRUE(found.first_rise);
  EXPECT_NEAR(found.first_rise->step, 40, 6);
  EXPECT_NEAR(found.first_rise->to, 3, 0.08);
  EXPECT_EQ(found.moments.size(), 1U);
}

TEST(FirstRise, OfARealRunOfRecallIsNoMoment) {
  const TwoCurves run = recall_run();
  const Findings found =
      detect(run.validation, run.training, {.direction = Direction::up, .plateau_level = 0.26, .best_level = 1});
  ASSERT_TRUE(found.first_rise);
  EXPECT_LT(found.first_rise->from, 0.12);
  EXPECT_NEAR(found.first_rise->to, 0.26, 0.06);
  ASSERT_EQ(found.moments.size(), 1U);
  EXPECT_GT(found.moments[0].to, 0.9);
  EXPECT_TRUE(found.groks.empty());
}

TEST(KnownBest, ARiseOfATwentiethOfTheWayToItIsNoMoment) {
  Curve curve;  // 0.5 at once, then 0.55 after 300 steps: all there is in the log, and next to nothing of the task
  RandomStream random(5, "known-best");
  for (double step = 0; step <= 600; step += 5)
    curve.push_back({step, (step < 300 ? 0.55 : 0.57) + 0.001 * random.normal()});
  EXPECT_EQ(detect(curve, {.direction = Direction::up, .plateau_level = 0.55}).moments.size(), 1U);
  EXPECT_TRUE(detect(curve, {.direction = Direction::up, .plateau_level = 0.55, .best_level = 1}).moments.empty());
}

}  // namespace
}  // namespace eureka
