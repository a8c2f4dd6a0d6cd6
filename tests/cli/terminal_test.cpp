// What people see who run it in a window of their own: nothing scrolls away, and Ctrl-C leaves it standing.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "support/command.h"
#include "support/pseudo_terminal.h"

namespace eureka {
namespace {

constexpr std::string_view kHeading = "median so far";

class Terminal : public testing::Test {
 protected:
  // 24 arms, which is more than 24 lines can show.
  std::vector<std::string> study(int steps) const {
    const fs::path file = directory_.path() / "many.toml";
    std::string text =
        "[study]\nquestion = \"does it fit?\"\nbase = \"two-step\"\nseeds = 2\n"
        "set.train.validation_samples = 100\n";
    for (int arm = 0; arm < 24; ++arm)
      text += fmt::format("[[arm]]\nname = \"arm-{}\"\nset.attention.scale.from = {}\n", arm, arm + 1);
    std::ofstream(file) << text;
    return {"study",  file.string(), "--out", (directory_.path() / "out").string(),
            "--jobs", "2",           "--set", fmt::format("train.steps={}", steps)};
  }

  // Columns of the widest line that was written after `begin`.
  static std::size_t widest_line(std::string_view raw) {
    TerminalScreen wide(10000, 10000);
    wide.take(raw);
    std::size_t widest = 0;
    for (const std::string& line : wide.all_lines()) {
      const auto letters = std::count_if(line.begin(), line.end(), [](char c) { return (c & 0xC0) != 0x80; });
      widest = std::max(widest, static_cast<std::size_t>(letters));
    }
    return widest;
  }

  TemporaryDirectory directory_;
};

TEST_F(Terminal, AStudyWithMoreArmsThanLinesIsDrawnInPlaceAndCtrlCLeavesIt) {
  PseudoTerminal run(study(20000), 80, 24);
  ASSERT_TRUE(run.wait_for_frames(1)) << run.raw();
  const std::size_t lines = run.screen().all_lines().size();
  ASSERT_TRUE(run.wait_for_frames(5)) << run.raw();
  EXPECT_EQ(run.screen().lines_with(kHeading), 1U) << "in the window and above it";
  EXPECT_EQ(run.screen().lines_with("… and 4 more"), 1U);
  EXPECT_EQ(run.screen().all_lines().size(), lines) << "nothing scrolls away";
  run.type("\x03");
  EXPECT_EQ(run.wait(), 4);
  EXPECT_EQ(run.screen().lines_with(kHeading), 1U);
  EXPECT_EQ(run.screen().lines_with(" done ·"), 1U);
  EXPECT_EQ(run.screen().lines_with("eureka: interrupted"), 1U);
}

TEST_F(Terminal, AWindowThatGetsSmallerIsAskedForItsSize) {
  PseudoTerminal run(study(20000), 80, 24);
  ASSERT_TRUE(run.wait_for_frames(2));
  run.resize(40, 12);
  ASSERT_TRUE(run.wait_for_frames(2));  // one may have been under way
  const std::size_t begin = run.raw().size();
  ASSERT_TRUE(run.wait_for_frames(2));
  const std::string_view frames = std::string_view(run.raw()).substr(begin);
  EXPECT_LE(widest_line(frames), 40U);
  EXPECT_LE(std::count(frames.begin(), frames.begin() + static_cast<std::ptrdiff_t>(frames.find("\x1b[J")), '\n'), 11);
  run.resize(20, 4);
  ASSERT_TRUE(run.wait_for_frames(2));
  const std::size_t one_line = run.raw().size();
  ASSERT_TRUE(run.wait_for_frames(1));
  const std::string_view last = std::string_view(run.raw()).substr(one_line);
  EXPECT_EQ(last.find(kHeading), std::string_view::npos);
  EXPECT_LE(widest_line(last), 20U);
}

TEST_F(Terminal, TheFinalTableFitsEightyColumns) {
  PseudoTerminal run(study(20), 80, 24);
  EXPECT_EQ(run.wait(), 0) << run.raw();
  EXPECT_EQ(run.screen().lines_with(kHeading), 0U) << "the live table has made room";
  EXPECT_EQ(run.screen().lines_with("speed-up"), 2U) << "heading and caption";
  for (const std::string& line : run.screen().all_lines())
    EXPECT_THAT(line, testing::Not(testing::HasSubstr("rate [95%]")));
  EXPECT_LE(widest_line(run.raw()), 80U);
}

TEST_F(Terminal, ARunIsDrawnInPlaceAndCtrlCLeavesItsCurve) {
  PseudoTerminal run({"train", "two-step", "--show", "attenuation", "--out", (directory_.path() / "run").string(),
                      "--set", "train.steps=1000000"},
                     60, 14);
  ASSERT_TRUE(run.wait_for_frames(6));
  EXPECT_EQ(run.screen().lines_with("validation accuracy"), 1U);
  run.type("\x03");
  EXPECT_EQ(run.wait(), 4);
  EXPECT_EQ(run.screen().lines_with("validation accuracy"), 1U);
  EXPECT_EQ(run.screen().lines_with("eureka: interrupted"), 1U);
}

}  // namespace
}  // namespace eureka
