// A study says before it begins what it will take.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "io/json.h"
#include "support/command.h"

namespace eureka {
namespace {

using testing::HasSubstr;

std::vector<Json> events(const fs::path& study) {
  std::vector<Json> all;
  std::istringstream lines(read_file(study / "events.jsonl"));
  for (std::string line; std::getline(lines, line);) all.push_back(Json::parse(line));
  return all;
}

double bytes_in(const fs::path& directory) {
  double bytes = 0;
  for (const auto& entry : fs::recursive_directory_iterator(directory))
    if (entry.is_regular_file()) bytes += static_cast<double>(entry.file_size());
  return bytes;
}

class StudyCost : public testing::Test {
 protected:
  CommandResult study(const std::string& steps, const std::vector<std::string>& more = {}) const {
    std::vector<std::string> words = {"study", "temperature",   "--seeds", "1",
                                      "--set", "train.batch=8", "--set",   "train.steps=" + steps,
                                      "--out", out().string()};
    words.insert(words.end(), more.begin(), more.end());
    return eureka_command(words);
  }
  fs::path out() const { return directory_.path() / "s"; }

  TemporaryDirectory directory_;
};

TEST_F(StudyCost, IsToldBeforeTheFirstTrialBegins) {
  const CommandResult result = study("400");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.err, testing::ContainsRegex("^[0-9]+ trials, [0-9]+ at a time: about .*; some [0-9.]+ [kMG]?B"));
  std::size_t estimated = 0, started = 0;
  Json cost;
  const std::vector<Json> all = events(out());
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].at("event") == "estimated") estimated = i + 1, cost = all[i];
    if (started == 0 && all[i].at("event") == "trial-started") started = i + 1;
  }
  ASSERT_GT(estimated, 0U);
  EXPECT_LT(estimated, started);
  EXPECT_GT(cost.at("seconds")[0].get<double>(), 0);
  EXPECT_LE(cost.at("seconds")[0].get<double>(), cost.at("seconds")[1].get<double>());
  const double really = bytes_in(out());
  EXPECT_GT(cost.at("bytes").get<double>(), 0.5 * really);
  EXPECT_LT(cost.at("bytes").get<double>(), 3 * really);
}

TEST_F(StudyCost, GrowsWithTheStepsAndCountsOnlyWhatIsLeft) {
  ASSERT_EQ(study("20").exit_code, 0);
  EXPECT_THAT(study("20", {"--resume"}).err, testing::Not(HasSubstr("at a time: about"))) << "nothing is left";
  const auto seconds = [&] {
    for (const Json& event : events(out()))
      if (event.at("event") == "estimated") return event.at("seconds")[0].get<double>();
    return 0.0;
  };
  const double few = seconds();
  fs::remove_all(out());
  ASSERT_EQ(study("2000").exit_code, 0);
  EXPECT_GT(seconds(), 2 * few);
}

}  // namespace
}  // namespace eureka
