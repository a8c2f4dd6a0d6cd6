// eureka show and eureka compare: from the directories alone.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "io/json.h"
#include "support/command.h"

namespace eureka {
namespace {

using testing::HasSubstr;
using testing::Not;

class ShowAgain : public testing::Test {
 protected:
  std::string place(const std::string& name) const { return (directory_.path() / name).string(); }
  CommandResult train(const std::string& name, const std::vector<std::string>& sets = {},
                      const std::vector<std::string>& more = {}) const {
    std::vector<std::string> words = {"train", "two-step", "--seed", "1", "--out", place(name)};
    for (const std::string one : {"train.steps=60", "train.validation_samples=50", "train.batch=8"})
      words.insert(words.end(), {"--set", one});
    for (const std::string& one : sets) words.insert(words.end(), {"--set", one});
    words.insert(words.end(), more.begin(), more.end());
    return eureka_command(words);
  }

  TemporaryDirectory directory_;
};

TEST_F(ShowAgain, ARunPrintsWhatItPrintedAtItsEnd) {
  const CommandResult first = train("a", {}, {"--show", "attention"});
  ASSERT_EQ(first.exit_code, 0) << first.err;
  const CommandResult again = eureka_command({"show", place("a"), "--show", "attention"});
  EXPECT_EQ(again.exit_code, 0);
  EXPECT_EQ(again.out, first.out);
  EXPECT_EQ(again.err, "");
  EXPECT_EQ(eureka_command({"show", place("a"), "--json"}).out, read_file(place("a") + "/summary.json"));
}

TEST_F(ShowAgain, ARunWithAMomentDoesToo) {
  const CommandResult first = eureka_command({"train", "two-step", "--seed", "1", "--set", "attention.rule=qk_norm",
                                              "--set", "train.until=moment", "--out", place("a")});
  ASSERT_THAT(first.out, HasSubstr("▲ moment at step"));
  EXPECT_THAT(first.out, HasSubstr("△ first rise at step"));
  EXPECT_EQ(eureka_command({"show", place("a")}).out, first.out);
}

TEST_F(ShowAgain, ARunThatHasNotEndedSaysHowItStands) {
  ASSERT_EQ(train("a").exit_code, 0);
  fs::remove(place("a") + "/summary.json");
  const CommandResult shown = eureka_command({"show", place("a")});
  EXPECT_EQ(shown.exit_code, 0);
  EXPECT_THAT(shown.out, HasSubstr("not ended: step 60 of 60"));
  EXPECT_THAT(shown.out, HasSubstr("eureka train --out " + place("a") + " --resume"));
  EXPECT_EQ(eureka_command({"show", place("a"), "--json"}).exit_code, 2);
  EXPECT_EQ(eureka_command({"show", place("nowhere")}).exit_code, 2);
}

// Its first look comes before its first validation.
TEST_F(ShowAgain, ARunThatAnotherProgramTrainedIsJudgedByItsValidation) {
  ASSERT_EQ(train("a").exit_code, 0);
  fs::remove(place("a") + "/summary.json");
  replace_file(place("a") + "/config.toml",
               "[watch]\nprogram = 'PyTorch 2.13.0'\nmodel = 'Encoder'\nattention = 'softmax'\nplateau_level = 0.55\n");
  std::string rows = R"({"step":1,"train_loss":2.3,"attention/entropy/layer0":0.9})"
                     "\n";
  for (int row = 1; row <= 60; ++row)
    rows += fmt::format("{{\"step\":{},\"val_accuracy\":{},\"train_loss\":1}}\n", 25 * row, row < 40 ? 0.55 : 1.0);
  replace_file(place("a") + "/metrics.jsonl", rows);
  replace_file(place("a") + "/events.jsonl", "");
  fs::copy(place("a"), place("b"), fs::copy_options::recursive);
  const CommandResult shown = eureka_command({"show", place("a"), "--show", "attention"});
  EXPECT_EQ(shown.exit_code, 0) << shown.err;
  EXPECT_THAT(shown.out, HasSubstr("Encoder · softmax · watched in PyTorch 2.13.0 · validation accuracy"));
  EXPECT_THAT(shown.out, HasSubstr("▲ moment at step 988"));
  EXPECT_THAT(shown.out, HasSubstr("attention/entropy"));
  EXPECT_THAT(shown.out, HasSubstr("step 1500, validation accuracy 1.000"));
  const CommandResult without_end = eureka_command({"show", place("a"), "--json"});
  EXPECT_EQ(without_end.exit_code, 2);
  EXPECT_THAT(without_end.err, Not(HasSubstr("--resume")));
  const CommandResult compared = eureka_command({"compare", place("a"), place("b")});
  EXPECT_EQ(compared.exit_code, 0) << compared.err;
  EXPECT_THAT(compared.out, HasSubstr("validation accuracy"));
}

TEST_F(ShowAgain, AStudyDoesToo) {
  const CommandResult first = eureka_command({"study", "temperature", "--seeds", "2", "--set", "train.steps=40",
                                              "--set", "train.batch=8", "--out", place("s")});
  ASSERT_EQ(first.exit_code, 0) << first.err;
  EXPECT_EQ(eureka_command({"show", place("s")}).out, first.out);
  EXPECT_EQ(eureka_command({"show", place("s"), "--json"}).out, read_file(place("s") + "/study.json"));
  fs::remove_all(place("s") + "/softmax/seed-2");
  for (const fs::directory_entry& arm : fs::directory_iterator(place("s")))
    if (arm.is_directory()) fs::remove(arm.path() / "seed-2" / "summary.json");
  const CommandResult partly = eureka_command({"show", place("s")});
  EXPECT_EQ(partly.exit_code, 0) << partly.err;
  EXPECT_THAT(partly.err, HasSubstr("trials have ended; eureka study --out"));
}

TEST_F(ShowAgain, RunsStandSideBySide) {
  ASSERT_EQ(train("a").exit_code, 0);
  ASSERT_EQ(train("b", {"attention.rule=norm_softmax", "train.lr=0.002"}).exit_code, 0);
  const CommandResult both = eureka_command({"compare", place("a"), place("b"), "--plot", place("c.svg")});
  ASSERT_EQ(both.exit_code, 0) << both.err;
  EXPECT_THAT(both.out, HasSubstr("validation accuracy"));
  EXPECT_THAT(both.out, testing::ContainsRegex(" a +a +finished +1 +none"));
  EXPECT_THAT(both.out, HasSubstr("set differently from a:"));
  EXPECT_THAT(both.out, HasSubstr("attention.rule = \"norm_softmax\", train.lr = 0.002"));
  EXPECT_THAT(both.out, Not(HasSubstr("train.batch")));
  EXPECT_THAT(read_file(place("c.svg")), HasSubstr("<svg"));
  const Json json = Json::parse(eureka_command({"compare", place(""), "--json"}).out);
  ASSERT_EQ(json.size(), 2U) << "a directory of runs stands for them";
  EXPECT_TRUE(json[1].at("moment").is_null());
  EXPECT_EQ(json[0].at("differs"), "");
}

TEST_F(ShowAgain, WhatCannotBeComparedIsRefused) {
  ASSERT_EQ(train("a").exit_code, 0);
  EXPECT_THAT(eureka_command({"compare", place("a")}).err, HasSubstr("two runs or more"));
  EXPECT_THAT(eureka_command({"compare", place("a"), place("nowhere")}).err, HasSubstr("holds no run"));
  ASSERT_EQ(eureka_command({"train", "language", "--quiet", "--set", "train.steps=2", "--set", "train.batch=2", "--set",
                            "train.validation_samples=2", "--out", place("t")})
                .exit_code,
            0);
  const CommandResult mixed = eureka_command({"compare", place("a"), place("t")});
  EXPECT_EQ(mixed.exit_code, 2);
  EXPECT_THAT(mixed.err, HasSubstr("only curves of the same metric"));
}

// What a run was made by, and by whom, and where.
TEST_F(ShowAgain, MetaSaysWhoComputedItAndWhen) {
  ASSERT_EQ(train("a").exit_code, 0);
  const auto meta = [&] { return Json::parse(read_file(place("a") + "/meta.json")); };
  const Json first = meta();
  EXPECT_THAT(first.at("commit").get<std::string>(), testing::MatchesRegex("[0-9a-f]+(-dirty)?|unknown"));
  EXPECT_THAT(first.at("command").get<std::string>(),
              HasSubstr(" train two-step --seed 1 --out " + place("a") + " --set train.steps=60"));
  for (const char* time : {"started", "ended"})
    EXPECT_THAT(first.at(time).get<std::string>(), testing::MatchesRegex("20..-..-..T..:..:..Z"));
  EXPECT_FALSE(first.at("processor").get<std::string>().empty());
  std::uintmax_t bytes = 0;
  for (const auto& entry : fs::recursive_directory_iterator(place("a")))
    if (entry.is_regular_file() && entry.path().filename() != "meta.json" &&
        !entry.path().filename().string().starts_with("."))
      bytes += entry.file_size();
  EXPECT_EQ(first.at("disk_bytes").get<std::uintmax_t>(), bytes);
  // A run that goes on began when it began.
  Json earlier = first;
  earlier["started"] = "2020-01-01T00:00:00Z";
  replace_file(place("a") + "/meta.json", earlier.dump());
  ASSERT_EQ(eureka_command({"train", "--out", place("a"), "--resume", "--step", "0", "--quiet"}).exit_code, 0);
  EXPECT_EQ(meta().at("started"), "2020-01-01T00:00:00Z");
  EXPECT_THAT(meta().at("command").get<std::string>(), HasSubstr("--resume --step 0"));
}

}  // namespace
}  // namespace eureka
