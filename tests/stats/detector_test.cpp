#include "stats/detector.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "base/error.h"
#include "base/random.h"
#include "stats/curve_corpus.h"

namespace eureka {
namespace {

using Curve = std::vector<CurvePoint>;

double logistic(double u) { return 1 / (1 + std::exp(-u)); }

// The preset two-step: 0.1 to 0.55 at once, a plateau, at `moment` a rise of 10-90% width `width` to 0.99; every 25
// steps.
Curve two_step(double moment, double width, double noise, std::uint64_t seed = 1, double last_step = 2500) {
  RandomStream random(seed, "detector-test");
  Curve curve;
  for (double step = 0; step <= last_step; step += 25) {
    const double clean =
        0.1 + 0.45 * (1 - std::exp(-step / 60)) + 0.44 * logistic((step - moment) * 2 * std::log(9.0) / width);
    curve.push_back({step, clean + noise * random.normal()});
  }
  return curve;
}

Curve flat(std::size_t length, double noise, std::uint64_t seed = 1) {
  RandomStream random(seed, "detector-test");
  Curve curve;
  for (std::size_t i = 0; i < length; ++i) curve.push_back({static_cast<double>(i), 0.5 + noise * random.normal()});
  return curve;
}

Findings detect_up(const Curve& curve) { return detect(curve, {.direction = Direction::up}); }

TEST(Detector, FindsTheJumpAndNotTheFastStart) {
  const Findings found = detect_up(two_step(1100, 100, 0.015));
  ASSERT_EQ(found.moments.size(), 1U);
  const Moment& moment = found.moments[0];
  EXPECT_NEAR(moment.step, 1100, 12);
  EXPECT_NEAR(moment.rise_end - moment.rise_start, 100, 30);
  EXPECT_NEAR(moment.from, 0.55, 0.01);
  EXPECT_NEAR(moment.to, 0.99, 0.01);
  EXPECT_GT(moment.score, 0.8);
  EXPECT_LE(moment.score, 1);
}

TEST(Detector, MeasuresANoiselessRampExactly) {
  Curve curve;  // 2 up to step 50, then up by 1 in every 2 steps to 7 at 60
  for (int step = 0; step <= 120; ++step)
    curve.push_back({double(step), step < 50 ? 2.0 : std::min(7.0, 2 + (step - 50) / 2.0)});
  const Findings found = detect_up(curve);
  ASSERT_EQ(found.moments.size(), 1U);
  EXPECT_NEAR(found.moments[0].step, 55, 1e-9);
  EXPECT_NEAR(found.moments[0].rise_start, 51, 1e-9);
  EXPECT_NEAR(found.moments[0].rise_end, 59, 1e-9);
  EXPECT_NEAR(found.moments[0].from, 2, 1e-9);
  EXPECT_NEAR(found.moments[0].to, 7, 1e-9);
}

TEST(Detector, ReportsThePlateauBeforeAndTheLevelAfter) {
  const Findings found = detect_up(two_step(1100, 100, 0.01));
  ASSERT_EQ(found.plateaus.size(), 2U);
  EXPECT_NEAR(found.plateaus[0].level, 0.55, 0.01);
  EXPECT_LT(found.plateaus[0].start, 250);
  EXPECT_NEAR(found.plateaus[0].end, 1050, 30);
  EXPECT_NEAR(found.plateaus[1].level, 0.99, 0.01);
  EXPECT_EQ(found.plateaus[1].end, 2500);
}

TEST(Detector, ReportsThePlateauOfARunThatNeverJumps) {
  const Findings found = detect_up(two_step(1e9, 100, 0.015));
  EXPECT_TRUE(found.moments.empty());
  ASSERT_EQ(found.plateaus.size(), 1U);
  EXPECT_NEAR(found.plateaus[0].level, 0.55, 0.01);
  EXPECT_EQ(found.plateaus[0].end, 2500);
}

TEST(Detector, FindsNoPlateauInASteadyDrift) {
  Curve curve;
  for (int step = 0; step < 200; ++step) curve.push_back({double(step), 0.1 + 0.004 * step});
  EXPECT_TRUE(detect_up(curve).plateaus.empty());
  EXPECT_TRUE(detect_up(curve).moments.empty());
}

TEST(Detector, FindsTheMomentsOfThePresetsOverTheWholeRangeMeasured) {
  for (const double width : {90.0, 130.0, 180.0}) {
    for (const double moment : {500.0, 900.0, 1500.0, 2200.0}) {
      const Curve curve = two_step(moment, width, 0.015, static_cast<std::uint64_t>(moment + width));
      const Findings known = detect(curve, {.direction = Direction::up, .plateau_level = 0.55});
      ASSERT_EQ(known.moments.size(), 1U) << moment << " width " << width;
      EXPECT_NEAR(known.moments[0].step, moment, 0.25 * width);
      if (moment - width < 350) continue;  // a plateau of 150 steps before a rise of 180 counts only at a known level
      const Findings unknown = detect_up(curve);
      ASSERT_EQ(unknown.moments.size(), 1U) << moment << " width " << width;
      EXPECT_NEAR(unknown.moments[0].step, moment, 0.25 * width);
    }
  }
}

TEST(Detector, FindsAMomentInARunStoppedSoonAfterIt) {
  for (const double after : {60.0, 100.0, 150.0, 250.0}) {
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      const Findings found = detect_up(two_step(1000, 100, 0.012, seed, 1000 + after));
      ASSERT_EQ(found.moments.size(), 1U) << "stopped after " << after << ", seed " << seed;
      EXPECT_NEAR(found.moments[0].step, 1000, 40);
    }
  }
}

// A learning rate that is too high and then cut: the plateau's noise wanders, what follows is calm.
TEST(Detector, FindsTheDropFromAPlateauFarMoreRestlessThanWhatFollows) {
  int found = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    RandomStream random(seed, "detector-test");
    Curve curve;
    double wander = 0;
    for (int step = 0; step < 200; ++step) {
      wander = 0.5 * wander + random.normal();
      const double cut = step < 100 ? 0 : 1 - std::exp(-(step - 100) / 4.0);
      curve.push_back({double(step), 3 - 2 * cut + (1 - 0.97 * cut) * 0.25 * wander});
    }
    const Findings findings = detect(curve, {.direction = Direction::down});
    found += findings.moments.size() == 1 && std::abs(findings.moments[0].step - 103) < 6;
  }
  EXPECT_GE(found, 38);
}

TEST(Detector, FindsBothMomentsOfAStaircase) {
  Curve curve;
  for (int step = 0; step <= 1000; step += 10) {
    curve.push_back({double(step), 3 - logistic((step - 300) / 6.0) - 1.5 * logistic((step - 700) / 6.0)});
  }
  const Findings found = detect(curve, {.direction = Direction::down});
  ASSERT_EQ(found.moments.size(), 2U);
  EXPECT_NEAR(found.moments[0].step, 300, 1);
  EXPECT_NEAR(found.moments[1].step, 700, 1);
  EXPECT_NEAR(found.moments[1].from, 2, 0.01);
  EXPECT_NEAR(found.moments[1].to, 0.5, 0.01);
}

TEST(Detector, TakesTheRiseToAKnownLevelForNoMoment) {
  Curve curve;  // chance 0.1, then 0.55, then 1
  for (int step = 0; step <= 1000; step += 10) {
    curve.push_back({double(step), 0.1 + 0.45 * logistic((step - 300) / 6.0) + 0.45 * logistic((step - 700) / 6.0)});
  }
  EXPECT_EQ(detect(curve, {.direction = Direction::up}).moments.size(), 2U);
  const Findings found = detect(curve, {.direction = Direction::up, .plateau_level = 0.55});
  ASSERT_EQ(found.moments.size(), 1U);
  EXPECT_NEAR(found.moments[0].step, 700, 1);
  EXPECT_TRUE(detect(curve, {.direction = Direction::up, .plateau_level = 0.3}).moments.empty());
}

// Validation accuracy of MLPs on two-step, every 25 steps, as measured: they breathe near 0.55 on the way up.
TEST(Detector, TakesTheBreathOfAnMlpForNoPlateau) {
  const std::vector<std::vector<double>> starts = {{0.097, 0.503, 0.547, 0.535, 0.647, 0.859, 0.998},
                                                   {0.094, 0.534, 0.546, 0.557, 0.642, 0.823, 0.994},
                                                   {0.094, 0.528, 0.549, 0.563, 0.565, 0.728, 0.962}};
  for (const std::vector<double>& start : starts) {
    Curve curve;
    for (std::size_t i = 0; i <= 100; ++i) curve.push_back({25.0 * double(i), i < start.size() ? start[i] : 1.0});
    EXPECT_TRUE(detect(curve, {.direction = Direction::up, .plateau_level = 0.55, .budget = 2500}).moments.empty());
    EXPECT_TRUE(detect(curve, {.direction = Direction::up}).moments.empty());
  }
}

// As measured on two-step-hard: from 0.555 to 0.73 in 600 of 2,500 steps, while the learning rate dies away.
TEST(Detector, TakesARiseOverAQuarterOfThePlannedRunForGradual) {
  Curve curve;
  for (int step = 0; step <= 2500; step += 25) {
    const double rise = std::clamp((step - 1600) / 750.0, 0.0, 1.0);
    curve.push_back({double(step), step < 75 ? 0.1 + 0.006 * step : 0.555 + 0.175 * rise});
  }
  EXPECT_TRUE(detect(curve, {.direction = Direction::up, .plateau_level = 0.55, .budget = 2500}).moments.empty());
  EXPECT_EQ(detect(curve, {.direction = Direction::up, .plateau_level = 0.55, .budget = 10000}).moments.size(), 1U);
}

// The earliest moment of a transformer measured there: seven evaluations on the plateau.
TEST(Detector, FindsAnEarlyMomentAfterAShortPlateau) {
  const std::vector<double> start = {0.136, 0.48, 0.57, 0.543, 0.508, 0.585, 0.58, 0.555, 0.794, 0.961, 0.997};
  Curve curve;
  for (std::size_t i = 0; i <= 100; ++i) curve.push_back({25.0 * double(i), i < start.size() ? start[i] : 1.0});
  const Findings found = detect(curve, {.direction = Direction::up, .plateau_level = 0.55, .budget = 2500});
  ASSERT_EQ(found.moments.size(), 1U);
  EXPECT_NEAR(found.moments[0].step, 200, 10);
}

TEST(Detector, IgnoresSpikesOfUpToThreeEvaluationsAnywhere) {
  for (std::size_t length = 1; length <= 3; ++length) {
    for (const double height : {-5.0, -0.4, 0.4, 5.0}) {
      for (std::size_t at = 5; at + length < 58; ++at) {
        Curve curve = flat(60, 0.01, at);
        for (std::size_t i = at; i < at + length; ++i) curve[i].value += height;
        EXPECT_TRUE(detect_up(curve).moments.empty()) << length << " evaluations of " << height << " at " << at;
      }
    }
  }
}

TEST(Detector, TakesARecoveryForNoMoment) {
  Curve curve = flat(100, 0.01);
  for (std::size_t i = 40; i < 60; ++i) curve[i].value -= 0.4;  // long enough to be a plateau, and sharp back up
  EXPECT_TRUE(detect_up(curve).moments.empty());
}

TEST(Detector, TakesNoiseSmoothLearningAndDivergenceForNoMoment) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) EXPECT_TRUE(detect_up(flat(100, 0.1, seed)).moments.empty()) << seed;
  Curve exponential, collapse, slow;
  for (int i = 0; i < 100; ++i) {
    exponential.push_back({double(i), 1 - 0.9 * std::exp(-i / 15.0)});
    collapse.push_back({double(i), i < 60 ? 0.55 : 0.1});
    slow.push_back({double(i), logistic((i - 50) / 12.0)});  // 10-90% in 53 of 100 steps
  }
  EXPECT_TRUE(detect_up(exponential).moments.empty());
  EXPECT_TRUE(detect_up(collapse).moments.empty());
  EXPECT_TRUE(detect_up(slow).moments.empty());
  EXPECT_TRUE(detect(collapse, {.direction = Direction::up, .plateau_level = 0.55}).moments.empty());
  EXPECT_EQ(detect(collapse, {.direction = Direction::down}).moments.size(), 1U);  // the same numbers as a loss are one
}

TEST(Detector, FindsAMomentThatIsFollowedByDivergence) {
  Curve curve = two_step(1000, 100, 0.01);
  for (std::size_t i = 80; i < curve.size(); ++i) curve[i].value = -1e6;
  const Findings found = detect_up(curve);
  ASSERT_EQ(found.moments.size(), 1U);
  EXPECT_NEAR(found.moments[0].step, 1000, 12);
}

TEST(Detector, EndsTheCurveAtTheFirstValueThatIsNoNumber) {
  const Curve whole = two_step(1000, 100, 0.01, 1, 1500);
  for (const double bad : {std::nan(""), std::numeric_limits<double>::infinity(), -1e300}) {
    Curve curve = whole;
    curve.push_back({1525, bad});
    curve.push_back({1550, 0.1});
    curve.push_back({1550, 0.1});  // not even its steps matter any more
    const Findings found = detect_up(curve);
    const Findings expected = detect_up(whole);
    ASSERT_EQ(found.moments.size(), 1U);
    EXPECT_EQ(found.moments[0].step, expected.moments[0].step);
    EXPECT_EQ(found.moments[0].to, expected.moments[0].to);
  }
}

TEST(Detector, FindsNothingInCurvesTooShortToHaveAPlateau) {
  for (std::size_t length = 0; length < 7; ++length) {
    Curve curve;
    for (std::size_t i = 0; i < length; ++i) curve.push_back({double(i), i < length / 2 ? 0.0 : 1.0});
    EXPECT_TRUE(detect_up(curve).moments.empty()) << length;
  }
  EXPECT_TRUE(detect_up(Curve(1, {0, std::nan("")})).plateaus.empty());
}

TEST(Detector, HandlesAConstantCurve) {
  const Findings found = detect_up(flat(50, 0));
  EXPECT_TRUE(found.moments.empty());
  ASSERT_EQ(found.plateaus.size(), 1U);
  EXPECT_EQ(found.plateaus[0].level, 0.5);
}

TEST(Detector, RefusesStepsThatDoNotIncrease) {
  MomentDetector detector;
  detector.add(10, 0.5);
  EXPECT_THROW(detector.add(10, 0.5), Error);
  EXPECT_THROW(detector.add(9, 0.5), Error);
  EXPECT_THROW(detector.add(std::nan(""), 0.5), Error);
  detector.add(11, 0.5);
}

TEST(Detector, ScoreGrowsWithSharpnessAndFallsWithNoise) {
  const auto score = [](double width, double noise) {
    double sum = 0;
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
      const Findings found = detect_up(two_step(1200, width, noise, seed));
      EXPECT_EQ(found.moments.size(), 1U);
      sum += found.moments.empty() ? 0 : found.moments[0].score;
    }
    return sum / 10;
  };
  EXPECT_GT(score(50, 0.01), score(100, 0.01));
  EXPECT_GT(score(100, 0.01), score(200, 0.01));
  EXPECT_GT(score(100, 0.01), score(100, 0.03));
  EXPECT_GT(score(100, 0.03), score(100, 0.06));
}

TEST(Detector, GuessesWhereBetterIs) {
  EXPECT_EQ(guess_direction("val/accuracy"), Direction::up);
  EXPECT_EQ(guess_direction("Train_Loss"), Direction::down);
  EXPECT_EQ(guess_direction("eval_error_rate"), Direction::down);
  EXPECT_EQ(guess_direction("episode_reward"), Direction::up);
  EXPECT_EQ(guess_direction("val_explained_variance"), Direction::up);
  EXPECT_FALSE(guess_direction("value").has_value());
  Curve down = two_step(1000, 100, 0.01);
  for (CurvePoint& point : down) point.value = -point.value;
  EXPECT_EQ(guess_direction("value", down), Direction::down);
  EXPECT_EQ(guess_direction("accuracy", down), Direction::up);
  EXPECT_EQ(guess_direction("value", Curve{}), Direction::up);
}

// Online.

TEST(Detector, ConfirmsOnlyAfterTheNewLevelHasHeld) {
  MomentDetector detector({.direction = Direction::up});
  for (int step = 0; step < 40; ++step) {
    detector.add(step, step < 30 ? 0.5 : 1.0);
    EXPECT_EQ(detector.moments().size(), step >= 33 ? 1U : 0U) << step;  // the fourth evaluation on the new level
  }
}

TEST(Detector, ConfirmsARunOfThePresetsSoonEnoughToStopItEarly) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    MomentDetector detector({.direction = Direction::up, .plateau_level = 0.55, .budget = 2500});
    double confirmed = 0;
    for (const auto& [step, value] : two_step(1000, 100, 0.015, seed)) {
      detector.add(step, value);
      if (!detector.moments().empty() && confirmed == 0) confirmed = step;
    }
    EXPECT_GT(confirmed, 1050);
    EXPECT_LE(confirmed, 1250) << seed;
  }
}

TEST(Detector, GivesTheSameHoweverOftenItIsAsked) {
  for (std::size_t index = 0; index < 200; ++index) {
    const LabeledCurve curve = make_labeled_curve(index, kDevelopmentSeed);
    const DetectorOptions options{.direction = curve.direction, .plateau_level = curve.plateau_level};
    const std::vector<Moment> at_once = detect(curve.points, options).moments;
    MomentDetector detector(options);
    std::size_t asked = 0;
    const std::size_t every = 1 + curve.points.size() / 50;
    for (std::size_t i = 0; i < curve.points.size(); ++i) {
      detector.add(curve.points[i].step, curve.points[i].value);
      if (i % every == 0) asked += detector.moments().size();
    }
    detector.finish();
    const std::vector<Moment>& point_by_point = detector.moments();
    ASSERT_EQ(point_by_point.size(), at_once.size()) << curve.kind << ", asked " << asked;
    for (std::size_t i = 0; i < at_once.size(); ++i) {
      EXPECT_EQ(point_by_point[i].step, at_once[i].step);
      EXPECT_EQ(point_by_point[i].score, at_once[i].score);
    }
  }
}

// Invariance.

void expect_same(const LabeledCurve& curve, const DetectorOptions& options, const Curve& mapped,
                 const DetectorOptions& mapped_options, double step_scale, double step_shift) {
  const std::vector<Moment> expected = detect(curve.points, options).moments;
  const std::vector<Moment> found = detect(mapped, mapped_options).moments;
  const double steps = curve.points.back().step;
  SCOPED_TRACE(curve.kind + ", steps times " + std::to_string(step_scale));
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_NEAR((found[i].step - step_shift) / step_scale, expected[i].step, 1e-6 * steps);
    EXPECT_NEAR((found[i].rise_end - step_shift) / step_scale, expected[i].rise_end, 1e-6 * steps);
    EXPECT_NEAR(found[i].score, expected[i].score, 1e-6);
  }
}

TEST(Detector, DoesNotDependOnTheUnitsOfEitherAxis) {
  for (std::size_t index = 0; index < 400; ++index) {
    const LabeledCurve curve = make_labeled_curve(index, kDevelopmentSeed);
    const DetectorOptions options{.direction = curve.direction, .plateau_level = curve.plateau_level};
    for (const auto& [scale, shift] : {std::pair{1000.0, 0.0}, {0.001, 7.0}, {-3.0, 100.0}}) {
      DetectorOptions mapped_options = options;
      if (scale < 0) mapped_options.direction = options.direction == Direction::up ? Direction::down : Direction::up;
      if (options.plateau_level) mapped_options.plateau_level = scale * *options.plateau_level + shift;
      Curve mapped = curve.points;
      for (CurvePoint& point : mapped) point.value = scale * point.value + shift;
      expect_same(curve, options, mapped, mapped_options, 1, 0);
    }
    Curve mapped = curve.points;
    for (CurvePoint& point : mapped) point.step = 0.01 * point.step + 3;
    expect_same(curve, options, mapped, options, 0.01, 3);
  }
}

// Length.

TEST(Detector, FindsAMomentInACurveFarLongerThanItsWindow) {
  MomentDetector detector({.window = 64});
  for (int step = 0; step < 100000; ++step) detector.add(step, step < 60000 ? 0.5 : 1.0);
  ASSERT_EQ(detector.moments().size(), 1U);
  EXPECT_NEAR(detector.moments()[0].step, 60000, 100000.0 / 32);
}

TEST(Detector, FindsTheMomentAmongAMillionNoisyPoints) {
  RandomStream random(5, "detector-test");
  MomentDetector detector({.direction = Direction::down});
  for (int step = 0; step < 1000000; ++step) {
    const double clean = 2.3 * std::exp(-step / 1e4) + 2.3 - 2.2 * logistic((step - 412000) / 4000.0);
    detector.add(step, clean + 0.44 * random.normal());  // a fifth of the jump
  }
  detector.finish();
  ASSERT_EQ(detector.moments().size(), 1U);
  EXPECT_NEAR(detector.moments()[0].step, 412000, 1000);
  EXPECT_NEAR(detector.moments()[0].from, 2.3, 0.03);
  EXPECT_NEAR(detector.moments()[0].to, 0.1, 0.03);
}

}  // namespace
}  // namespace eureka
