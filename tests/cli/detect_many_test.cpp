// Several logs at once, standard input, and a log that grows.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "support/command.h"

namespace eureka {
namespace {

using testing::HasSubstr;
using testing::Not;
using Json = nlohmann::json;

class DetectMany : public testing::Test {
 protected:
  static void write(const fs::path& path, const std::string& text, std::ios::openmode mode = std::ios::out) {
    fs::create_directories(path.parent_path());
    std::ofstream(path, mode) << text;
  }

  // Lines of nanoGPT's kind: a plateau at 2.3, and from row 20 on 0.5.
  static std::string printed(int rows, int first = 0) {
    std::string text;
    for (int row = first; row < rows; ++row)
      text += "iter " + std::to_string(10 * row) + ": loss " + (row < 20 ? "2.30" : "0.50") + std::to_string(row % 7) +
              ", time 12.5ms\n";
    return text;
  }

  static std::string json_lines(int rows) {
    std::string text;
    for (int row = 0; row < rows; ++row)
      text += R"({"step": )" + std::to_string(10 * row) + R"(, "val_accuracy": )" + (row < 20 ? "0.1" : "0.9") +
              R"(, "val_loss": )" + (row < 20 ? "2.3" : "0.2") + "}\n";
    return text;
  }

  const TemporaryDirectory scratch_;
  const fs::path place_ = scratch_.path();
};

TEST_F(DetectMany, ReadsWhatAProgramPrintedAndSaysHow) {
  const fs::path log = place_ / "train.log";
  write(log, "number of parameters: 10.65M\n" + printed(40));
  const CommandResult result = eureka_command({"detect", log.string(), "--json"});
  const Json found = Json::parse(result.out);
  EXPECT_EQ(found.at("file"), log.string());
  EXPECT_EQ(found.at("column"), "loss");
  EXPECT_EQ(found.at("direction"), "down");
  EXPECT_EQ(found.at("moments").size(), 1U);
  EXPECT_THAT(result.err, HasSubstr("loss from lines like: iter #: loss #, time #ms"));
}

TEST_F(DetectMany, HasALineForEachRunAndCurve) {
  write(place_ / "runs/a/metrics.jsonl", json_lines(40));
  write(place_ / "runs/b/metrics.jsonl", json_lines(10));
  write(place_ / "runs/b/checkpoints/x", "");
  write(place_ / "runs/c/metrics.jsonl", "{broken\n{}\n");
  const CommandResult result = eureka_command({"detect", (place_ / "runs").string()});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.out, HasSubstr("in " + (place_ / "runs/").string()));
  EXPECT_THAT(result.out, HasSubstr("val_accuracy"));
  EXPECT_THAT(result.out, HasSubstr("val_loss"));
  EXPECT_THAT(result.out, Not(HasSubstr("\n c ")));
  EXPECT_THAT(result.err, HasSubstr("runs/c"));
  const Json found = Json::parse(eureka_command({"detect", (place_ / "runs/a").string(), (place_ / "runs/b").string(),
                                                 "--column", "val_a", "--json"})
                                     .out);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].at("moments").size(), 1U);
  EXPECT_TRUE(found[1].at("moments").empty());
  EXPECT_EQ(eureka_command({"detect", (place_ / "runs/c").string(), (place_ / "runs/d").string()}).exit_code, 2);
}

TEST_F(DetectMany, ReadsStandardInput) {
  write(place_ / "log.txt", printed(40));
  const int kept = ::dup(STDIN_FILENO);
  const int file = ::open((place_ / "log.txt").c_str(), O_RDONLY);
  ::dup2(file, STDIN_FILENO);
  const CommandResult result = eureka_command({"detect", "-", "--json"});
  ::dup2(kept, STDIN_FILENO);
  ::close(file);
  ::close(kept);
  EXPECT_EQ(Json::parse(result.out).at("moments").size(), 1U) << result.err;
}

TEST_F(DetectMany, WatchesALogAndSaysTheMomentOnce) {
  const fs::path log = place_ / "train.log";
  write(log, printed(19));
  Command watching({"detect", log.string(), "--watch"});
  ASSERT_TRUE(watching.wait_until([&] { return watching.has_said("watching loss"); }));
  write(log, printed(40, 19), std::ios::app);
  ASSERT_TRUE(watching.wait_until([&] { return watching.has_printed("moment"); }));
  write(log, printed(60, 40), std::ios::app);
  watching.send(SIGINT);
  const CommandResult result = watching.wait();
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out.find("moment"), result.out.rfind("moment")) << result.out;
  EXPECT_EQ(eureka_command({"detect", log.string(), log.string(), "--watch"}).exit_code, 2);
}

}  // namespace
}  // namespace eureka
