// Diagnostics at the command line: listed, chosen, and found again in every record.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <sstream>

#include "io/json.h"
#include "io/tfevents.h"
#include "support/command.h"

namespace eureka {
namespace {

std::vector<Json> rows_of(const fs::path& run) {
  std::vector<Json> rows;
  std::istringstream lines(read_file(run / "metrics.jsonl"));
  for (std::string line; std::getline(lines, line);) rows.push_back(Json::parse(line));
  return rows;
}

CommandResult train(const fs::path& out, const std::vector<std::string>& overrides) {
  std::vector<std::string> words = {
      "train", "two-step",           "--seed", "1", "--quiet", "--out", out.string(), "--set", "train.steps=30",
      "--set", "train.eval_every=10"};
  for (const std::string& one : overrides) words.insert(words.end(), {"--set", one});
  return eureka_command(words);
}

// Some numbers belong to one rule or to sequences: what is listed is found in one of these runs.
TEST(Diagnose, EveryListedNumberIsInTheRowsAndInTensorBoard) {
  const TemporaryDirectory directory;
  const Json listed = Json::parse(eureka_command({"list", "diagnostics", "--json"}).out);
  std::string names;
  for (const Json& one : listed) names += one.at("name").get<std::string>() + ",";
  std::set<std::string> in_rows, drawn;
  for (const std::vector<std::string>& kind : {std::vector<std::string>{"two-step", "attention.rule=norm_softmax"},
                                               {"two-step", "attention.rule=qk_norm"},
                                               {"copy"}}) {
    const fs::path run = directory.path() / kind.back();
    std::vector<std::string> words = {"train",
                                      kind[0],
                                      "--quiet",
                                      "--out",
                                      run.string(),
                                      "--set",
                                      "train.steps=30",
                                      "--set",
                                      "train.eval_every=10",
                                      "--set",
                                      "diagnose.names=" + names};
    if (kind.size() > 1) words.insert(words.end(), {"--set", kind[1]});
    const CommandResult result = eureka_command(words);
    ASSERT_EQ(result.exit_code, 0) << result.err;
    for (const Json& row : rows_of(run))
      for (const auto& [name, value] : row.items()) in_rows.insert(name);
    for (const ScalarSeries& tag : read_tfevents(run / "tb")) {
      drawn.insert(tag.tag);
      EXPECT_LE(tag.points.size(), 4U) << tag.tag;
    }
    EXPECT_TRUE(fs::exists(run / "looks" / "step-30" / "maps" / "attention.png"));
  }
  for (const Json& one : listed)
    for (const Json& number : one.at("numbers")) {
      const std::string begin = one.at("name").get<std::string>() + "/" + number.at("name").get<std::string>() + "/";
      EXPECT_FALSE(number.at("unit").get<std::string>().empty());
      const auto begins = [&](const std::string& name) { return name.starts_with(begin); };
      EXPECT_TRUE(std::any_of(in_rows.begin(), in_rows.end(), begins)) << begin;
      EXPECT_TRUE(std::any_of(drawn.begin(), drawn.end(), begins)) << begin;
    }
}

// The default set is on in train, at every fourth validation; a run that is continued keeps what it was begun with.
TEST(Diagnose, TrainLooksByDefaultAndAContinuedRunAsItBegan) {
  const TemporaryDirectory directory;
  const fs::path run = directory.path() / "run", blind = directory.path() / "blind";
  const auto train_on = [](const fs::path& out, const std::vector<std::string>& more) {
    std::vector<std::string> words = {"train",      "two-step", "--quiet",         "--resume", "--out",
                                      out.string(), "--set",    "train.steps=100", "--set",    "train.eval_every=10"};
    words.insert(words.end(), more.begin(), more.end());
    return eureka_command(words);
  };
  ASSERT_EQ(train_on(run, {}).exit_code, 0);
  for (const Json& row : rows_of(run)) {
    const auto step = row.at("step").get<int>();
    const bool looked = step % 40 == 0 || step == 100;
    EXPECT_EQ(row.contains("attenuation/through_softmax/layer0"), looked) << step;
    EXPECT_EQ(row.contains("gradients/qk_to_v/layer1"), looked) << step;
  }
  ASSERT_EQ(train_on(blind, {"--set", "diagnose.names="}).exit_code, 0);
  EXPECT_FALSE(rows_of(blind).front().contains("attention/entropy/layer0"));
  const CommandResult again = train_on(blind, {});
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_EQ(read_file(run / "checkpoints/step-100/model.safetensors"),
            read_file(blind / "checkpoints/step-100/model.safetensors"));
}

// Nothing to see is nothing to say, in rows and summary.
TEST(Diagnose, AModelWithoutAttentionHasNoNumbersOfIt) {
  const TemporaryDirectory directory;
  const fs::path run = directory.path() / "run";
  const CommandResult result = train(run, {"diagnose.names=attention", "model.name=mlp"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(read_file(run / "metrics.jsonl").find("attention/"), std::string::npos);
  EXPECT_FALSE(Json::parse(read_file(run / "summary.json")).contains("diagnostics"));
}

TEST(Diagnose, BothEnginesSayTheSame) {
  EUREKA_NEEDS_TORCH();
  const TemporaryDirectory directory;
  Json rows[2];
  for (int i = 0; i < 2; ++i) {
    const fs::path run = directory.path() / std::to_string(i);
    const std::string engine = i == 0 ? "run.engine=fused" : "run.engine=reference";
    ASSERT_EQ(train(run, {"diagnose.names=attention", engine}).exit_code, 0);
    const std::string metrics = read_file(run / "metrics.jsonl");
    rows[i] = Json::parse(metrics.substr(0, metrics.find('\n')));
  }
  ASSERT_EQ(rows[0].size(), rows[1].size());
  for (const auto& [name, value] : rows[0].items())
    EXPECT_NEAR(value.get<double>(), rows[1].at(name).get<double>(), 1e-5 * std::max(1.0, value.get<double>())) << name;
}

}  // namespace
}  // namespace eureka
