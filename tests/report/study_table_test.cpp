#include "report/study_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace eureka {
namespace {

using testing::HasSubstr;
using testing::Not;

// Six runs: moments at 500, 540, ... and the target 20 steps later for softmax; the target alone for gradual.
StudyReport report_by(AwaitedEvent event) {
  StudyReport report;
  report.study.arms = {{"softmax", {}}, {"gradual", {}}};
  report.study.event = event;
  report.study.target = 0.9;
  Arm softmax{"softmax", {}}, gradual{"gradual", {}};
  for (std::int64_t seed = 1; seed <= 6; ++seed) {
    const double moment = 460 + 40 * static_cast<double>(seed);
    softmax.trials.push_back(
        {.seed = seed, .moment = moment, .last_step = 1000, .final_accuracy = 1, .steps_to_level = moment + 20});
    gradual.trials.push_back(
        {.seed = seed, .last_step = 1000, .final_accuracy = 1, .steps_to_level = 100 + static_cast<double>(seed)});
  }
  const StudyComparison comparison = compare_arms(softmax, std::span(&gradual, 1), 1000, {.awaited = event});
  PointReport point{.point = {}, .horizon = 1000, .arms = {}, .target_accuracy = 0.9, .target_arm = {}};
  point.arms = {{comparison.baseline, {}, {}}, {comparison.arms[0], {}, {}}};
  report.points = {point};
  return report;
}

TEST(StudyText, ByTheMomentSpeaksOfMoments) {
  const std::string text = study_text(report_by(AwaitedEvent::moment), {});
  for (const char* part : {"moments", "rate [95%]", "median step [95%]", "to target", "6/6", "0/6",
                           "runs still without a moment, by step", "to target: median steps to"})
    EXPECT_THAT(text, HasSubstr(part));
}

TEST(StudyText, ByTheTargetSpeaksOfTheTarget) {
  const std::string text = study_text(report_by(AwaitedEvent::target), {});
  for (const char* part : {"reached", "moments", "6/6", "0/6", "target: accuracy 0.900",
                           "runs still short of the target", "gradual reaches the target reliably sooner"})
    EXPECT_THAT(text, HasSubstr(part));
  EXPECT_THAT(text, Not(HasSubstr("without a moment")));
}

TEST(StudyText, TellsWhatTheFinalAccuracyIsWhenRunsWereStoppedAfterTheirMoment) {
  StudyReport report = report_by(AwaitedEvent::moment);
  report.trials = {{.steps = 1000, .moment = 500}};
  EXPECT_THAT(study_text(report, {}), Not(HasSubstr("stopped after their moment")));
  report.trials = {{.steps = 750, .moment = 500}};
  EXPECT_THAT(study_text(report, {}), HasSubstr("stopped after their moment"));
}

TEST(StudyText, HasAColumnForGrokkingWhereThereIsAny) {
  StudyReport report = report_by(AwaitedEvent::moment);
  EXPECT_THAT(study_text(report, {}), Not(HasSubstr("groks")));
  report.points[0].arms[1].statistics.summary.groks = 5;
  EXPECT_THAT(study_text(report, {}), HasSubstr("groks"));
  EXPECT_THAT(study_text(report, {.width = 80}), HasSubstr("5/6")) << "nor in a narrow terminal are they passed over";
}

TEST(StudyText, NarrowTerminalsGetFewerColumns) {
  const std::string text = study_text(report_by(AwaitedEvent::moment), {.width = 80});
  EXPECT_THAT(text, HasSubstr("speed-up [95%]"));
  EXPECT_THAT(text, Not(HasSubstr("rate [95%]")));
}

}  // namespace
}  // namespace eureka
