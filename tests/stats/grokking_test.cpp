#include "stats/grokking.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "base/random.h"
#include "stats/two_curves.h"

namespace eureka {
namespace {

using Curve = std::vector<CurvePoint>;

// From `low` to `high` with its middle at `middle`, 10-90% in `width`; every 20 steps, with noise.
Curve rising(double middle, double width, double low = 0.02, double high = 0.98, double noise = 0.01) {
  RandomStream random(7, "grokking-test");
  Curve curve;
  for (double step = 0; step <= 3000; step += 20)
    curve.push_back({step, low + (high - low) / (1 + std::exp(-(step - middle) * 2 * std::log(9.0) / width)) +
                               noise * random.normal()});
  return curve;
}

Curve as_loss(Curve curve) {
  for (CurvePoint& point : curve) point.value = 4 * (1 - point.value);
  return curve;
}

Curve shifted(Curve curve, double by) {
  for (CurvePoint& point : curve) point.value += by;
  return curve;
}

const DetectorOptions kUp{.direction = Direction::up};
const DetectorOptions kDown{.direction = Direction::down};

TEST(Grokking, IsALateRiseOfValidationAfterTrainingWasSolved) {
  const Findings found = detect(rising(1500, 200), rising(300, 200), kUp);
  EXPECT_TRUE(found.moments.empty());
  ASSERT_EQ(found.groks.size(), 1U);
  EXPECT_NEAR(found.groks[0].step, 1500, 30);
}

TEST(Grokking, IsNotWhatBothCurvesDoTogether) {
  const Findings found = detect(rising(1500, 200), rising(1480, 200), kUp);
  EXPECT_TRUE(found.groks.empty());
  EXPECT_EQ(found.moments.size(), 1U);
}

TEST(Grokking, CannotBeToldWithoutTheTrainingCurve) {
  EXPECT_EQ(detect(rising(1500, 200), kUp).moments.size(), 1U);
  EXPECT_EQ(detect(rising(1500, 200), {}, kUp).groks.size(), 0U);
}

TEST(Grokking, IsToldFromLossesToo) {
  const Findings late = detect(as_loss(rising(1500, 200)), as_loss(rising(300, 200)), kDown);
  EXPECT_TRUE(late.moments.empty());
  EXPECT_EQ(late.groks.size(), 1U);
  // label smoothing lifts the one loss and not the other
  const Findings together = detect(as_loss(rising(1500, 200)), shifted(as_loss(rising(1500, 200)), 0.6), kDown);
  EXPECT_EQ(together.moments.size(), 1U);
  EXPECT_TRUE(together.groks.empty());
}

TEST(Grokking, LeavesAMomentInWhichTrainingOnlyLeads) {
  // Half is learned by heart at once; the step both then take together is the moment.
  const Findings found = detect(rising(1500, 200), rising(1400, 300, 0.4, 1.0), kUp);
  EXPECT_EQ(found.moments.size(), 1U);
  EXPECT_TRUE(found.groks.empty());
}

TEST(Grokking, SurvivesACollapseOfTraining) {
  Curve training = rising(300, 200);
  for (CurvePoint& point : training)
    if (point.step > 1250 && point.step < 1330) point.value = 0.3;
  const Findings found = detect(rising(1500, 200), training, kUp);
  EXPECT_TRUE(found.moments.empty());
  EXPECT_EQ(found.groks.size(), 1U);
}

TEST(Grokking, IsSaidOfARiseTheCurveEndsIn) {
  Curve validation = rising(1500, 200);
  std::erase_if(validation, [](const CurvePoint& point) { return point.step > 1480; });
  const Findings late = detect(validation, rising(300, 200), kUp);
  ASSERT_TRUE(late.under_way);
  EXPECT_EQ(late.under_way->kind, RiseKind::grokking);
  const Findings together = detect(validation, rising(1500, 200), kUp);
  ASSERT_TRUE(together.under_way);
  EXPECT_EQ(together.under_way->kind, RiseKind::moment);
}

TEST(Grokking, IsToldOfALongLogThatIsAveragedDown) {
  Curve validation, training;
  for (int step = 0; step < 20000; ++step) {
    validation.push_back({double(step), step < 12000 ? 0.02 : 0.98});
    training.push_back({double(step), step < 2000 ? 0.02 : 1.0});
  }
  const Findings found = detect(validation, training, kUp);
  EXPECT_EQ(found.groks.size(), 1U);
  EXPECT_TRUE(found.moments.empty());
}

TEST(Grokking, IsFoundInARealRunOfModularAddition) {
  const TwoCurves run = grokking_run();
  const Findings found = detect(run.validation, run.training, kUp);
  EXPECT_TRUE(found.moments.empty());
  EXPECT_EQ(found.groks.size(), 1U);
  // the reason for looking at both
  EXPECT_EQ(detect(run.validation, kUp).moments.size(), 1U);
}

TEST(Grokking, IsNotFoundInARealRunOfTwoStep) {
  const TwoCurves run = two_step_run();
  const Findings found = detect(run.validation, run.training, {.direction = Direction::up, .plateau_level = 0.55});
  EXPECT_TRUE(found.groks.empty());
  EXPECT_EQ(found.moments.size(), 1U);
}

}  // namespace
}  // namespace eureka
