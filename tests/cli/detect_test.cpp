#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

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

}  // namespace
}  // namespace eureka
