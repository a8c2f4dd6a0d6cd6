// eureka branch, and studies that branch: bit-exact where nothing changed.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "io/json.h"
#include "support/command.h"

namespace eureka {
namespace {

using testing::HasSubstr;

class BranchVerb : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(eureka_command({"train", "two-step", "--seed", "3", "--quiet", "--out", run().string(), "--set",
                              "train.steps=120", "--set", "run.checkpoint_every=40", "--set", "train.eval_every=7",
                              "--set", "model.dropout=0.1"})
                  .exit_code,
              0);
  }
  fs::path run() const { return directory_.path() / "run"; }
  fs::path out() const { return directory_.path() / "branch"; }
  std::vector<std::string> branch(const std::string& step, const std::vector<std::string>& more = {}) const {
    std::vector<std::string> words = {"branch", run().string() + "@" + step, "--quiet", "--out", out().string()};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }

  TemporaryDirectory directory_;
};

TEST_F(BranchVerb, WithoutAChangeRepeatsTheRunByteForByte) {
  const CommandResult result = eureka_command(branch("40"));
  ASSERT_EQ(result.exit_code, 0) << result.err;
  for (const char* name : {"config.toml", "metrics.jsonl", "events.jsonl", "summary.json",
                           "checkpoints/step-40/model.safetensors", "checkpoints/step-80/optimizer.safetensors",
                           "checkpoints/step-120/model.safetensors", "checkpoints/step-120/optimizer.safetensors"})
    EXPECT_EQ(read_file(out() / name), read_file(run() / name)) << name;
}

TEST_F(BranchVerb, WithAChangeSharesThePastAndNothingElse) {
  const CommandResult result = eureka_command(branch("80", {"--set", "attention.rule=norm_softmax"}));
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const std::string before = read_file(run() / "metrics.jsonl"), after = read_file(out() / "metrics.jsonl");
  const std::size_t past = before.find("{\"step\":84");
  ASSERT_NE(past, std::string::npos);
  EXPECT_EQ(after.substr(0, past), before.substr(0, past));
  EXPECT_NE(after, before);
  EXPECT_THAT(read_file(out() / "config.toml"), HasSubstr("norm_softmax"));
  const Json origin = Json::parse(read_file(out() / "origin.json"));
  EXPECT_EQ(origin.at("step"), 80);
  EXPECT_EQ(origin.at("change").at("attention.rule"), "\"norm_softmax\"");
}

TEST_F(BranchVerb, ParametersTheChangeBringsBeginAtTheirInitialValues) {
  std::vector<std::string> words = branch("80", {"--set", "attention.rule=qk_norm"});
  std::erase(words, "--quiet");
  const CommandResult result = eureka_command(words);
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("at their initial values"));
  EXPECT_THAT(result.err, HasSubstr("q_norm.weight"));
}

TEST_F(BranchVerb, ABranchThatWasKilledIsResumedToTheSameBytes) {
  ASSERT_EQ(eureka_command(branch("40", {"--set", "train.lr=0.01"})).exit_code, 0);
  const std::string metrics = read_file(out() / "metrics.jsonl"), summary = read_file(out() / "summary.json");
  fs::remove(out() / "summary.json");
  for (const char* step : {"80", "120"}) fs::remove_all(out() / "checkpoints" / (std::string("step-") + step));
  ASSERT_EQ(eureka_command(branch("40", {"--set", "train.lr=0.01", "--resume"})).exit_code, 0);
  EXPECT_EQ(read_file(out() / "metrics.jsonl"), metrics);
  EXPECT_EQ(read_file(out() / "summary.json"), summary);
  EXPECT_EQ(eureka_command(branch("40", {"--set", "train.lr=0.02", "--resume"})).exit_code, 2) << "another branch";
}

TEST_F(BranchVerb, SaysWhatIsWrong) {
  const auto refused = [&](const std::vector<std::string>& words, const std::string& part) {
    const CommandResult result = eureka_command(words);
    EXPECT_EQ(result.exit_code, 2) << result.err;
    EXPECT_THAT(result.err, HasSubstr(part));
    EXPECT_FALSE(fs::exists(out())) << "a refused branch leaves nothing behind";
  };
  refused(branch("50"), "there are: 40, 80, 120");
  refused(branch("120"), "nothing left to do at step 120");
  refused(branch("80", {"--set", "model.width=64"}), "a branch keeps the shape of the model");
  refused(branch("80", {"--set", "train.lrr=1"}), "did you mean 'train.lr'?");
  refused({"branch", run().string(), "--out", out().string()}, "write RUN@STEP");
  refused({"branch", (directory_.path() / "none").string() + "@40", "--out", out().string()}, "holds no run");
  ASSERT_EQ(eureka_command(branch("80")).exit_code, 0);
  EXPECT_THAT(eureka_command(branch("80")).err, HasSubstr("already holds a run"));
}

class BranchStudy : public testing::Test {
 protected:
  fs::path write(const std::string& name, const std::string& text) const {
    const fs::path path = directory_.path() / name;
    std::ofstream(path) << text;
    return path;
  }
  fs::path out() const { return directory_.path() / "rescue"; }

  const std::string arms_ = "[[arm]]\nname = \"same\"\n[[arm]]\nname = \"cure\"\nset.attention.rule = \"qk_norm\"\n";
  TemporaryDirectory directory_;
};

// Too short to leave the plateau, long enough to arrive on it: every run is stuck.
TEST_F(BranchStudy, ContinuesStuckRunsWithAndWithoutTheCure) {
  const fs::path file =
      write("rescue.toml",
            "[study]\nbase = \"two-step-hard\"\nseeds = 2\nbudget = 300\nset.run.checkpoint_every = 200\n"
            "set.train.validation_samples = 400\n[branch]\nat = 200\n" +
                arms_);
  const CommandResult first = eureka_command({"study", file.string(), "--out", out().string(), "--json"});
  ASSERT_EQ(first.exit_code, 0) << first.err;
  const Json found = Json::parse(first.out);
  EXPECT_EQ(found.at("branch").at("runs"), 2);
  EXPECT_EQ(found.at("branch").at("continued"), 2);
  EXPECT_EQ(found.at("points")[0].at("budget"), 100) << "times count from where the runs were taken up";
  EXPECT_TRUE(found.at("arms")[1].at("paired").is_null()) << "no run has a moment: there is nothing to pair";
  // The arm without a change is the old run, to the byte.
  for (const char* name : {"metrics.jsonl", "summary.json", "checkpoints/step-300/model.safetensors"})
    EXPECT_EQ(read_file(out() / "same" / "seed-2" / name), read_file(out() / "parents" / "seed-2" / name)) << name;

  fs::remove_all(out() / "cure" / "seed-1");
  EXPECT_EQ(eureka_command({"study", "--out", out().string(), "--resume", "--json"}).out, first.out);

  // The same from runs that are there already.
  const fs::path again =
      write("again.toml", fmt::format("[branch]\nfrom = \"{}\"\nat = 200\n{}", (out() / "parents").string(), arms_));
  const CommandResult second =
      eureka_command({"study", again.string(), "--out", (directory_.path() / "again").string(), "--json"});
  ASSERT_EQ(second.exit_code, 0) << second.err;
  EXPECT_EQ(Json::parse(second.out).at("arms"), found.at("arms"));
}

TEST_F(BranchStudy, SaysWhatIsWrongBeforeAnythingRuns) {
  const auto refused = [&](const std::string& text, const std::string& part) {
    const CommandResult result = eureka_command({"study", write("s.toml", text).string(), "--out", out().string()});
    EXPECT_EQ(result.exit_code, 2) << result.err;
    EXPECT_THAT(result.err, HasSubstr(part));
    EXPECT_FALSE(fs::exists(out()));
  };
  const std::string base = "[study]\nbase = \"two-step\"\nseeds = 1\n";
  refused(base + "[branch]\nat = 700\n" + arms_, "run.checkpoint_every = 500 has no checkpoint there");
  refused(base + "[branch]\nat = 2500\n" + arms_, "no checkpoint there");
  refused(base + "[branch]\nat = 500\n" + arms_ + "set.train.lrr = 1\n", "did you mean 'train.lr'?");
  refused("[branch]\nfrom = \"nowhere\"\nat = 500\n" + arms_, "there are no runs in");
}

}  // namespace
}  // namespace eureka
