// Diagnostics at the command line: listed, chosen, and found again in every record.
#include <gtest/gtest.h>

#include <algorithm>

#include "io/json.h"
#include "io/tfevents.h"
#include "support/command.h"

namespace eureka {
namespace {

CommandResult train(const fs::path& out, const std::vector<std::string>& overrides) {
  std::vector<std::string> words = {
      "train", "two-step",           "--seed", "1", "--quiet", "--out", out.string(), "--set", "train.steps=30",
      "--set", "train.eval_every=10"};
  for (const std::string& one : overrides) words.insert(words.end(), {"--set", one});
  return eureka_command(words);
}

TEST(Diagnose, EveryListedNumberIsInTheRowsAndInTensorBoard) {
  const TemporaryDirectory directory;
  const fs::path run = directory.path() / "run";
  const Json listed = Json::parse(eureka_command({"list", "diagnostics", "--json"}).out);
  std::string names;
  for (const Json& one : listed) names += one.at("name").get<std::string>() + ",";
  const CommandResult result = train(run, {"diagnose.names=" + names});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const std::vector<ScalarSeries> series = read_tfevents(run / "tb");
  const std::string metrics = read_file(run / "metrics.jsonl");
  const Json first = Json::parse(metrics.substr(0, metrics.find('\n')));
  for (const Json& one : listed)
    for (const Json& number : one.at("numbers")) {
      const std::string begin = one.at("name").get<std::string>() + "/" + number.at("name").get<std::string>() + "/";
      EXPECT_FALSE(number.at("unit").get<std::string>().empty());
      bool in_row = false;
      for (const auto& [name, value] : first.items()) in_row = in_row || name.starts_with(begin);
      EXPECT_TRUE(in_row) << begin;
      const auto drawn = std::find_if(series.begin(), series.end(),
                                      [&](const ScalarSeries& tag) { return tag.tag.starts_with(begin); });
      ASSERT_NE(drawn, series.end()) << begin;
      EXPECT_EQ(drawn->points.size(), 4U);
    }
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
