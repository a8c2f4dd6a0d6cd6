// What a study says of run directories that are written here.
#include "lab/study_report.h"
#include "io/json.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "lab/study_statistics.h"
#include "support/temporary_directory.h"

namespace eureka {
namespace {

using testing::HasSubstr;

constexpr int kBudget = 1000, kEvaluateEvery = 10;

// Six runs of each arm: softmax rests on the plateau and then jumps; gradual climbs steadily and never rests, so that
// the detector finds no moment in it.
class SyntheticStudy : public testing::Test {
 protected:
  SyntheticStudy() {
    study_.name = "synthetic";
    study_.base = "two-step";
    study_.arms = {{"softmax", {}}, {"gradual", {}}};
    study_.points = {{"", {}}};
    for (std::int64_t seed = 1; seed <= 6; ++seed) {
      study_.seeds.push_back(seed);
      const int moment = 500 + 40 * static_cast<int>(seed);
      add(0, seed, moment, [=](int step) { return step < moment ? 0.55 : 1.0; });
      add(1, seed, 0, [=](int step) { return std::min(1.0, 0.1 + 0.002 * (step + static_cast<int>(seed))); });
    }
  }

  // `moment` 0: none.
  template <class Accuracy>
  void add(std::size_t arm, std::int64_t seed, int moment, Accuracy accuracy) {
    const fs::path run = directory_.path() / study_.arms[arm].name / fmt::format("seed-{}", seed);
    make_directories(run);
    std::ofstream metrics(run / "metrics.jsonl");
    for (int step = 0; step <= kBudget; step += kEvaluateEvery)
      metrics << fmt::format(
          "{{\"step\":{},\"val_accuracy\":{},\"val_loss\":0.5,\"lr\":0.001,\"scale_multiple\":1.0}}\n", step,
          accuracy(step));
    Json summary = {{"status", "finished"},
                    {"steps", kBudget},
                    {"seed", seed},
                    {"task", "two-step"},
                    {"model", "transformer"},
                    {"attention", "softmax"},
                    {"parameters", 18026},
                    {"task_plateau_accuracy", 0.55},
                    {"final_validation_accuracy", accuracy(kBudget)},
                    {"final_validation_loss", 0.5}};
    summary["moment"] = {
        {"found", moment > 0}, {"step", nullptr}, {"plateau_level", nullptr}, {"level_after", nullptr}};
    if (moment > 0)
      summary["moment"].update({{"step", moment},
                                {"plateau_level", 0.55},
                                {"level_after", 1.0},
                                {"rise_start", moment - 5},
                                {"rise_end", moment + 5},
                                {"score", 0.9}});
    std::ofstream(run / "summary.json") << summary.dump(2);
    Trial trial{0, arm, seed, run, {}, {}};
    trial.config.task.name = "two-step";
    trial.config.train.steps = kBudget;
    trials_.push_back(trial);
  }

  StudyReport report() const { return report_study(study_, trials_, directory_.path()); }
  Json gradual() const { return Json::parse(study_json(report())).at("arms")[1]; }

  TemporaryDirectory directory_;
  Study study_;
  std::vector<Trial> trials_;
};

TEST_F(SyntheticStudy, ByTheMomentAnArmThatNeverRestsCannotBeCompared) {
  for (const char* key : {"speedup", "speedup_ci", "logrank_p", "logrank_p_uncorrected", "hazard_ratio"})
    EXPECT_TRUE(gradual().at(key).is_null()) << key;
  EXPECT_TRUE(gradual().at("paired").is_null());
  EXPECT_FALSE(gradual().at("speedup_to_target").is_null());
  EXPECT_EQ(gradual().at("moments"), 0);
  EXPECT_EQ(gradual().at("verdict_kind"), "gradual");
  EXPECT_FALSE(Json::parse(study_json(report())).contains("event"));
}

TEST_F(SyntheticStudy, CountsGrokkingApartFromMoments) {
  EXPECT_FALSE(gradual().contains("groks")) << "the files of a study without any are as they were";
  for (const Trial& trial : trials_) {
    if (trial.arm != 1) continue;
    Json summary = Json::parse(read_file(trial.directory / "summary.json"));
    summary["grokking"] = {{"found", true},     {"step", 800},     {"plateau_level", 0.1}, {"level_after", 1.0},
                           {"rise_start", 700}, {"rise_end", 900}, {"score", 0.9}};
    std::ofstream(trial.directory / "summary.json") << summary.dump(2);
  }
  EXPECT_EQ(gradual().at("groks"), 6);
  EXPECT_EQ(gradual().at("moments"), 0);
  EXPECT_EQ(gradual().at("rmst"), kBudget) << "grokking is not waited for";
  EXPECT_THAT(gradual().at("verdict").get<std::string>(), HasSubstr("6 grokked"));
  EXPECT_THAT(trials_csv(report()), HasSubstr(",800.0,gradual/seed-1"));
}

TEST_F(SyntheticStudy, ByTheTargetItIsSooner) {
  study_.event = AwaitedEvent::target;
  const Json arm = gradual();
  EXPECT_EQ(arm.at("moments"), 0);
  EXPECT_EQ(arm.at("reached_target"), 6);
  EXPECT_EQ(arm.at("rate"), 1.0);
  EXPECT_EQ(arm.at("verdict_kind"), "sooner") << arm.at("verdict");
  EXPECT_EQ(arm.at("median"), arm.at("steps_to_target_median"));
  EXPECT_EQ(arm.at("median"), 430);  // 95% of the baseline's 1.0
  EXPECT_EQ(arm.at("speedup"), arm.at("speedup_to_target"));
  EXPECT_EQ(arm.at("survival").back()[1], 0);
  EXPECT_EQ(arm.at("paired").at("sooner"), 6);
  const Json whole = Json::parse(study_json(report()));
  EXPECT_EQ(whole.at("event"), "target");
  EXPECT_EQ(whole.at("points")[0].at("target_accuracy"), 0.95);
  EXPECT_EQ(whole.at("points")[0].at("target_arm"), "softmax");
}

TEST_F(SyntheticStudy, TheCausalSentenceClaimsWhatThePairsShow) {
  study_.event = AwaitedEvent::target;
  study_.branch.emplace();
  const auto sentence = [&] { return gradual().at("causal_verdict").get<std::string>(); };
  const std::string shared = "Both continuations share every bit up to that step and every batch after it";
  EXPECT_THAT(sentence(), HasSubstr("6 reached the target sooner with it, 0 sooner without, 0 cannot be told apart"));
  EXPECT_THAT(sentence(), HasSubstr(shared + ", so nothing but the change can make the difference."));
  const auto copy_softmax = [&](std::int64_t first_seed) {
    for (std::int64_t seed = first_seed; seed <= 6; ++seed)
      for (const char* file : {"metrics.jsonl", "summary.json"})
        fs::copy_file(directory_.path() / "softmax" / fmt::format("seed-{}", seed) / file,
                      directory_.path() / "gradual" / fmt::format("seed-{}", seed) / file,
                      fs::copy_options::overwrite_existing);
  };
  copy_softmax(3);
  EXPECT_THAT(sentence(), HasSubstr("2 reached the target sooner with it"));
  EXPECT_THAT(sentence(), HasSubstr("that they go one way is not shown."));
  copy_softmax(2);
  EXPECT_THAT(sentence(), HasSubstr("so the one difference comes from the change"));
  copy_softmax(1);
  EXPECT_THAT(sentence(), HasSubstr("6 cannot be told apart"));
  EXPECT_THAT(sentence(), testing::EndsWith(shared + ".")) << "nothing differs, so nothing has a cause";
}

TEST_F(SyntheticStudy, AnAbsoluteTargetIsTakenAsItIs) {
  study_.event = AwaitedEvent::target;
  study_.target = 0.3;
  EXPECT_EQ(gradual().at("median"), 100);
  EXPECT_EQ(gradual().at("verdict_kind"), "later") << "the plateau itself is past this target at step 0";
  study_.target = 1.5;
  EXPECT_EQ(gradual().at("reached_target"), 0);
  EXPECT_EQ(gradual().at("verdict_kind"), "not_reached");
  EXPECT_EQ(gradual().at("rmst"), kBudget);
}

TEST_F(SyntheticStudy, ARelativeTargetIsThatShareOfTheBaseline) {
  study_.event = AwaitedEvent::target;
  study_.relative_target = 0.8;
  EXPECT_EQ(Json::parse(study_json(report())).at("points")[0].at("target_accuracy"), 0.8);
  EXPECT_EQ(gradual().at("median"), 350);
}

TEST_F(SyntheticStudy, CsvHoldsTheSameRowsAsJson) {
  const std::string arms = arms_csv(report()), trials = trials_csv(report());
  EXPECT_THAT(arms, testing::StartsWith("name,point,n,moments,diverged,rate,rate_ci_low,rate_ci_high,median,"));
  EXPECT_THAT(arms, HasSubstr("paired_pairs,paired_sooner"));
  EXPECT_THAT(arms, HasSubstr("\ngradual,,6,0,0,0.0,"));
  EXPECT_THAT(trials, testing::StartsWith(
                          "arm,point,seed,status,steps,moment,rise_width,final_accuracy,steps_to_target,directory\n"
                          "softmax,,1,finished,1000,540.0,10.0,1.0,540.0,softmax/seed-1\n"));
}

TEST(StudyStatistics, AreAllToldInTheDocumentation) {
  const std::string page = read_file(fs::path(EUREKA_DOCS) / "study-json.md");
  for (const ArmStatistic& statistic : arm_statistics()) {
    EXPECT_THAT(page, HasSubstr("`" + statistic.key + "`"));
    EXPECT_FALSE(statistic.help.empty()) << statistic.key;
    if (statistic.interval) {
      EXPECT_THAT(page, HasSubstr("`" + statistic.key + "_ci`"));
    }
  }
  for (const TrialStatistic& statistic : trial_statistics()) EXPECT_THAT(page, HasSubstr("`" + statistic.key + "`"));
}

}  // namespace
}  // namespace eureka
