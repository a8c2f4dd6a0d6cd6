#include "stats/detector_check.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>

#include "base/error.h"
#include "stats/real_curves.h"

namespace eureka {
namespace {

TEST(DetectorCheck, MeetsTheRecallAndFalseAlarmsPromisedOnHeldOutCurves) {
  const DetectorReport report = check_detector(make_curve_corpus(2000, kHeldOutSeed));
  EXPECT_GE(report.recall, 0.98) << format_report(report);
  EXPECT_LE(report.false_alarm_rate, 0.01) << format_report(report);
  EXPECT_LE(report.extra_rate, 0.01) << format_report(report);
  EXPECT_LE(report.error_of_budget.percentile_90, 0.01);
  EXPECT_LE(report.error_of_width.percentile_90, 0.25);
}

TEST(DetectorCheck, FindsNoKindOfMomentMuchHarderThanTheOthers) {
  for (const KindReport& kind : check_detector(make_curve_corpus(2000, kHeldOutSeed)).kinds) {
    EXPECT_GE(kind.recall(), 0.93) << kind.kind;
    EXPECT_LE(kind.false_alarms, kind.curves / 10) << kind.kind;
  }
}

TEST(DetectorCheck, ReachesItsAimOnTheLogsOfRealTrainingRunsItWasTunedOn) {
  const DetectorReport report = check_detector(real_curves(CurveHalf::tuning));
  EXPECT_GE(report.recall, 0.98) << format_report(report);
  EXPECT_LE(report.false_alarm_rate, 0.01) << format_report(report);
  EXPECT_LE(report.extra_rate, 0.01) << format_report(report);
}

// What was measured when they were looked at for the first time.
TEST(DetectorCheck, KeepsToWhatIsPromisedOnLogsOfRealTrainingRunsNotTunedOn) {
  const DetectorReport report = check_detector(real_curves(CurveHalf::held_out));
  EXPECT_GE(report.curves, 300U);
  EXPECT_GE(report.recall, 0.97) << format_report(report);
  EXPECT_LE(report.false_alarm_rate, 0.01) << format_report(report);
  EXPECT_LE(report.extra_rate, 0.01) << format_report(report);
  EXPECT_GE(report.under_way_recall, 0.58) << format_report(report);
  EXPECT_LE(report.false_under_way_rate, 0.005) << format_report(report);
  for (const KindReport& kind : report.kinds) {
    if (kind.curves >= 10) {
      EXPECT_GE(kind.recall(), 0.8) << kind.kind;
    }
    EXPECT_LE(kind.false_alarms, 1 + kind.curves / 16) << kind.kind;
  }
}

TEST(DetectorCheck, RarelyConfirmsWhatIsNoMomentDuringTheRun) {
  const DetectorReport report = check_detector(make_curve_corpus(125, kHeldOutSeed), {}, true);
  EXPECT_LE(report.online_false_alarm_rate, 0.06) << format_report(report);
}

// A detector that finds nothing and one that finds everything must both be called bad.
TEST(DetectorCheck, IsNotSatisfiedByADeafOrACredulousDetector) {
  const auto corpus = make_curve_corpus(500, kHeldOutSeed);
  EXPECT_EQ(check_detector(corpus, {.min_rise = 2}).recall, 0);
  DetectorOptions credulous;
  credulous.min_rise = 0.05;
  credulous.max_width_of_plateau = 5;
  credulous.min_plateau = 2;
  credulous.hold = 1;
  EXPECT_GT(check_detector(corpus, credulous).false_alarm_rate, 0.03);
}

TEST(CurveCorpus, IsAFunctionOfSeedAndIndex) {
  const auto a = make_curve_corpus(60, 9), b = make_curve_corpus(30, 9);
  const auto other = make_curve_corpus(30, 10);
  for (std::size_t i = 0; i < b.size(); ++i) {
    ASSERT_EQ(a[i].points.size(), b[i].points.size());
    EXPECT_EQ(a[i].points[3].value, b[i].points[3].value);
    EXPECT_NE(a[i].points[3].value, other[i].points[3].value) << a[i].kind;
  }
}

TEST(CurveCorpus, HasEveryKindInBothDirectionsWithWellFormedLabels) {
  std::map<std::string, std::set<Direction>> directions;
  std::size_t with_known_level = 0, uneven = 0;
  const auto corpus = make_curve_corpus(1000, kDevelopmentSeed);
  for (const LabeledCurve& curve : corpus) {
    directions[curve.kind].insert(curve.direction);
    with_known_level += curve.plateau_level.has_value();
    EXPECT_EQ(curve.is_positive, !curve.moments.empty()) << curve.kind;
    ASSERT_GE(curve.points.size(), 10U) << curve.kind;
    for (std::size_t i = 1; i < curve.points.size(); ++i) EXPECT_LT(curve.points[i - 1].step, curve.points[i].step);
    const double first = curve.points[1].step - curve.points[0].step;
    uneven += std::abs(curve.points.back().step - curve.points[curve.points.size() - 2].step - first) > 1e-6 * first;
    for (const TrueMoment& moment : curve.moments) {
      EXPECT_GT(moment.step, curve.points.front().step);
      EXPECT_LT(moment.step, curve.points.back().step);
      EXPECT_GT(moment.width, 0);
    }
  }
  EXPECT_EQ(directions.size(), curve_kind_count());
  std::size_t both = 0;
  for (const auto& [kind, seen] : directions) both += seen.size() == 2;
  EXPECT_GE(both, curve_kind_count() - 3);  // accuracy moment, loss moment and training loss have one by name
  EXPECT_GT(with_known_level, 50U);
  EXPECT_GT(uneven, 50U);
}

TEST(RealCurves, HaveWellFormedLabelsAndNoRunInBothHalves) {
  std::set<std::string> tuned_on, kinds;
  const auto run_of = [](const LabeledCurve& curve) { return curve.source.substr(0, curve.source.rfind('/')); };
  for (const LabeledCurve& curve : real_curves(CurveHalf::tuning)) tuned_on.insert(run_of(curve));
  for (const LabeledCurve& curve : real_curves(CurveHalf::held_out)) {
    kinds.insert(curve.kind);
    EXPECT_FALSE(tuned_on.contains(run_of(curve))) << curve.source;
    EXPECT_EQ(curve.is_positive, !curve.moments.empty()) << curve.source;
    ASSERT_GE(curve.points.size(), 10U) << curve.source;
    for (const TrueMoment& moment : curve.moments) {
      EXPECT_GT(moment.step, curve.points.front().step) << curve.source;
      EXPECT_LE(moment.step, curve.points.back().step) << curve.source;
      EXPECT_GT(moment.width, 0) << curve.source;
    }
  }
  for (const char* kind :
       {"transformer", "cnn, no moment", "mlp", "grokking, noisy", "lr drop", "short, cut soon after", "under way",
        "noisy short, cut soon after", "short, no moment", "plateau so far", "stuck"}) {
    EXPECT_TRUE(kinds.contains(kind)) << kind;
  }
}

TEST(RealCurves, AreReadFromLinesOfTabs) {
  const auto curves = parse_real_curves("cut\tp/r/val_acc\tup\t0.55\teither\t25\t8\t10\t10\t0.5 nan 0.75\n", "here");
  ASSERT_EQ(curves.size(), 1U);
  EXPECT_EQ(curves[0].kind, "cut");
  EXPECT_EQ(curves[0].ending, Ending::past_half_way);
  EXPECT_EQ(curves[0].plateau_level, 0.55);
  EXPECT_EQ(curves[0].moments.at(0).step, 25);
  ASSERT_EQ(curves[0].points.size(), 3U);
  EXPECT_EQ(curves[0].points[2].step, 30);
  EXPECT_EQ(curves[0].points[2].value, 0.75);
  EXPECT_TRUE(std::isnan(curves[0].points[1].value));
  EXPECT_THROW(parse_real_curves("cut\tp\tup\t-\tnone\t-\t-\tx\t1\t0.5\n", "here"), Error);
}

TEST(CurveCorpus, LabelsTheHalfWayCrossing) {
  for (std::size_t index = 0; index < 500; ++index) {
    const LabeledCurve curve = make_labeled_curve(index, kDevelopmentSeed);
    if (curve.kind != "plateau from the start") continue;
    // a width away from the label every value is on its side of the middle of the levels before and after
    const double sign = curve.direction == Direction::up ? 1 : -1;
    const TrueMoment& truth = curve.moments[0];
    double before = 0, after = 0;
    std::size_t n_before = 0, n_after = 0;
    for (const auto& [step, value] : curve.points) {
      if (step < truth.step - 1.5 * truth.width) before += sign * value, ++n_before;
      if (step > truth.step + 1.5 * truth.width) after += sign * value, ++n_after;
    }
    const double half = 0.5 * (before / static_cast<double>(n_before) + after / static_cast<double>(n_after));
    std::size_t wrong = 0;
    for (const auto& [step, value] : curve.points) {
      const double progress = sign * value - half;
      if (std::abs(step - truth.step) > truth.width) wrong += (progress > 0) != (step > truth.step);
    }
    EXPECT_EQ(wrong, 0U) << index;
  }
}

}  // namespace
}  // namespace eureka
