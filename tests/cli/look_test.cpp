// eureka look: what diagnostics see at checkpoints, without touching the run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "io/json.h"
#include "support/command.h"

namespace eureka {
namespace {

using testing::HasSubstr;

class LookVerb : public testing::Test {
 protected:
  void SetUp() override { train({"model.dropout=0.1"}); }

  void train(const std::vector<std::string>& overrides) {
    std::vector<std::string> words = {"train", "two-step", "--seed", "3", "--quiet", "--out", run().string()};
    for (const char* one :
         {"train.steps=60", "run.checkpoint_every=20", "train.eval_every=10", "train.validation_samples=100",
          "diagnose.names=gradients,attention,jacobian,attenuation,progress,representation"})
      words.insert(words.end(), {"--set", one});
    for (const std::string& one : overrides) words.insert(words.end(), {"--set", one});
    fs::remove_all(run());
    ASSERT_EQ(eureka_command(words).exit_code, 0);
  }
  fs::path run() const { return directory_.path() / "run"; }
  CommandResult look(const std::string& at, const std::vector<std::string>& more = {}) const {
    std::vector<std::string> words = {"look", run().string() + at};
    words.insert(words.end(), more.begin(), more.end());
    return eureka_command(words);
  }
  std::map<std::string, std::string> files() const {
    std::map<std::string, std::string> all;
    for (const auto& entry : fs::recursive_directory_iterator(run()))
      all[entry.path().string()] = entry.is_regular_file() ? read_file(entry.path()) : "";
    return all;
  }

  TemporaryDirectory directory_;
};

TEST_F(LookVerb, SeesWhatTheRunSawAtThatStep) {
  std::map<std::int64_t, Json> rows;
  std::istringstream lines(read_file(run() / "metrics.jsonl"));
  for (std::string line; std::getline(lines, line);) {
    const Json row = Json::parse(line);
    rows[row.at("step").get<std::int64_t>()] = row;
  }
  const CommandResult result = look("@0,20,60", {"--training", "--samples", "16", "--json"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const Json seen = Json::parse(result.out);
  std::size_t compared = 0;
  for (const Json& number : seen.at("rows")) {
    std::string name = number.at("diagnostic").get<std::string>() + "/" + number.at("number").get<std::string>();
    if (number.contains("part")) name += "/" + number.at("part").get<std::string>();
    if (number.contains("layer")) name += "/layer" + std::to_string(number.at("layer").get<std::int64_t>());
    if (number.contains("head")) name += "/head" + std::to_string(number.at("head").get<std::int64_t>());
    EXPECT_EQ(number.at("value"), rows.at(number.at("step").get<std::int64_t>()).at(name)) << name;
    ++compared;
  }
  std::size_t in_rows = 0;
  for (const auto& [name, value] : rows.at(20).items()) in_rows += name.find('/') != std::string::npos ? 1 : 0;
  EXPECT_GT(in_rows, 100U);
  // One less for each number of the last update at step 0, where there was none.
  EXPECT_LE(compared, 3 * in_rows);
  EXPECT_GE(compared, 2 * in_rows);
}

TEST_F(LookVerb, LeavesTheRunAsItIsAndFitsTheTerminal) {
  const auto before = files();
  const CommandResult result = look("@all");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(files(), before);
  for (const char* part : {"100 validation samples", "step 20\n", "step 40\n", "step 60\n", " layer   head   entropy ",
                           " entropy          mean entropy of a row"})
    EXPECT_THAT(result.out, HasSubstr(part));
  std::istringstream lines(result.out.substr(result.out.find('\n') + 1));  // the first has the name of the run
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 100U) << line;
}

TEST_F(LookVerb, WithoutAStepItIsTheLastCheckpoint) {
  EXPECT_EQ(look("", {"--json"}).out, look("@60", {"--json"}).out);
  const std::string csv = (directory_.path() / "seen.csv").string();
  ASSERT_EQ(look("", {"--csv", csv, "--samples", "8"}).exit_code, 0);
  EXPECT_THAT(read_file(csv),
              testing::StartsWith("step,diagnostic,number,part,layer,head,value,unit\n60,gradients,qk_to_v,,0,,"));
}

TEST_F(LookVerb, PicturesAndTensorsGoWhereTheyAreAskedFor) {
  const auto before = files();
  const fs::path out = directory_.path() / "seen";
  EXPECT_THAT(look("@20", {"--diagnostic", "maps"}).out,
              HasSubstr("with --out DIR also, for each step:\nmaps/attention.png\n"));
  const CommandResult result =
      look("@20,40", {"--diagnostic", "maps", "--out", out.string(), "--set", "diagnose.maps.shown=2"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  for (const char* name : {"step-20/maps/attention.png", "step-40/maps/attention.safetensors"}) {
    EXPECT_TRUE(fs::exists(out / name)) << name;
    EXPECT_THAT(result.out, HasSubstr((out / name).string()));
  }
  EXPECT_EQ(files(), before);
}

TEST_F(LookVerb, AllIsEveryDiagnosticThereIs) {
  const CommandResult result = look("@20", {"--diagnostic", "all", "--samples", "20"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  for (const Json& one : Json::parse(eureka_command({"list", "diagnostics", "--json"}).out))
    EXPECT_THAT(result.out, HasSubstr("\n" + one.at("name").get<std::string>() + ": "));
}

TEST_F(LookVerb, NamesWhatIsWrong) {
  const auto refused = [&](const std::string& at, const std::vector<std::string>& more) {
    const CommandResult result = look(at, more);
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_EQ(result.out, "");
    return result.err;
  };
  EXPECT_THAT(refused("@20", {"--diagnostic", "attentoin"}),
              HasSubstr("--diagnostic: unknown diagnostic 'attentoin'\n  did you mean 'attention'?"));
  EXPECT_THAT(refused("@30", {}), HasSubstr("there is no checkpoint of step 30\n  there are: 20, 40, 60"));
  EXPECT_THAT(refused("@20,x", {}), HasSubstr("names no step of a run\n  write RUN@STEP"));
  EXPECT_THAT(refused("@,", {}), HasSubstr("names no step of a run"));
  EXPECT_THAT(refused("@", {"--samples", "0"}), HasSubstr("--samples"));
  EXPECT_THAT(refused("@20", {"--set", "train.lr=1"}), HasSubstr("'train.lr' is the run's own and stays as it was"));
  EXPECT_THAT(refused("@20", {"--set", "diagnose.attention.sharpness=1"}),
              HasSubstr("unknown key 'diagnose.attention.sharpness'"));
  EXPECT_THAT(refused("@20", {"--csv", (run() / "seen.csv").string()}),
              HasSubstr("--csv lies in the run that is looked at"));
  EXPECT_THAT(refused("@20", {"--out", (run() / "looks").string()}),
              HasSubstr("--out lies in the run that is looked at"));
  EXPECT_THAT(refused("@moment", {}), HasSubstr("this run has no checkpoints around a moment\n  train it with"));
  EXPECT_THAT(refused("-elsewhere@20", {}), HasSubstr("holds no run"));
}

TEST_F(LookVerb, ADamagedCheckpointIsNamedWithTheIntactOneBeforeIt) {
  std::ofstream(run() / "checkpoints/step-40/model.safetensors", std::ios::app) << "more";
  const CommandResult result = look("@40");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("checkpoints/step-40/model.safetensors"));
  EXPECT_THAT(result.err, HasSubstr("step-20 is intact"));
}

TEST_F(LookVerb, ARunThatNeverLookedAndHasNoCheckpointShowsItsInitialWeights) {
  train({"diagnose.names=[]", "train.steps=5"});
  fs::remove_all(run() / "checkpoints/step-5");
  EXPECT_THAT(look("").err, HasSubstr("this run has no checkpoint yet\n  eureka look"));
  const CommandResult result = look("@0");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("attention: "));
}

// On by default in train; a run that was begun without is continued without.
TEST_F(LookVerb, MomentIsWhatWasKeptAroundIt) {
  fs::remove_all(run());
  std::vector<std::string> words = {"train", "two-step", "--seed", "3", "--quiet", "--out", run().string()};
  for (const char* one : {"attention.rule=qk_norm", "train.until=moment", "train.after_moment=0", "train.eval_every=10",
                          "train.validation_samples=200"})
    words.insert(words.end(), {"--set", one});
  ASSERT_EQ(eureka_command(words).exit_code, 0);
  const CommandResult result = look("@moment", {"--diagnostic", "attention", "--json"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  std::set<std::int64_t> steps;
  const Json seen = Json::parse(result.out);
  for (const Json& row : seen.at("rows")) steps.insert(row.at("step").get<std::int64_t>());
  EXPECT_EQ(steps.size(), 4U);
  const double moment = Json::parse(read_file(run() / "summary.json")).at("moment").at("step").get<double>();
  EXPECT_LT(static_cast<double>(*steps.begin()), moment);
  EXPECT_GT(static_cast<double>(*steps.rbegin()), moment);

  words.insert(words.end(), {"--set", "run.around_moment=0"});
  fs::remove_all(run());
  ASSERT_EQ(eureka_command(words).exit_code, 0);
  EXPECT_THAT(look("@moment").err, HasSubstr("this run has no checkpoints around a moment"));
  words.resize(words.size() - 2);
  words.push_back("--resume");
  EXPECT_EQ(eureka_command(words).exit_code, 0);
}

TEST_F(LookVerb, AModelWithoutAttentionSaysSo) {
  train({"model.name=mlp"});
  EXPECT_THAT(look("").out, HasSubstr("nothing to see of it in this model (mlp)"));
}

}  // namespace
}  // namespace eureka
