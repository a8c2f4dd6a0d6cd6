// eureka bench: the figures are there and hang together.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "io/json.h"
#include "support/command.h"

namespace eureka {
namespace {

using testing::Contains;
using testing::HasSubstr;

TEST(Bench, PrintsCompleteJson) {
  const CommandResult result =
      eureka_command({"bench", "tiny", "--seconds", "0.1", "--json", "--memory", "--breakdown", "--beside-rule",
                      "norm_softmax", "--threads", "2", "--diagnose", "attention"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const Json report = Json::parse(result.out);
  EXPECT_EQ(report.at("threads"), 2);
  ASSERT_EQ(report.at("cases").size(), 1U);
  const Json one = report.at("cases")[0];
  EXPECT_EQ(one.at("name"), "tiny");
  EXPECT_EQ(one.at("engine"), "fused");
  EXPECT_EQ(one.at("batch"), 128);
  const double best = one.at("best_ms").get<double>();
  EXPECT_GT(best, 0);
  EXPECT_LE(best, one.at("median_ms").get<double>());
  EXPECT_NEAR(one.at("samples_per_second").get<double>() * best, 128e3, 1);
  // The whole model: 17 tokens of width 32 through 4 blocks and an embedding of 588 values, worked out by hand.
  const double multiplications =
      3.0 * (4 * (17 * 32 * (4 * 32 + 2 * 64) + 2 * 17 * 17 * 32) + 320) + 2.0 * 16 * 588 * 32;
  EXPECT_NEAR(one.at("gflops").get<double>() * best * 1e6, 2 * 128 * multiplications, 1e3);
  EXPECT_NEAR(one.at("share_of_peak").get<double>(),
              one.at("gflops").get<double>() / one.at("peak_gflops").get<double>(), 1e-9);
  ASSERT_EQ(one.at("beside").size(), 2U);
  EXPECT_EQ(one.at("beside")[0].at("what"), "1 thread");
  EXPECT_EQ(one.at("beside")[1].at("what"), "norm_softmax");
  const Json look = one.at("diagnose");
  EXPECT_EQ(look.at("what"), "attention");
  EXPECT_NEAR(look.at("ratio_best").get<double>(), 1 + look.at("best_ms").get<double>() / (100 * best), 1e-9);
  // Two optimizer moments, weights, gradients and the batch of images at the very least.
  EXPECT_GT(one.at("peak_mb").get<double>(), 128 * 56 * 56 * 3 * 4 / 1e6);
  double shares = 0;
  for (const auto& [part, share] : one.at("breakdown").items()) shares += share.get<double>();
  EXPECT_NEAR(shares, 1, 1e-9);
  EXPECT_GT(one.at("breakdown").at("products").get<double>(), 0.05);
  EXPECT_GT(one.at("breakdown").at("weight gradients").get<double>(), 0.05);
}

TEST(Bench, PrintsATableAndKnowsItsCases) {
  const CommandResult result = eureka_command({"bench", "two-step", "--seconds", "0.05", "--breakdown", "--memory",
                                               "--diagnose", "attention", "--beside-rule", "norm_softmax"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_NE(result.out.find("ms/step"), std::string::npos);
  for (const char* part : {"two-step", "share of a step", "peak memory", "looked at by", "norm_softmax"})
    EXPECT_THAT(result.out, HasSubstr(part));
  const CommandResult wrong = eureka_command({"bench", "papre"});
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_NE(wrong.err.find("did you mean 'paper'?"), std::string::npos) << wrong.err;
}

TEST(Bench, NamesTheRivalsInPyTorch) {
  if (std::system("/usr/bin/python3 -c 'import torch' 2> /dev/null") != 0) GTEST_SKIP() << "there is no python3-torch";
  const CommandResult json = eureka_command({"bench", "two-step", "--seconds", "0.01", "--against-pytorch", "--json"});
  ASSERT_EQ(json.exit_code, 0) << json.err;
  const Json report = Json::parse(json.out), one = report.at("cases")[0];
  ASSERT_EQ(one.at("pytorch").size(), 2U);
  EXPECT_EQ(one.at("pytorch")[0].at("way"), "stock");
  EXPECT_EQ(one.at("pytorch")[1].at("way"), "tuned");
  for (std::size_t i = 0; i < 2; ++i) {
    const Json rival = one.at("pytorch")[i];
    EXPECT_NEAR(rival.at("ratio_cpu").get<double>(), rival.at("cpu_ms").get<double>() / one.at("cpu_ms").get<double>(),
                1e-9);
    EXPECT_GT(rival.at("peak_mb").get<double>(), 1);
  }
  const CommandResult table = eureka_command(
      {"bench", "two-step", "--seconds", "0.01", "--against-pytorch=tuned", "--python", "/usr/bin/python3"});
  ASSERT_EQ(table.exit_code, 0) << table.err;
  EXPECT_THAT(table.out, HasSubstr("tuned"));
  EXPECT_THAT(table.out, testing::ContainsRegex("two-step +tuned +[0-9]"));
  EXPECT_THAT(table.out, testing::Not(testing::ContainsRegex("two-step +stock")));
}

TEST(Bench, NamesTheWaysThatAPythonHasNot) {
  if (std::system("/usr/bin/python3 -c 'import torch' 2> /dev/null") != 0) GTEST_SKIP() << "there is no python3-torch";
  if (std::system("/usr/bin/python3 -c 'import jax' 2> /dev/null") == 0) GTEST_SKIP() << "python3 has JAX";
  const CommandResult all = eureka_command({"bench", "two-step", "--seconds", "0.01", "--against-pytorch=all"});
  ASSERT_EQ(all.exit_code, 0) << all.err;
  EXPECT_THAT(all.out, testing::ContainsRegex("two-step +stock +[0-9]"));
  EXPECT_THAT(all.out, HasSubstr("left out jax: /usr/bin/python3 has no JAX"));
  const CommandResult asked = eureka_command({"bench", "two-step", "--seconds", "0.01", "--against-pytorch=jax"});
  EXPECT_EQ(asked.exit_code, 2) << asked.err;
  EXPECT_THAT(asked.err, HasSubstr("/usr/bin/python3 has no JAX"));
}

TEST(Bench, RefusesRivalsItDoesNotKnow) {
  const CommandResult other = eureka_command({"bench", "two-step", "--against-pytorch=keras"});
  EXPECT_EQ(other.exit_code, 2) << other.err;
  EXPECT_THAT(other.err, HasSubstr("tuned"));
  const CommandResult alone = eureka_command({"bench", "two-step", "--python", "python3"});
  EXPECT_EQ(alone.exit_code, 2) << alone.err;
  EXPECT_THAT(alone.err, HasSubstr("--against-pytorch"));
  const CommandResult nobody =
      eureka_command({"bench", "two-step", "--against-pytorch=stock", "--python", "/no/such/python"});
  EXPECT_EQ(nobody.exit_code, 1) << nobody.err;
  EXPECT_THAT(nobody.err, HasSubstr("/no/such/python -m pip install torch"));
}

TEST(Bench, SkipsWhatThisMachineCannotRunAndSaysSo) {
  if (eureka_command({"doctor"}).out.find("cuda:0") != std::string::npos) GTEST_SKIP() << "it can run everything";
  const CommandResult asked = eureka_command({"bench", "image-paper", "--seconds", "0.01"});
  EXPECT_EQ(asked.exit_code, 2) << "a case asked for by name is not skipped";
  if (EUREKA_PATIENCE > 1) GTEST_SKIP() << "the steps of all cases take many minutes here";

  const CommandResult result = eureka_command({"bench", "--seconds", "0.01", "--json"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const Json report = Json::parse(result.out);
  std::vector<std::string> measured;
  for (const Json& one : report.at("cases")) measured.push_back(one.at("name").get<std::string>());
  for (const char* name : {"tiny", "paper", "two-step", "image-lab"}) EXPECT_THAT(measured, Contains(name));
  ASSERT_EQ(report.at("skipped").size(), 1U);
  EXPECT_EQ(report.at("skipped")[0].at("name"), "image-paper");
  EXPECT_THAT(report.at("skipped")[0].at("reason").get<std::string>(), HasSubstr("cuda"));
}

}  // namespace
}  // namespace eureka
