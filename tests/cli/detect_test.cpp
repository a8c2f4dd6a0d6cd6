#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "support/command.h"

namespace eureka {
namespace {

using testing::HasSubstr;
using Json = nlohmann::json;

class Detect : public testing::Test {
 protected:
  // A plateau of ten evaluations at 0.55, every 100 steps, and then these cells.
  fs::path log_ending_in(const std::vector<std::string>& cells) const {
    const fs::path path = directory_.path() / "log.csv";
    std::ofstream file(path);
    file << "step,val_accuracy\n";
    int step = 0;
    for (const char* cell : {"0.11", "0.53", "0.56", "0.54", "0.55", "0.56", "0.55", "0.54", "0.56", "0.55"})
      file << 100 * step++ << "," << cell << "\n";
    for (const std::string& cell : cells) file << 100 * step++ << "," << cell << "\n";
    return path;
  }

  // Validation stays at 0.1 for twenty evaluations and is then solved; training is from the sixth on.
  fs::path log_with_training_ahead() const {
    const fs::path path = directory_.path() / "both.csv";
    std::ofstream file(path);
    file << "step,train_accuracy,val_accuracy\n";
    for (int row = 0; row < 40; ++row)
      file << 100 * row << "," << (row < 6 ? 0.16 * row : 1.0) << "," << (row < 20 ? 0.1 : 0.99) << "\n";
    return path;
  }

 private:
  TemporaryDirectory directory_;
};

TEST_F(Detect, SaysOfARiseAtTheEndThatItIsUnderWay) {
  const std::string log = log_ending_in({"0.6", "0.75"}).string();
  const Json found = Json::parse(eureka_command({"detect", log, "--json"}).out);
  EXPECT_EQ(found.at("under_way"), true);
  EXPECT_TRUE(found.at("moments").empty());
  EXPECT_EQ(found.at("rise").at("reached"), 0.75);
  EXPECT_THAT(eureka_command({"detect", log}).out, HasSubstr("under way"));
}

// The log is read for the curve and again for that of training, but a pipe gives it once.
TEST_F(Detect, ReadsALogWithTrainingFromAPipe) {
  const fs::path log = log_with_training_ahead(), pipe = log.parent_path() / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  std::thread writer([&] { std::ofstream(pipe) << std::ifstream(log).rdbuf(); });
  const CommandResult result = eureka_command({"detect", pipe.string(), "--json"});
  writer.join();
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(Json::parse(result.out).at("training_column"), "train_accuracy");
}

TEST_F(Detect, FindsTheMomentOfALogStoppedSoonAfterIt) {
  const Json found =
      Json::parse(eureka_command({"detect", log_ending_in({"0.75", "0.97", "0.98"}).string(), "--json"}).out);
  EXPECT_EQ(found.at("moments").size(), 1U);
  EXPECT_EQ(found.at("under_way"), false);
  EXPECT_FALSE(found.contains("rise"));
}

TEST_F(Detect, SaysWhatAValueThatIsNoNumberCosts) {
  const std::string log = log_ending_in({"nan", "0.97", "0.98", "0.99"}).string();
  const Json found = Json::parse(eureka_command({"detect", log, "--json"}).out);
  EXPECT_EQ(found.at("points"), 10);
  EXPECT_EQ(found.at("dropped_points"), 4);
  EXPECT_EQ(found.at("last_step"), 900);
  EXPECT_THAT(eureka_command({"detect", log}).out, HasSubstr("4 of 14 points"));
}

TEST_F(Detect, NamesTheFirstRiseToAPlateauItIsTold) {
  const std::string log = log_ending_in({"0.75", "0.97", "0.98"}).string();
  const Json found = Json::parse(eureka_command({"detect", log, "--plateau-level", "0.55", "--json"}).out);
  ASSERT_EQ(found.at("rises").size(), 2U);
  EXPECT_EQ(found.at("rises")[0].at("kind"), "first-rise");
  EXPECT_EQ(found.at("rises")[1].at("kind"), "moment");
  EXPECT_EQ(found.at("moments").size(), 1U);
  EXPECT_THAT(eureka_command({"detect", log, "--plateau-level", "0.55"}).out, HasSubstr("first-rise"));
}

TEST_F(Detect, TellsGrokkingByTheTrainingColumnOfTheLog) {
  const std::string log = log_with_training_ahead().string();
  const Json found = Json::parse(eureka_command({"detect", log, "--json"}).out);
  EXPECT_EQ(found.at("training_column"), "train_accuracy");
  EXPECT_TRUE(found.at("moments").empty());
  ASSERT_EQ(found.at("rises").size(), 1U);
  EXPECT_EQ(found.at("rises")[0].at("kind"), "grokking");
  EXPECT_THAT(eureka_command({"detect", log}).out, HasSubstr("grokking"));
  const Json alone = Json::parse(eureka_command({"detect", log, "--training-column", "none", "--json"}).out);
  EXPECT_EQ(alone.at("moments").size(), 1U);
  EXPECT_TRUE(alone.at("training_column").is_null());
}

}  // namespace
}  // namespace eureka
