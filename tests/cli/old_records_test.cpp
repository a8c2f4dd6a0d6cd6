// Directories written by earlier programs open, resume, branch and report for ever.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "io/json.h"
#include "support/command.h"

namespace eureka {
namespace {

using testing::HasSubstr;

// A copy of the fixtures of one version, which the program may change.
class OldRecords : public testing::Test {
 protected:
  void SetUp() override {
    fs::copy(fs::path(EUREKA_TESTS) / "fixtures" / "v0.1", directory_.path(), fs::copy_options::recursive);
  }
  fs::path of(const std::string& name) const { return directory_.path() / name; }

  static void replace_text(const fs::path& file, const std::string& before, const std::string& after) {
    std::string text = read_file(file);
    const std::size_t at = text.find(before);
    ASSERT_NE(at, std::string::npos) << before << " is not in " << file;
    replace_file(file, text.replace(at, before.size(), after));
  }

  static void expect_same_files(const fs::path& a, const fs::path& b, const std::vector<std::string>& names) {
    for (const std::string& name : names) EXPECT_EQ(read_file(a / name), read_file(b / name)) << name;
  }

  static CommandResult resume(const fs::path& run, const std::vector<std::string>& more = {}) {
    std::vector<std::string> words = {"train", "--out", run.string(), "--resume", "--quiet"};
    words.insert(words.end(), more.begin(), more.end());
    return eureka_command(words);
  }
  static CommandResult resume_study(const fs::path& study) {
    return eureka_command({"study", "--out", study.string(), "--resume", "--json"});
  }

  TemporaryDirectory directory_;
};

const std::vector<std::string> kWholeRun = {"metrics.jsonl", "summary.json", "checkpoints/step-40/model.safetensors",
                                            "checkpoints/step-40/optimizer.safetensors"};

TEST_F(OldRecords, AFinishedRunOpens) {
  const std::string summary = read_file(of("finished") / "summary.json");
  const CommandResult shown = resume(of("finished"), {"--json"});
  ASSERT_EQ(shown.exit_code, 0) << shown.err;
  EXPECT_EQ(shown.out, summary);
  const CommandResult moment = resume(of("moment"));
  ASSERT_EQ(moment.exit_code, 0) << moment.err;
  EXPECT_THAT(moment.out, HasSubstr("Eureka-moment at step 1054: from 0.561 to 0.986, 10-90% in 93 steps"));
}

TEST_F(OldRecords, AFinishedRunRepeatsFromItsCheckpointAndFromTheStart) {
  for (const char* step : {"20", "0"}) {
    const fs::path run = of(fmt::format("from-{}", step));
    fs::copy(of("finished"), run, fs::copy_options::recursive);
    const CommandResult again = resume(run, {"--step", step});
    ASSERT_EQ(again.exit_code, 0) << again.err;
    expect_same_files(run, of("finished"), kWholeRun);
  }
}

TEST_F(OldRecords, AnInterruptedRunEndsLikeOneThatWasNot) {
  const CommandResult ended = resume(of("interrupted"));
  ASSERT_EQ(ended.exit_code, 0) << ended.err;
  expect_same_files(of("interrupted"), of("finished"), kWholeRun);
}

TEST_F(OldRecords, AnOptionThatWasNotThereYetHasItsDefault) {
  replace_text(of("interrupted") / "config.toml", "clip = 0.0\n", "");
  replace_text(of("interrupted") / "config.toml", "stochastic_depth = 0.0\n", "");
  const CommandResult ended = resume(of("interrupted"));
  ASSERT_EQ(ended.exit_code, 0) << ended.err;
  expect_same_files(of("interrupted"), of("finished"), kWholeRun);
  const CommandResult other = resume(of("interrupted"), {"--set", "train.clip=1"});
  EXPECT_EQ(other.exit_code, 2);
  EXPECT_THAT(other.err, HasSubstr("this run has train.clip = 0.0, not 1.0"));
}

TEST_F(OldRecords, AKeyNobodyKnowsIsNamedWithTheVersionThatWroteIt) {
  replace_text(of("interrupted") / "config.toml", "clip = 0.0\n", "clip = 0.0\nclip_by = \"value\"\n");
  replace_text(of("interrupted") / "meta.json", "\"0.1.0\"", "\"7.2.0\"");
  const CommandResult refused = resume(of("interrupted"));
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, HasSubstr("unknown key 'train.clip_by' (written by eureka 7.2.0; this is eureka "));
  const CommandResult branched =
      eureka_command({"branch", of("interrupted").string() + "@20", "--out", of("new").string(), "--quiet"});
  EXPECT_EQ(branched.exit_code, 2);
  EXPECT_THAT(branched.err, HasSubstr("written by eureka 7.2.0"));
}

TEST_F(OldRecords, BranchesAreMadeFromAnOldRunAsItMadeThemItself) {
  const CommandResult branched =
      eureka_command({"branch", of("finished").string() + "@20", "--set", "attention.rule=norm_softmax", "--quiet",
                      "--out", of("new").string()});
  ASSERT_EQ(branched.exit_code, 0) << branched.err;
  expect_same_files(of("new"), of("branch"), kWholeRun);
}

TEST_F(OldRecords, AnOldBranchIsContinuedWithoutAnOptionThatIsNewSince) {
  // A branch names its run by its absolute path, which is another here.
  replace_text(of("branch") / "origin.json", "/tmp/eureka-0.1", fs::canonical(directory_.path()).string());
  replace_text(of("branch") / "config.toml", "clip = 0.0\n", "");
  const std::string metrics = read_file(of("branch") / "metrics.jsonl"),
                    summary = read_file(of("branch") / "summary.json");
  fs::remove(of("branch") / "summary.json");
  fs::remove_all(of("branch") / "checkpoints" / "step-40");
  const auto continue_with = [&](const std::string& change) {
    return eureka_command({"branch", of("finished").string() + "@20", "--set", change, "--quiet", "--resume", "--out",
                           of("branch").string()});
  };
  EXPECT_THAT(continue_with("attention.rule=qk_norm").err, HasSubstr("attention.rule = \"norm_softmax\""));
  const CommandResult continued = continue_with("attention.rule=norm_softmax");
  ASSERT_EQ(continued.exit_code, 0) << continued.err;
  EXPECT_EQ(read_file(of("branch") / "metrics.jsonl"), metrics);
  EXPECT_EQ(read_file(of("branch") / "summary.json"), summary);
}

// Where no arm has a moment nothing is compared any more, and sentences are worded otherwise; every other number stays.
Json without_what_changed(const std::string& text) {
  Json report = Json::parse(text);
  Json arms = Json::array();
  for (Json arm : report.at("arms")) {
    for (const char* changed : {"verdict", "speedup", "paired"}) arm.erase(changed);
    arms.push_back(arm);
  }
  report["arms"] = arms;
  return report;
}

TEST_F(OldRecords, AStudyReportsTheSameStatistics) {
  const std::string found = read_file(of("study") / "study.json");
  for (const char* name : {"arms.csv", "trials.csv", "study.json"}) fs::remove(of("study") / name);
  const CommandResult reported = resume_study(of("study"));
  ASSERT_EQ(reported.exit_code, 0) << reported.err;
  EXPECT_EQ(without_what_changed(reported.out), without_what_changed(found));
  expect_same_files(of("study"), fs::path(EUREKA_TESTS) / "fixtures" / "v0.1" / "study", {"trials.csv"});
}

TEST_F(OldRecords, AStudyRunsAgainWhatIsMissingAndWhatIsDamaged) {
  const std::string found = read_file(of("study") / "study.json");
  fs::remove_all(of("study") / "softmax" / "seed-1");
  replace_text(of("study") / "softmax" / "seed-2" / "config.toml", "clip = 0.0\n", "");
  const fs::path damaged = of("study") / "qk_norm" / "seed-2";
  const std::string summary = read_file(damaged / "summary.json");
  replace_text(damaged / "summary.json", "\"steps\": 40", "\"steps\": \"forty\"");
  const CommandResult resumed = resume_study(of("study"));
  ASSERT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_EQ(without_what_changed(resumed.out), without_what_changed(found));
  EXPECT_EQ(read_file(damaged / "summary.json"), summary);
  EXPECT_THAT(read_file(damaged / "summary.json.damaged"), HasSubstr("forty"));
}

TEST_F(OldRecords, ADamagedTrialThatCannotBeMendedIsNamedAndTheOthersCount) {
  replace_text(of("study") / "qk_norm" / "seed-2" / "metrics.jsonl", "\"val_accuracy\"", "\"value\"");
  const CommandResult resumed = resume_study(of("study"));
  EXPECT_EQ(resumed.exit_code, 1);
  const Json found = Json::parse(resumed.out);
  EXPECT_EQ(found.at("trials_damaged"), 1);
  EXPECT_EQ(found.at("damaged")[0].at("directory"), "qk_norm/seed-2");
  EXPECT_THAT(found.at("damaged")[0].at("reason").get<std::string>(), HasSubstr("'val_accuracy' is missing"));
  EXPECT_EQ(found.at("arms")[0].at("n"), 2);
  EXPECT_EQ(found.at("arms")[1].at("n"), 1);
  const CommandResult table = eureka_command({"study", "--out", of("study").string(), "--resume"});
  EXPECT_THAT(table.out, HasSubstr("1 of 4 trials is damaged and left out"));
}

TEST_F(OldRecords, ASummaryOfALaterFormatIsLeftAloneAndNamed) {
  const fs::path file = of("study") / "qk_norm" / "seed-2" / "summary.json";
  replace_text(file, "{", "{\n  \"format\": 2,");
  const std::string later = read_file(file);
  const CommandResult resumed = resume_study(of("study"));
  EXPECT_EQ(resumed.exit_code, 1);
  EXPECT_THAT(resumed.err, HasSubstr("summary.json: a summary of a run in format 2; eureka "));
  EXPECT_EQ(Json::parse(resumed.out).at("trials_damaged"), 1);
  EXPECT_EQ(read_file(file), later);
}

TEST_F(OldRecords, AKeyOfAStudyThatNobodyKnowsIsNamedWithTheVersionThatWroteIt) {
  replace_text(of("study") / "study.toml", "timeout = 300.0\n", "timeout = 300.0\nversion = \"7.2.0\"\npatience = 3\n");
  const CommandResult refused = resume_study(of("study"));
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, HasSubstr("unknown key 'study.patience' (written by eureka 7.2.0; this is eureka "));
}

}  // namespace
}  // namespace eureka
