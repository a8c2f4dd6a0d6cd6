// eureka diagnose: of runs, of studies, of what a program of somebody else's left, from the records alone.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "io/json.h"
#include "support/command.h"

namespace eureka {
namespace {

using testing::HasSubstr;
using testing::Not;

class DiagnoseVerb : public testing::Test {
 protected:
  std::string place(const std::string& name) const { return (directory_.path() / name).string(); }
  CommandResult train(const std::string& name, const std::vector<std::string>& sets = {}) const {
    std::vector<std::string> words = {"train", "two-step", "--seed", "1", "--quiet", "--out", place(name)};
    for (const std::string one :
         {"train.steps=300", "train.validation_samples=200", "train.batch=32", "run.checkpoint_every=100"})
      words.insert(words.end(), {"--set", one});
    for (const std::string& one : sets) words.insert(words.end(), {"--set", one});
    return eureka_command(words);
  }

  TemporaryDirectory directory_;
};

TEST_F(DiagnoseVerb, TellsEvenStarvedSoftmaxFromAOneHotOneAndFromNormSoftmax) {
  ASSERT_EQ(train("softmax").exit_code, 0);
  ASSERT_EQ(train("norm", {"attention.rule=norm_softmax"}).exit_code, 0);
  ASSERT_EQ(train("narrow", {"attention.scale.multiple=1000"}).exit_code, 0);
  const CommandResult told = eureka_command({"diagnose", place("softmax"), place("norm"), place("narrow")});
  ASSERT_EQ(told.exit_code, 0) << told.err;
  EXPECT_EQ(told.err, "");
  for (const char* part : {"at the first look, step 0", "starved at the start, because attention is spread evenly",
                           "not starved at the start", "narrow from the start", "paired seeds"})
    EXPECT_THAT(told.out, HasSubstr(part));
  EXPECT_THAT(told.out, Not(HasSubstr("\x1b"))) << "no terminal, no color";
  const Json json =
      Json::parse(eureka_command({"diagnose", place("softmax"), place("norm"), place("narrow"), "--json"}).out);
  ASSERT_EQ(json.size(), 3U);
  EXPECT_EQ(json[0].at("reading"), Json("starved-even"));
  EXPECT_EQ(json[1].at("reading"), Json("not-starved"));
  EXPECT_EQ(json[2].at("reading"), Json("narrow"));
  EXPECT_EQ(json[0].at("layers").size(), 2U);
  EXPECT_FALSE(json[0].at("try").empty());
}

// Each line of advice is a command of a shell that works as it stands.
TEST_F(DiagnoseVerb, WhatItSaysToTryWorksWhenItIsPasted) {
  const std::string run = place("a 'run'");
  ASSERT_EQ(train("a 'run'").exit_code, 0);
  const std::string told = eureka_command({"diagnose", run}).out;
  std::string script = told.substr(told.find("\neureka train ") + 1);
  EXPECT_THAT(script, HasSubstr("eureka branch "));
  const std::string shortened = " --seeds 1 --set train.steps=40 --progress none\n";
  ASSERT_TRUE(script.ends_with("--out studies/paired\n"));
  script.replace(script.size() - 1, 1, shortened);
  replace_file(place("script.sh"), script);
  fs::create_directories(place("bin"));
  fs::create_symlink(EUREKA_PROGRAM, place("bin/eureka"));
  const std::string line = fmt::format("cd {} && PATH=$PWD/bin:$PATH sh -e script.sh > log 2>&1", place(""));
  EXPECT_EQ(std::system(line.c_str()), 0) << script << read_file(place("log"));
  EXPECT_TRUE(fs::exists(place("studies/paired/study.json")));
}

TEST_F(DiagnoseVerb, OfARunWithoutLooksItSaysWhatRecordsThem) {
  ASSERT_EQ(train("a", {"diagnose.names="}).exit_code, 0);
  const CommandResult told = eureka_command({"diagnose", place("a")});
  EXPECT_EQ(told.exit_code, 0) << told.err;
  EXPECT_THAT(told.out, HasSubstr("nobody looked at the attention"));
  EXPECT_THAT(told.out, HasSubstr("--set diagnose.names=gradients,attention,attenuation"));
}

// It is judged by its validation, and its modules have names.
TEST_F(DiagnoseVerb, ReadsARunThatAnotherProgramTrained) {
  ASSERT_EQ(train("a").exit_code, 0);
  fs::remove(place("a") + "/summary.json");
  replace_file(place("a") + "/config.toml",
               "[watch]\nprogram = 'PyTorch 2.13.0'\nmodel = 'Encoder'\nattention = 'softmax'\nplateau_level = "
               "0.55\n[watch.layers]\nlayer0 = 'encoder.layers.0.self_attn'\n");
  std::string rows =
      "{\"step\":1,\"train_loss\":2.3,\"attention/entropy/layer0\":0.999,\"gradients/qk_to_v/layer0\":0.05}\n";
  for (int row = 1; row <= 60; ++row)
    rows += fmt::format("{{\"step\":{},\"val_accuracy\":0.55,\"train_loss\":1}}\n", 25 * row);
  replace_file(place("a") + "/metrics.jsonl", rows);
  replace_file(place("a") + "/events.jsonl", "");
  const CommandResult told = eureka_command({"diagnose", place("a")});
  EXPECT_EQ(told.exit_code, 0) << told.err;
  for (const char* part : {"On a plateau since step", "encoder.layers.0.self_attn", "starved at the start",
                           "eureka.rescue(make_run, {\"scale-4\": {\"rule\": \"scale\", \"multiple\": 4}"})
    EXPECT_THAT(told.out, HasSubstr(part));
}

TEST_F(DiagnoseVerb, OfAStudyItTellsCountsAndMediansByArm) {
  ASSERT_EQ(eureka_command({"study", "sharpness", "--seeds", "2", "--set", "train.steps=100", "--set", "train.batch=8",
                            "--progress", "none", "--out", place("s")})
                .exit_code,
            0);
  const CommandResult told = eureka_command({"diagnose", place("s")});
  ASSERT_EQ(told.exit_code, 0) << told.err;
  EXPECT_THAT(told.out, testing::ContainsRegex("softmax +0/2 +2 +0 +0 +0"));
  EXPECT_THAT(told.out, testing::ContainsRegex("scale-256 +0/2 +0 +2 +0 +0"));
  const Json json = Json::parse(eureka_command({"diagnose", place("s"), "--json"}).out);
  const Json& arms = json.at(0).at("points").at(0).at("arms");
  EXPECT_EQ(arms.size(), 9U);
  EXPECT_EQ(arms[0].at("readings").at("starved-even"), Json(2));
  EXPECT_EQ(arms[0].at("runs").size(), 2U);
}

TEST_F(DiagnoseVerb, WhatIsNoRunIsRefusedInOneSentence) {
  for (const std::string& wrong : {place("nowhere"), place("")}) {
    const CommandResult refused = eureka_command({"diagnose", wrong});
    EXPECT_EQ(refused.exit_code, 2);
    EXPECT_THAT(refused.err, HasSubstr("holds neither a run nor a study"));
  }
  EXPECT_EQ(eureka_command({"diagnose"}).exit_code, 2);
}

}  // namespace
}  // namespace eureka
