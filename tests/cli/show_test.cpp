// --show: a number of a diagnostic below the curve.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/command.h"

namespace eureka {
namespace {

using testing::HasSubstr;
using testing::Not;

class Show : public testing::Test {
 protected:
  fs::path run() const { return directory_.path() / "run"; }
  CommandResult train(const std::vector<std::string>& more) const {
    std::vector<std::string> words = {"train", "two-step", "--out", run().string()};
    for (const char* one : {"train.steps=40", "train.eval_every=10", "train.validation_samples=50"})
      words.insert(words.end(), {"--set", one});
    words.insert(words.end(), more.begin(), more.end());
    return eureka_command(words);
  }

  TemporaryDirectory directory_;
};

TEST_F(Show, ADiagnosticAloneIsItsFirstNumberAndIsLookedAt) {
  const CommandResult result = train({"--show", "representation"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("representation/cosine · cosine\n"));
  EXPECT_THAT(result.out, HasSubstr("0 layer0: 0."));
  EXPECT_THAT(result.out, HasSubstr("1 layer1: 0."));
  EXPECT_THAT(read_file(run() / "config.toml"), HasSubstr(", progress, representation\""));
}

TEST_F(Show, OfANumberWithPartsOneCanBeChosen) {
  EXPECT_THAT(train({"--show", "gradients/norm/q"}).out, HasSubstr("a q layer0: "));
}

TEST_F(Show, ANumberByNameAndARunThatAlreadyLooks) {
  const CommandResult result = train({"--show", "attention/logit_max", "--set", "diagnose.names=attention"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("attention/logit_max · scaled logits\n"));
  EXPECT_THAT(read_file(run() / "config.toml"), HasSubstr("names = \"attention\""));
}

// The rows of a resumed run are drawn from its records.
TEST_F(Show, AResumedRunShowsItsWholePast) {
  const CommandResult whole = train({"--show", "attention"});
  fs::remove(run() / "summary.json");
  const CommandResult again = train({"--show", "attention", "--resume"});
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_EQ(again.out, whole.out);
}

TEST_F(Show, ABranchLooksAtWhatIsShown) {
  ASSERT_EQ(train({"--set", "run.checkpoint_every=20"}).exit_code, 0);
  const fs::path out = directory_.path() / "branch";
  const CommandResult result = eureka_command({"branch", run().string() + "@20", "--set", "attention.rule=qk_norm",
                                               "--show", "representation", "--out", out.string()});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("0 layer0: 0."));
  EXPECT_THAT(read_file(out / "origin.json"), HasSubstr("diagnose.names"));
}

TEST_F(Show, NamesWhatIsWrongBeforeAnythingBegins) {
  const auto refused = [&](const std::string& name, const std::vector<std::string>& more = {}) {
    std::vector<std::string> words = {"--show", name};
    words.insert(words.end(), more.begin(), more.end());
    const CommandResult result = train(words);
    EXPECT_EQ(result.exit_code, 2);
    return result.err;
  };
  EXPECT_THAT(refused("attentoin"), HasSubstr("--show: unknown diagnostic 'attentoin'\n  did you mean 'attention'?"));
  EXPECT_THAT(refused("attention/entropi"),
              HasSubstr("--show: attention has no number 'entropi'\n  did you mean 'attention/entropy'?"));
  EXPECT_THAT(refused("attention/"), HasSubstr("attention has no number ''"));
  EXPECT_THAT(refused("maps"), HasSubstr("--show: maps has no numbers to draw"));
  EXPECT_FALSE(fs::exists(run()));
  ASSERT_EQ(train({}).exit_code, 0);
  EXPECT_THAT(refused("representation", {"--resume"}), HasSubstr("this run has diagnose.names = \"gradients"));
}

TEST_F(Show, AModelWithoutItSaysSo) {
  const CommandResult result = train({"--show", "attention", "--set", "model.name=mlp"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("nothing to see yet"));
}

TEST_F(Show, LeavesTheCurveAloneWhereItIsNotAsked) { EXPECT_THAT(train({}).out, Not(HasSubstr("attention/"))); }

}  // namespace
}  // namespace eureka
