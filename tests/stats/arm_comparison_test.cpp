#include "stats/arm_comparison.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace eureka {
namespace {

using ::testing::HasSubstr;

constexpr double kHorizon = 1000;

// A time above the horizon is a run without a moment.
Arm make_arm(const std::string& name, const std::vector<double>& times, std::int64_t first_seed = 1) {
  Arm arm{.name = name};
  for (const double time : times) {
    const bool moment = time <= kHorizon;
    arm.trials.push_back({.seed = first_seed++,
                          .moment = moment ? std::optional(time) : std::nullopt,
                          .last_step = kHorizon,
                          .final_accuracy = moment ? 1.0 : 0.55,
                          .steps_to_level = moment ? std::optional(std::min(time + 20, kHorizon)) : std::nullopt});
  }
  return arm;
}

const std::vector<double> kSlow = {520, 610, 700, 640, 810, 900, 560, 2000, 730, 660};

Arm scaled(const std::string& name, double factor, std::int64_t first_seed = 1) {
  std::vector<double> times;
  for (const double time : kSlow) times.push_back(time > kHorizon ? time : time * factor);
  return make_arm(name, times, first_seed);
}

ArmReport compare_one(const Arm& baseline, const Arm& arm) {
  return compare_arms(baseline, std::span(&arm, 1), kHorizon).arms.at(0);
}

// Nothing in a report may be NaN or infinite, whatever the arms.
void expect_finite(const ArmReport& report) {
  std::vector<double> numbers = {report.summary.rate_interval.low, report.summary.rate_interval.high};
  const auto add = [&numbers](const auto&... optional) { (numbers.push_back(optional.value_or(0)), ...); };
  const auto add_interval = [&numbers](const std::optional<Interval>& interval) {
    if (interval) numbers.insert(numbers.end(), {interval->low, interval->high});
  };
  const auto add_waiting = [&](const WaitingTime& waiting) {
    add(waiting.median, waiting.median_interval.low, waiting.median_interval.high, waiting.restricted_mean);
    add_interval(waiting.restricted_mean_interval);
    for (const SurvivalStep& step : waiting.curve)
      numbers.insert(numbers.end(),
                     {step.survival, step.variance, step.effective_runs, step.interval.low, step.interval.high});
  };
  add(report.summary.rate);
  add_waiting(report.summary.event);
  if (report.summary.level) add_waiting(*report.summary.level);
  if (report.summary.final_accuracy) {
    numbers.insert(numbers.end(), {report.summary.final_accuracy->mean, report.summary.final_accuracy->median});
    add_interval(report.summary.final_accuracy->mean_interval);
    add(report.summary.final_accuracy->median_interval.low, report.summary.final_accuracy->median_interval.high);
  }
  if (report.against_baseline) {
    const ArmComparison& comparison = *report.against_baseline;
    if (comparison.log_rank) numbers.insert(numbers.end(), {comparison.log_rank->chi_square, comparison.log_rank->p});
    add(comparison.log_rank_p_holm);
    if (comparison.hazard)
      add(comparison.hazard->ratio, comparison.hazard->standard_error, comparison.hazard->interval.low,
          comparison.hazard->interval.high);
    for (const auto* speedup : {&comparison.speedup, &comparison.level_speedup})
      if (*speedup) {
        numbers.push_back((*speedup)->ratio);
        add_interval((*speedup)->interval);
      }
    if (comparison.paired) numbers.insert(numbers.end(), {comparison.paired->sign.p, comparison.paired->signed_rank.p});
  }
  for (const double number : numbers) EXPECT_TRUE(std::isfinite(number)) << report.name << ": " << report.verdict;
  EXPECT_FALSE(report.verdict.empty());
}

TEST(CompareArms, SaysSoonerOfAnArmTwiceAsFast) {
  const ArmReport report = compare_one(make_arm("softmax", kSlow), scaled("cure", 0.5));
  EXPECT_EQ(report.kind, VerdictKind::sooner);
  EXPECT_THAT(report.verdict, HasSubstr("cure reaches the moment reliably sooner"));
  EXPECT_THAT(report.verdict, HasSubstr("Moments: 9 of 10 runs against 9 of 10"));
  const ArmComparison& comparison = *report.against_baseline;
  // restricted means by hand: (6130 + 1000) / 10 and (3065 + 1000) / 10
  EXPECT_NEAR(comparison.speedup->ratio, 7130.0 / 4065, 1e-12);
  EXPECT_GT(comparison.speedup->interval->low, 1);
  EXPECT_EQ(comparison.paired->arm_sooner, 9U);
  EXPECT_EQ(comparison.paired->undecided, 1U);
  EXPECT_NEAR(comparison.paired->sign.p, 2.0 / 512, 1e-12);
  EXPECT_NEAR(comparison.paired->signed_rank.p, 2.0 / 512, 1e-12);
  EXPECT_EQ(comparison.log_rank_p_holm, comparison.log_rank->p) << "one arm needs no correction";
}

TEST(CompareArms, SaysLaterOfTheSameTurnedAround) {
  const ArmReport report = compare_one(scaled("cure", 0.5), make_arm("softmax", kSlow));
  EXPECT_EQ(report.kind, VerdictKind::later);
  EXPECT_THAT(report.verdict, HasSubstr("reliably later: in 1.75 times cure's steps (speed-up 0.57"));
}

TEST(CompareArms, SaysNoDifferenceOfIdenticalArms) {
  const ArmReport report = compare_one(make_arm("softmax", kSlow), make_arm("same", kSlow));
  EXPECT_EQ(report.against_baseline->speedup->ratio, 1);
  EXPECT_NEAR(report.against_baseline->log_rank->p, 1, 1e-6);
  EXPECT_EQ(report.against_baseline->paired->undecided, 10U);
  EXPECT_EQ(report.kind, VerdictKind::alike);
  EXPECT_THAT(report.verdict, HasSubstr("every seed has its moment at the same step"));
  expect_finite(report);
}

TEST(CompareArms, SaysWhatIsStillPossibleWhenNothingIsShown) {
  const ArmReport report = compare_one(make_arm("softmax", kSlow),
                                       make_arm("other", {450, 980, 2000, 600, 2000, 300, 700, 520, 2000, 640}, 100));
  EXPECT_EQ(report.kind, VerdictKind::inconclusive);
  EXPECT_THAT(report.verdict, HasSubstr("no evidence of a difference"));
  EXPECT_THAT(report.verdict, HasSubstr("times softmax's steps is possible"));
  EXPECT_FALSE(report.against_baseline->paired) << "no seed in common";
}

TEST(CompareArms, SaysTooFewSeeds) {
  const ArmReport report = compare_one(make_arm("softmax", {500, 600, 700}), make_arm("cure", {100, 120, 130}));
  EXPECT_EQ(report.kind, VerdictKind::too_few);
  EXPECT_THAT(report.verdict, HasSubstr("too few seeds to tell (3 runs against 3)"));
}

TEST(CompareArms, DoesNotCallAnArmThatLearnsGraduallyStuck) {
  Arm gradual = make_arm("mlp", {2000, 2000, 2000, 2000, 2000, 2000});
  for (TrialOutcome& trial : gradual.trials) trial.steps_to_level = 200, trial.final_accuracy = 1;
  const ArmReport report = compare_one(make_arm("softmax", kSlow), gradual);
  EXPECT_EQ(report.kind, VerdictKind::gradual);
  EXPECT_THAT(report.verdict, HasSubstr("learns without a moment"));
  EXPECT_GT(report.against_baseline->level_speedup->ratio, 2);
}

TEST(CompareArms, AnArmThatDoesNotCompareHasNoComparisonAndNoPlaceInTheCorrection) {
  Arm gradual = make_arm("mlp", {2000, 2000, 2000, 2000, 2000, 2000});
  for (TrialOutcome& trial : gradual.trials) trial.steps_to_level = 200, trial.final_accuracy = 1;
  const std::vector<Arm> arms = {scaled("a", 0.5), gradual, scaled("b", 0.8)};
  const StudyComparison study = compare_arms(make_arm("softmax", kSlow), arms, kHorizon);
  const ArmComparison& none = *study.arms[1].against_baseline;
  EXPECT_FALSE(none.speedup || none.log_rank || none.log_rank_p_holm || none.hazard || none.paired);
  EXPECT_TRUE(none.level_speedup);
  EXPECT_NEAR(*study.arms[0].against_baseline->log_rank_p_holm, 2 * study.arms[0].against_baseline->log_rank->p, 1e-12)
      << "corrected over the two arms that compare";
}

TEST(CompareArms, ByTheTargetAnArmThatLearnsGraduallyIsSooner) {
  Arm gradual = make_arm("mlp", {2000, 2000, 2000, 2000, 2000, 2000});
  for (TrialOutcome& trial : gradual.trials)
    trial.steps_to_level = 200 + 5 * static_cast<double>(trial.seed), trial.final_accuracy = 1;
  const StudyComparison study =
      compare_arms(make_arm("softmax", kSlow), std::span(&gradual, 1), kHorizon, {.awaited = AwaitedEvent::target});
  const ArmReport& report = study.arms.at(0);
  EXPECT_EQ(report.kind, VerdictKind::sooner);
  EXPECT_THAT(report.verdict, HasSubstr("mlp reaches the target reliably sooner"));
  EXPECT_THAT(report.verdict, HasSubstr("Reached: 6 of 6 runs against 9 of 10."));
  EXPECT_EQ(report.summary.moments, 0U);
  EXPECT_EQ(*report.summary.rate, 1);
  EXPECT_NEAR(*report.summary.event.restricted_mean, 217.5, 1e-9);
  EXPECT_EQ(report.against_baseline->speedup->ratio, report.against_baseline->level_speedup->ratio);
  EXPECT_EQ(report.against_baseline->paired->arm_sooner, 6U);
  EXPECT_THAT(study.baseline.verdict, HasSubstr("9 of 10 runs reached the target within 1000 steps"));
}

TEST(CompareArms, CensorsRunsShortOfTheTargetAsThoseWithoutAMoment) {
  Arm arm = make_arm("arm", {400, 500, 600});  // at the target 20 steps later
  arm.trials[1].steps_to_level.reset();        // a moment, but never the target
  arm.trials[2].steps_to_level.reset();
  arm.trials[2].diverged = true;
  arm.trials[2].last_step = 700;
  const ComparisonOptions by_target{.awaited = AwaitedEvent::target};
  const ArmSummary summary = summarize_arm(arm.trials, kHorizon, by_target);
  EXPECT_EQ(summary.moments, 3U);
  EXPECT_EQ(summary.event.events, 1U);
  EXPECT_NEAR(*summary.event.restricted_mean, (420 + 1000 + 1000) / 3.0, 1e-9);
  arm.trials[0].steps_to_level.reset();
  const StudyComparison study = compare_arms(arm, std::span(&arm, 1), kHorizon, by_target);
  EXPECT_EQ(study.arms[0].kind, VerdictKind::not_reached);
}

TEST(CompareArms, CountsADivergedRunAsWaitingToTheHorizon) {
  Arm arm = make_arm("arm", {500, 600, 2000});
  arm.trials[2].diverged = true;
  arm.trials[2].last_step = 10;
  const ArmSummary summary = summarize_arm(arm.trials, kHorizon);
  EXPECT_EQ(summary.diverged, 1U);
  EXPECT_NEAR(*summary.event.restricted_mean, (500 + 600 + 1000) / 3.0, 1e-9);
  arm.trials[2].diverged = false;  // stopped early instead: censored at step 10, it tells nothing about later steps
  EXPECT_NEAR(*summarize_arm(arm.trials, kHorizon).event.restricted_mean, 550, 1e-9);
}

TEST(CompareArms, TreatsCensoredPairsAsItSays) {
  Arm baseline = make_arm("baseline", {2000, 2000, 700, 300, 400, 800});
  Arm arm = make_arm("arm", {2000, 500, 2000, 200, 400, 2000});
  arm.trials[5].last_step = 600;  // stopped before the baseline's moment at 800: nobody can tell
  const PairedComparison paired = *compare_one(baseline, arm).against_baseline->paired;
  EXPECT_EQ(paired.pairs, 6U);
  EXPECT_EQ(paired.arm_sooner, 2U);       // seeds 2 and 4
  EXPECT_EQ(paired.baseline_sooner, 1U);  // seed 3
  EXPECT_EQ(paired.undecided, 3U);        // neither, tie, stopped
  EXPECT_EQ(paired.left_out_of_signed_rank, 1U);
  EXPECT_EQ(paired.censored_in_signed_rank, 2U);
  EXPECT_EQ(paired.signed_rank.pairs, 3U);        // differences 500, -300, 100
  EXPECT_EQ(paired.signed_rank.positive_sum, 4);  // ranks 3 and 1
}

TEST(CompareArms, CorrectsOverArms) {
  const std::vector<Arm> arms = {scaled("a", 0.5), scaled("b", 0.95), scaled("c", 0.8)};
  const StudyComparison study = compare_arms(make_arm("softmax", kSlow), arms, kHorizon);
  ASSERT_EQ(study.arms.size(), 3U);
  EXPECT_NEAR(*study.arms[0].against_baseline->log_rank_p_holm, 3 * study.arms[0].against_baseline->log_rank->p, 1e-12);
  EXPECT_THAT(study.baseline.verdict, HasSubstr("softmax is the baseline: 9 of 10 runs"));
}

TEST(CompareArms, HasAnAnswerForEveryDegenerateArm) {
  const std::vector<Arm> odd = {make_arm("none", {}),
                                make_arm("one", {500}),
                                make_arm("one stuck", {2000}),
                                make_arm("all stuck", std::vector<double>(10, 2000)),
                                make_arm("all at once", std::vector<double>(10, 400)),
                                make_arm("all at 0", std::vector<double>(10, 0)),
                                make_arm("all at the horizon", std::vector<double>(10, kHorizon)),
                                make_arm("one moment", {900, 2000, 2000, 2000, 2000, 2000, 2000, 2000, 2000, 2000}),
                                make_arm("ordinary", kSlow)};
  for (const Arm& baseline : odd) {
    const StudyComparison study = compare_arms(baseline, odd, kHorizon, {.resamples = 200});
    expect_finite(study.baseline);
    for (const ArmReport& report : study.arms) expect_finite(report);
    for (const ArmReport& report :
         compare_arms(baseline, odd, kHorizon, {.awaited = AwaitedEvent::target, .resamples = 200}).arms)
      expect_finite(report);
  }
  EXPECT_EQ(compare_one(odd[3], odd[3]).kind, VerdictKind::no_moments);
  EXPECT_EQ(compare_one(odd[0], odd[8]).kind, VerdictKind::no_trials);
  EXPECT_TRUE(compare_arms(odd[8], {}, kHorizon).arms.empty());
}

TEST(CompareArms, IsReproducibleAndDoesNotDependOnTheOrderOfTrials) {
  const Arm baseline = make_arm("softmax", kSlow), arm = scaled("cure", 0.8);
  Arm reversed = arm;
  std::reverse(reversed.trials.begin(), reversed.trials.end());
  const auto first = compare_one(baseline, arm), again = compare_one(baseline, arm),
             turned = compare_one(baseline, reversed);
  EXPECT_EQ(first.against_baseline->speedup->interval->low, again.against_baseline->speedup->interval->low);
  EXPECT_EQ(first.against_baseline->speedup->interval->high, turned.against_baseline->speedup->interval->high);
  EXPECT_EQ(first.verdict, turned.verdict);
}

TEST(CompareArms, PairingSeedsNarrowsTheSpeedup) {
  const Arm baseline = make_arm("softmax", kSlow);
  const auto width = [&](const Arm& arm) {
    const Interval interval = *compare_one(baseline, arm).against_baseline->speedup->interval;
    return interval.high - interval.low;
  };
  EXPECT_LT(width(scaled("same seeds", 0.8)), 0.7 * width(scaled("other seeds", 0.8, 100)));
}

TEST(TargetAccuracy, IsAShareOfTheBaselinesMedian) {
  EXPECT_NEAR(*target_accuracy(make_arm("softmax", kSlow).trials), 0.95, 1e-12);
  EXPECT_FALSE(target_accuracy({}));
}

}  // namespace
}  // namespace eureka
