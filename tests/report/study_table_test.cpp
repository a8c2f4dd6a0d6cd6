#include "report/study_table.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <sstream>

#include "report/study_overview.h"
#include "report/table.h"

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

// The arms of a study at several points, each sooner than the one before; the last has no moment.
StudyReport report_of(std::size_t arms, std::size_t points) {
  StudyReport report;
  for (std::size_t arm = 0; arm < arms; ++arm)
    report.study.arms.push_back({arm == 0 ? "softmax" : fmt::format("arm-with-a-name-{}", arm), {}});
  for (std::size_t point = 0; point < points; ++point) {
    std::vector<Arm> all;
    for (std::size_t arm = 0; arm < arms; ++arm) {
      Arm one{report.study.arms[arm].name, {}};
      for (std::int64_t seed = 1; seed <= 10; ++seed) {
        const double moment = (400 + 40 * static_cast<double>(seed)) / std::pow(1.2, static_cast<double>(arm));
        const bool has_moment = arm + 1 < arms && (arm > 0 || seed < 10);
        one.trials.push_back(
            {.seed = seed, .moment = has_moment ? std::optional(moment) : std::nullopt, .last_step = 1000});
      }
      all.push_back(one);
    }
    const StudyComparison comparison =
        compare_arms(all[0], std::span(all).subspan(1), 1000, {.resamples = 1000, .has_level = false});
    PointReport at{.point = {}, .horizon = 1000, .arms = {}, .target_accuracy = {}, .target_arm = {}};
    if (points > 1) at.point.name = fmt::format("train.lr={},model.layers=2", point + 1);
    at.arms.push_back({comparison.baseline, {}, {}});
    for (const ArmReport& arm : comparison.arms) at.arms.push_back({arm, {}, {}});
    report.points.push_back(at);
  }
  return report;
}

int widest_line(const std::string& text) {
  int widest = 0;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) widest = std::max(widest, display_width(line));
  return widest;
}

TEST(StudyText, FitsTerminalsOfEveryWidthAndExplainsOnlyWhatIsThere) {
  const std::vector<std::pair<const char*, const char*>> columns_and_captions = {
      {"mean to budget  ", "mean to budget: "}, {"hazard  ", "hazard with"}, {"final acc\n", "final acc:"}};
  for (const StudyReport& report : {report_of(13, 1), report_of(3, 4)})
    for (const int width : {50, 60, 72, 80, 100, 120, 160, 250}) {
      const std::string text = study_text(report, {.width = width});
      EXPECT_LE(widest_line(text), width) << text;
      EXPECT_THAT(text, HasSubstr("speed-up"));
      for (const auto& [column, caption] : columns_and_captions)
        if (text.find(caption) != std::string::npos) {
          EXPECT_THAT(text, HasSubstr(column)) << width;
        }
    }
  EXPECT_THAT(study_text(report_of(13, 1), {.width = 80}), HasSubstr("speed-up: ratio of mean steps, a run without a"));
}

TEST(StudyText, HasWordsForWhatHasNoNumber) {
  const std::string text = study_text(report_of(13, 1), {});
  EXPECT_THAT(text, HasSubstr("   >")) << "a hazard ratio without an estimate has the end of its interval";
  EXPECT_THAT(text, HasSubstr("   <"));
  EXPECT_THAT(text, Not(HasSubstr("large ")));
  EXPECT_THAT(text, Not(HasSubstr("- -")));
  EXPECT_THAT(text, HasSubstr("never reaches the moment within 1000 steps"));
}

TEST(StudyText, AnArmThatDoesNotCompareHasNoSpeedUpAndNoP) {
  std::istringstream lines(study_text(report_by(AwaitedEvent::moment), {}));
  std::string line;
  while (std::getline(lines, line) && !line.starts_with(" gradual")) {
  }
  EXPECT_EQ(std::count(line.begin(), line.end(), '-'), 4) << "median, speed-up, hazard and p: " << line;
}

TEST(StudyText, AtMostFiveCurvesShareAPicture) {
  const std::string few = study_text(report_of(5, 1), {});
  EXPECT_THAT(few, HasSubstr("e arm-with-a-name-4\n"));
  EXPECT_THAT(few, Not(HasSubstr("every arm, the soonest first")));
  const std::string many = study_text(report_of(13, 1), {});
  EXPECT_THAT(many, HasSubstr("a softmax (heavy line)   b arm-with-a-name-11   c arm-with-a-name-12\n"))
      << "the baseline, the soonest, the latest";
  const std::string sorted = many.substr(many.find("every arm, the soonest first"));
  std::size_t last = 0;
  for (const char* name :
       {"b arm-with-a-name-11 ", "name-10", "name-9", "name-2 ", "name-1 ", "a softmax ", "c arm-"}) {
    EXPECT_GT(sorted.find(name), last) << name << "\n" << sorted;
    last = sorted.find(name);
  }
  const std::string asked = study_text(report_of(13, 1), {.curves = {"arm-with-a-name-3", "arm-with-a-name-7"}});
  EXPECT_THAT(asked, HasSubstr("a softmax (heavy line)   b arm-with-a-name-3   c arm-with-a-name-7\n"));
}

TEST(StudyText, StudiesWithAxesBeginWithAnOverview) {
  const std::string text = study_text(report_of(3, 4), {.width = 100});
  const std::size_t overview = text.find(" arm                 lr=1 layers=2");
  ASSERT_NE(overview, std::string::npos) << text;
  EXPECT_LT(overview, text.find("\ntrain.lr=1,model.layers=2\n"));
  EXPECT_THAT(text, HasSubstr(" softmax             9/10 "));
  EXPECT_THAT(text, HasSubstr("10/10 1.24"));
  EXPECT_THAT(text, HasSubstr(" 0/10***")) << "a ratio to runs without a moment would be one to the budget";
  EXPECT_THAT(text, HasSubstr("* p < 0.05, ** p < 0.01, *** p < 0.001"));
  EXPECT_EQ(study_text(report_of(3, 1), {}).find("***"), std::string::npos) << "one point needs none";
}

TEST(Stars, AreAsTheCaptionSays) {
  EXPECT_STREQ(stars_of(0.05), "");
  EXPECT_STREQ(stars_of(0.049), "*");
  EXPECT_STREQ(stars_of(0.0099), "**");
  EXPECT_STREQ(stars_of(0.00099), "***");
}

TEST(StudyText, NarrowTerminalsGetFewerColumns) {
  const std::string text = study_text(report_by(AwaitedEvent::moment), {.width = 80});
  EXPECT_THAT(text, HasSubstr("speed-up [95%]"));
  EXPECT_THAT(text, Not(HasSubstr("rate [95%]")));
}

}  // namespace
}  // namespace eureka
