#include "report/survival_plot.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "report/table.h"

namespace eureka {
namespace {

std::vector<std::string> lines_of(const std::string& picture) {
  std::istringstream stream(picture);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::vector<SurvivalStep> steps(std::vector<std::pair<double, double>> points) {
  std::vector<SurvivalStep> curve;
  for (const auto& [time, survival] : points) {
    SurvivalStep step;
    step.time = time;
    step.survival = survival;
    curve.push_back(step);
  }
  return curve;
}

TEST(SurvivalPlot, StartsAtTheTopAndEndsWhereTheCurveDoes) {
  const auto curve = steps({{500, 0.5}, {700, 0}});
  const std::vector<std::string> lines =
      lines_of(plot_survival({{"cure", &curve}}, {.title = "waiting", .horizon = 1000, .width = 60, .height = 8}));
  ASSERT_EQ(lines.size(), 1U + 8 + 2 + 1);
  EXPECT_THAT(lines[0], testing::HasSubstr("waiting"));
  EXPECT_THAT(lines[1], testing::StartsWith("100% ┤⠉⠉"));
  EXPECT_THAT(lines[8], testing::StartsWith("  0% ┤ "));
  EXPECT_THAT(lines[8], testing::EndsWith("⣀⣀"));
  EXPECT_THAT(lines[10], testing::HasSubstr("1000"));
  EXPECT_EQ(lines[11], "      a cure");
}

TEST(SurvivalPlot, AnArmWithoutMomentsStaysAtTheTop) {
  const std::vector<SurvivalStep> none;
  const std::vector<std::string> lines =
      lines_of(plot_survival({{"stuck", &none}}, {.title = "", .horizon = 10, .width = 40, .height = 4}));
  EXPECT_THAT(lines[0], testing::HasSubstr("a"));
  EXPECT_EQ(display_width(lines[0]), 40);
  for (std::size_t row = 1; row < 4; ++row) EXPECT_LE(display_width(lines[row]), 6) << lines[row];
}

TEST(SurvivalPlot, EveryCurveHasItsLetterAndNothingIsTooWide) {
  std::vector<std::vector<SurvivalStep>> curves;
  std::vector<SurvivalSeries> series;
  for (int i = 0; i < 10; ++i) curves.push_back(steps({{100.0 + 80 * i, 0.5}, {150.0 + 80 * i, 0.1}}));
  for (std::size_t i = 0; i < curves.size(); ++i) series.push_back({fmt::format("arm-{}", i), &curves[i]});
  for (const int width : {40, 76, 100}) {
    const std::string picture = plot_survival(series, {.title = "", .horizon = 1000, .width = width, .height = 12});
    const std::vector<std::string> lines = lines_of(picture);
    std::string plot;
    for (std::size_t row = 0; row < 12; ++row) plot += lines[row];
    for (char letter = 'a'; letter < 'k'; ++letter)
      EXPECT_NE(plot.find(letter), std::string::npos) << letter << "\n" << picture;
    for (const std::string& line : lines) EXPECT_LE(display_width(line), width) << line;
  }
}

TEST(SurvivalPlot, TheBaselineIsAHeavyLineWithoutColorToo) {
  const auto curve = steps({{500, 0.5}}), other = steps({{200, 0.2}});
  const std::vector<std::string> lines = lines_of(plot_survival(
      {{"base", &curve, true}, {"cure", &other}}, {.title = "", .horizon = 1000, .width = 46, .height = 8}));
  EXPECT_THAT(lines[0], testing::HasSubstr("━┓"));
  EXPECT_THAT(lines[3], testing::HasSubstr("┗━"));
  EXPECT_THAT(lines[3], testing::EndsWith("━━"));
  EXPECT_THAT(lines.back(), testing::HasSubstr("a base (heavy line)   b cure"));
}

TEST(SurvivalStrips, AreAsHighAsTheShareThatWaits) {
  const auto curve = steps({{250, 0.5}, {500, 0.01}, {750, 0}});
  const std::vector<SurvivalStep> none;
  const std::string text = plot_survival_strips({{'b', {"cure", &curve}}, {' ', {"stuck", &none}}},
                                                {.title = "", .horizon = 1000, .width = 6 + 2 + 5 + 1 + 10});
  EXPECT_EQ(text, "      b cure  ██▄▄▄▁▁\n        stuck ██████████\n");
}

TEST(SurvivalPlot, ColorsOnlyWhenAsked) {
  const auto curve = steps({{5, 0.5}});
  EXPECT_EQ(plot_survival({{"a", &curve}}, {.title = "", .horizon = 10}).find('\x1b'), std::string::npos);
  EXPECT_NE(plot_survival({{"a", &curve}}, {.title = "", .horizon = 10, .color = true}).find('\x1b'),
            std::string::npos);
}

}  // namespace
}  // namespace eureka
