// eureka condition, run as a user would: what it prints, that threads do not matter, and how it refuses wrong input.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "io/json.h"
#include "support/command.h"

namespace eureka {
namespace {

using testing::HasSubstr;
CommandResult condition(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "condition");
  return eureka_command(arguments);
}

Json json_of(std::vector<std::string> arguments) {
  arguments.emplace_back("--json");
  const CommandResult result = condition(arguments);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  return Json::parse(result.out);
}

// Exit code 2, at most two lines, all of `parts`.
void expect_refused(const std::vector<std::string>& arguments, const std::vector<std::string>& parts) {
  const CommandResult result = condition(arguments);
  EXPECT_EQ(result.exit_code, 2) << result.err;
  EXPECT_TRUE(result.err.starts_with("eureka: ")) << result.err;
  EXPECT_LE(std::count(result.err.begin(), result.err.end(), '\n'), 2) << result.err;
  for (const std::string& part : parts) EXPECT_THAT(result.err, HasSubstr(part));
}

TEST(Condition, WrongInputIsRefusedWithOneClearMessage) {
  expect_refused({"jacobian"}, {"--coefficients or --logits"});
  expect_refused({"jacobian", "--coefficients", "1.2,-0.2"}, {"coefficient 2 is negative"});
  expect_refused({"jacobian", "--coefficients", "-0.2,1.2"}, {"coefficient 1 is negative"});
  expect_refused({"jacobian", "--coefficients", "0.5,0.4"}, {"sum to 0.9, not to 1", "divide them by their sum"});
  expect_refused({"jacobian", "--coefficients", "0.5,nan"}, {"coefficient 2 is nan"});
  expect_refused({"jacobian", "--coefficients", ""}, {"at least one coefficient"});
  expect_refused({"jacobian", "--coefficients", "0.5,half"}, {"--coefficients", "'half' is no number"});
  expect_refused({"jacobian", "--logits", "1,inf"}, {"logit 2 is inf"});
  expect_refused({"jacobian", "--logits", "1,2", "--temperature", "0"}, {"temperature is 0"});
  expect_refused({"sweep", "--tokens", "0"}, {"number of tokens T must be at least 1"});
  expect_refused({"sweep", "--tokens", "1"}, {"T = 1"});
  expect_refused({"sweep", "--examples", "3"}, {"N p = 12 is below d = 16", "--examples"});
  expect_refused({"rates", "--examples", "3"}, {"N p = 3 is below d = 8"});
  expect_refused({"race", "--examples", "2"}, {"N p = 4 is below d = 8"});
  expect_refused({"sweep", "--delta", "0"}, {"delta = 0"});
  expect_refused({"sweep", "--q", "1000"}, {"q = 1000", "352 is the most"});
  expect_refused({"sweep", "--q", "1.5"}, {"--q", "1.5 is no count"});
  expect_refused({"sweep", "--kinds", "softmx"}, {"did you mean 'softmax'?"});
  expect_refused({"sweep", "--temperatures", "1,-1"}, {"above 0"});
  expect_refused({"sweep", "--temperatures", "1", "--q", "3"}, {"not both"});
  expect_refused({"rates", "--q", "3"}, {"--q and --delta belong together"});
  expect_refused({"scale", "--scales", "0.1"}, {"two scales"});
  expect_refused({"scale", "--scales", "0.1,nan"}, {"two different scales above 0"});
  expect_refused({"tables", "nowhere.md"}, {"nowhere.md", "cannot read"});
  expect_refused({"jacobain"}, {"no part 'jacobain'", "did you mean 'jacobian'?"});
  expect_refused({"sweep", "--seedz", "1"}, {"eureka condition sweep has no option '--seedz'", "--seed"});
}

TEST(Condition, JacobianPrintsTheWorkedRow) {
  const Json json = json_of({"jacobian", "--coefficients", "0.7,0.2,0.1"});
  EXPECT_NEAR(json["rows"][0]["value"].get<double>(), .125596934910895, 1e-12);
  EXPECT_NEAR(json["rows"][1]["value"].get<double>(), .334403065089105, 1e-12);
  const CommandResult text = condition({"jacobian", "--logits", "0,-800,-802"});
  EXPECT_EQ(text.exit_code, 0);
  EXPECT_THAT(text.out, HasSubstr("-347.")) << "log10 of the largest eigenvalue, which underflows itself";
}

TEST(Condition, SweepPrintsTheoryBesideMeasurementWhateverTheThreads) {
  const std::vector<std::string> words = {"sweep", "--q", "0,4", "--delta", "1e-3,1e-4", "--seeds", "2"};
  const auto with_threads = [&](const char* count) {
    std::vector<std::string> all = words;
    all.insert(all.end(), {"--threads", count});
    return json_of(all);
  };
  const Json one = with_threads("1"), three = with_threads("3");
  EXPECT_EQ(one["rows"], three["rows"]);
  EXPECT_EQ(one["laws"], three["laws"]);
  EXPECT_THAT(one["command"].get<std::string>(), HasSubstr("condition sweep --q 0,4"));
  ASSERT_EQ(one["rows"].size(), 4U);
  for (const Json& row : one["rows"]) EXPECT_LE(row["smallest_over_bound"].get<double>(), 1) << "T1";
  EXPECT_THAT(one["tests"].get<std::string>(), HasSubstr("T1"));
  for (const Json& law : one["laws"])
    EXPECT_NEAR(law["measured"].get<double>(), law["theory"].get<double>(), .2) << law["claim"];
}

TEST(Condition, RatesWritesCsvAndPlotsTheHardestCase) {
  const TemporaryDirectory directory;
  const std::string file = (directory.path() / "rates.csv").string();
  const CommandResult result = condition({"rates", "--temperatures", "2,0.5", "--csv", file});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("2/(kappa+1)"));
  EXPECT_THAT(result.out, HasSubstr("log10 of the loss by step, tau 0.5"));
  EXPECT_THAT(read_file(file), testing::StartsWith("case,mean_largest_weight,kappa,predicted,measured,ratio"));
}

TEST(Condition, RaceAndScalePrintTheoryAndRatio) {
  const Json race = json_of({"race", "--problem", "logits", "--tokens", "6", "--outputs", "12", "--features", "6",
                             "--start", "near", "--horizon", "500", "--eps", "1e-4"});
  EXPECT_EQ(race["rows"].size(), 12U);
  for (const Json& row : race["rows"]) EXPECT_TRUE(row["twins"].is_string());
  const TemporaryDirectory directory;
  const std::string file = (directory.path() / "race.csv").string();
  const CommandResult chaotic = condition({"race", "--start", "near", "--horizon", "4000", "--csv", file});
  EXPECT_THAT(chaotic.out, HasSubstr("chaotic: "));
  EXPECT_THAT(read_file(file), testing::AllOf(HasSubstr(",first_hit,twins,last_above,"), HasSubstr(",chaotic: ")));
  for (const Json& row : race["rows"]) EXPECT_TRUE(row.contains("first_hit") && row.contains("last_above"));
  const Json scale = json_of({"scale", "--scales", "0.05,0.1", "--kinds", "softmax,linear"});
  ASSERT_EQ(scale["rows"].size(), 2U);
  for (const Json& row : scale["rows"]) {
    EXPECT_NEAR(row["query_key_ratio"].get<double>(), 1, .01);
    EXPECT_NEAR(row["value_ratio"].get<double>(), 1, .01);
  }
}

}  // namespace
}  // namespace eureka
