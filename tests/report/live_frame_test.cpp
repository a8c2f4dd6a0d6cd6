#include "report/live_frame.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "report/study_progress.h"
#include "report/table.h"

namespace eureka {
namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

void expect_fits(const std::string& frame, const WindowSize& window) {
  const std::vector<std::string> lines = lines_of(frame);
  EXPECT_LE(static_cast<int>(lines.size()), std::max(1, window.rows - 1)) << window.columns << "x" << window.rows;
  EXPECT_GE(lines.size(), 1U);
  for (const std::string& line : lines) EXPECT_LE(display_width(line), window.columns) << line;
}

TEST(Clipped, CutsAtTheColumnAndClosesColors) {
  EXPECT_EQ(clipped("abcdef", 6), "abcdef");
  EXPECT_EQ(clipped("abcdef", 5), "abcd…");
  EXPECT_EQ(clipped("\x1b[1mabcdef\x1b[0m", 4), "\x1b[1mabc…\x1b[0m");
  EXPECT_EQ(clipped("日本語", 4), "日…") << "a wide letter that would go over the edge is left out";
  EXPECT_EQ(clipped("⣿⣿⣿", 2), "⣿…");
  EXPECT_EQ(clipped("ab", 1), "…");
  EXPECT_EQ(clipped("ab", 0), "");
}

TEST(Shortened, KeepsBothEnds) {
  EXPECT_EQ(shortened("norm_softmax-variance", 21), "norm_softmax-variance");
  EXPECT_EQ(shortened("norm_softmax-variance", 9), "norm…ance");
  EXPECT_EQ(shortened("indicators-layer-0", 8), "indi…r-0");
  EXPECT_EQ(shortened("日本語日本語", 5), "日…語");
  for (int width = 1; width < 12; ++width) EXPECT_LE(display_width(shortened("abcdefghijkl", width)), width);
}

TEST(Fitted, LeavesTheCursorALineAndKeepsTheLast) {
  EXPECT_EQ(fitted("a\nb\nc\n", {80, 4}), "a\nb\nc\n");
  EXPECT_EQ(fitted("a\nb\nc\n", {80, 3}), "b\nc\n");
  EXPECT_EQ(fitted("a\nb\nc\n", {80, 1}), "c\n");
  EXPECT_EQ(fitted("abc\n", {2, 10}), "a…\n");
}

TEST(RowsTaken, CountsLinesAsTheTerminalWrapsThem) {
  EXPECT_EQ(rows_taken({10, 0, 80}, 80), 3);
  EXPECT_EQ(rows_taken({10, 0, 80}, 79), 4);
  EXPECT_EQ(rows_taken({10, 0, 80}, 10), 1 + 1 + 8);
}

TEST(PictureThatFits, TakesWhatRoomThereIsOrIsLeftOut) {
  const auto draw = [](int height) {
    std::string text = "title\n";
    for (int row = 0; row < height; ++row) text += "..........\n";
    return text + "axis\n";
  };
  const auto rows = [&](const WindowSize& window) { return lines_of(picture_that_fits(draw, 14, 4, window)).size(); };
  EXPECT_EQ(rows({80, 24}), 16U);
  EXPECT_EQ(rows({80, 18}), 16U);
  EXPECT_EQ(rows({80, 17}), 15U);
  EXPECT_EQ(rows({80, 8}), 6U);
  EXPECT_EQ(rows({80, 7}), 0U) << "fewer than four rows of plot show nothing";
  EXPECT_EQ(rows({9, 24}), 0U) << "too narrow";
}

// A study of 24 arms, of which some have ended.
class ManyArms : public testing::Test {
 protected:
  ManyArms() {
    for (int arm = 0; arm < 24; ++arm) {
      study_.arms.push_back({fmt::format("an-arm-with-a-long-name-{}", arm), {}});
      for (std::int64_t seed = 1; seed <= 3; ++seed) {
        Trial trial;
        trial.arm = static_cast<std::size_t>(arm);
        trial.seed = seed;
        trials_.push_back(trial);
      }
    }
    study_.points = {{"train.lr=0.003", {}}};
    progress_.on_event(TrialsPlanned{phase_, study_, trials_, 2});
  }
  void end_all_of(std::size_t arm) {
    for (const Trial& trial : trials_)
      if (trial.arm == arm) progress_.on_event(TrialEnded{trial, row_, 1});
  }
  std::string frame(int columns, int rows) const { return progress_.frame({}, {columns, rows}, false); }

  const std::string phase_ = "many";
  Study study_;
  std::vector<Trial> trials_;
  TrialRow row_;
  std::atomic<bool> stop_{false};
  StudyProgress progress_{stop_};
};

TEST_F(ManyArms, FitsWindowsOfEverySize) {
  for (int rows = 1; rows <= 40; ++rows)
    for (const int columns : {1, 10, 29, 30, 44, 60, 80, 200}) expect_fits(frame(columns, rows), {columns, rows});
}

TEST_F(ManyArms, ShowsAllThatFitAndSaysHowManyDoNot) {
  EXPECT_EQ(lines_of(frame(80, 27)).size(), 26U);
  EXPECT_THAT(frame(80, 27), testing::HasSubstr("name-23"));
  EXPECT_THAT(frame(80, 24), testing::HasSubstr("… and 4 more\n"));
  EXPECT_THAT(frame(80, 24), testing::Not(testing::HasSubstr("name-20")));
  EXPECT_THAT(frame(44, 24), testing::HasSubstr("ame-0 ")) << "the end of a name tells arms apart";
}

TEST_F(ManyArms, ArmsThatHaveEndedMakeRoom) {
  for (std::size_t arm = 0; arm < 6; ++arm) end_all_of(arm);
  EXPECT_THAT(frame(80, 24), testing::HasSubstr("name-23"));
  EXPECT_THAT(frame(80, 24), testing::HasSubstr("… and 4 more, 4 of them done, above\n"));
}

TEST_F(ManyArms, FallsBackToOneLine) {
  EXPECT_EQ(lines_of(frame(80, 6)).size(), 1U);
  EXPECT_THAT(frame(80, 6), testing::HasSubstr("many · 0/72 done"));
  EXPECT_EQ(lines_of(frame(29, 24)).size(), 1U);
}

}  // namespace
}  // namespace eureka
