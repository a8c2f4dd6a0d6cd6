// What a run is called when nobody says.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/command.h"

namespace eureka {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class RunName : public testing::Test {
 protected:
  CommandResult train(std::vector<std::string> words, const std::string& source = "two-step") {
    std::vector<std::string> all = {"train", source, "--quiet"};
    all.insert(all.end(), words.begin(), words.end());
    return eureka_command(all, place_.path());
  }
  // The directory, which is the last line.
  std::string name_of(const std::vector<std::string>& words, const std::string& source = "preset.toml") {
    const CommandResult result = train(words, source);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    const std::string printed = result.out.substr(0, result.out.size() - 1);
    return printed.substr(printed.rfind('\n') + 1);
  }
  void SetUp() override {
    atomic_write(place_.path() / "preset.toml",
                 "[task]\nname = \"two-step\"\n[train]\nsteps = 4\nbatch = 2\nvalidation_samples = 4\n"
                 "eval_every = 2\n[run]\ncheckpoint_every = 2\n");
  }

  TemporaryDirectory place_;
};

TEST_F(RunName, SaysWhatDiffersFromItsPreset) {
  EXPECT_EQ(name_of({}), "runs/preset-seed0");
  EXPECT_EQ(name_of({"--seed", "3"}), "runs/preset-seed3");
  EXPECT_EQ(name_of({"--set", "attention.scale.kind=half-cosine", "--set", "attention.scale.from=24"}),
            "runs/preset-half-cosine-24-seed0");
  EXPECT_EQ(name_of({"--set", "attention.rule=norm_softmax", "--set", "attention.deviation=variance", "--set",
                     "train.lr=2e-3"}),
            "runs/preset-norm_softmax-variance-lr-0.002-seed0");
  EXPECT_EQ(name_of({"--set", "model.name=mlp"}), "runs/preset-mlp-seed0") << "no word of a rule it does not have";
}

TEST_F(RunName, LeavesOutWhatTheSettingsDoNotChange) {
  EXPECT_EQ(name_of({"--set", "attention.rule=softmax", "--set", "train.steps=4", "--set", "diagnose.names="}),
            "runs/preset-seed0");
}

TEST_F(RunName, IsNeverTakenTwice) {
  ASSERT_EQ(name_of({}), "runs/preset-seed0");
  const std::string before = read_file(place_.path() / "runs/preset-seed0/metrics.jsonl");
  const CommandResult again = train({}, "preset.toml");
  ASSERT_EQ(again.exit_code, 0) << again.err;
  EXPECT_THAT(again.err, HasSubstr("runs/preset-seed0 is taken: this run is runs/preset-seed0-2"));
  EXPECT_THAT(again.out, HasSubstr("\nruns/preset-seed0-2\n"));
  EXPECT_EQ(name_of({}), "runs/preset-seed0-3");
  EXPECT_EQ(read_file(place_.path() / "runs/preset-seed0/metrics.jsonl"), before);
}

TEST_F(RunName, OfARunThatIsRepeatedHasItsSeedAndNumberOnce) {
  ASSERT_EQ(name_of({}), "runs/preset-seed0");
  EXPECT_EQ(name_of({}, "runs/preset-seed0/"), "runs/preset-seed0-2");
  EXPECT_EQ(name_of({"--seed", "1"}, "runs/preset-seed0-2"), "runs/preset-seed1");
}

TEST_F(RunName, IsFoundAgainByResume) {
  EXPECT_EQ(name_of({"--resume"}), "runs/preset-seed0") << "begun where there is none";
  EXPECT_EQ(name_of({}), "runs/preset-seed0-2");
  EXPECT_EQ(name_of({"--resume"}), "runs/preset-seed0-2") << "the last that was begun so";
  EXPECT_FALSE(fs::exists(place_.path() / "runs/preset-seed0-3"));
  // Another run of the same name is not this one.
  fs::rename(place_.path() / "runs/preset-seed0-2", place_.path() / "runs/away");
  ASSERT_EQ(name_of({"--set", "train.steps=6"}), "runs/preset-steps-6-seed0");
  fs::rename(place_.path() / "runs/preset-steps-6-seed0", place_.path() / "runs/preset-seed0-2");
  EXPECT_EQ(name_of({"--resume"}), "runs/preset-seed0");
}

TEST_F(RunName, IsNotTakenByARunThatNeverBegan) {
  EXPECT_NE(train({"--set", "train.eval_every=3", "--set", "diagnose.every=2"}, "preset.toml").exit_code, 0);
  EXPECT_NE(train({"--set", "intervene.transplant.run=nowhere", "--set", "intervene.transplant.groups=query_key",
                   "--set", "intervene.transplant.at=2"},
                  "preset.toml")
                .exit_code,
            0);
  EXPECT_TRUE(!fs::exists(place_.path() / "runs") || fs::is_empty(place_.path() / "runs"));
}

TEST_F(RunName, OfABranchSaysWhereItBeganAndWhatChanged) {
  ASSERT_EQ(name_of({}), "runs/preset-seed0");
  const auto branch = [&](std::vector<std::string> words) {
    words.insert(words.begin(), {"branch", "runs/preset-seed0@2", "--quiet"});
    return eureka_command(words, place_.path());
  };
  EXPECT_THAT(branch({"--set", "attention.rule=qk_norm"}).out, HasSubstr("runs/preset-seed0-from-2-qk_norm\n"));
  EXPECT_THAT(branch({"--set", "attention.rule=qk_norm"}).out, HasSubstr("runs/preset-seed0-from-2-qk_norm-2\n"));
  const CommandResult resumed = branch({"--set", "attention.rule=qk_norm", "--resume"});
  EXPECT_THAT(resumed.out, HasSubstr("runs/preset-seed0-from-2-qk_norm-2\n"));
  EXPECT_THAT(resumed.err, Not(HasSubstr("taken")));
  EXPECT_THAT(branch({}).out, HasSubstr("runs/preset-seed0-from-2\n"));
}

TEST_F(RunName, IsFitForAFile) {
  std::string text;
  for (int i = 0; i < 200; ++i) text += "all work and no play ";
  fs::create_directories(place_.path() / "t e");
  atomic_write(place_.path() / "t e" / "x t.txt", text);
  EXPECT_EQ(name_of({"--set", "task.text=t e/x t.txt", "--set", "task.name=language", "--set", "task.context=8",
                     "--set", "model.name=decoder"}),
            "runs/preset-decoder-language-8-x_t.txt-seed0");
}

}  // namespace
}  // namespace eureka
