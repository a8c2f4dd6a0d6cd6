#include "report/curve_plot.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <limits>
#include <random>

#include "figure/scale.h"
#include "report/table.h"

namespace eureka {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

std::vector<std::string> lines_of(const std::string& picture) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < picture.size();) {
    const std::size_t end = picture.find('\n', at);
    lines.push_back(picture.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

// A plateau at 0.5, then a jump to 1 at step 100.
struct Jump {
  std::vector<double> steps, values;
  Jump() {
    for (int i = 0; i <= 200; i += 10) {
      steps.push_back(i);
      values.push_back(i < 100 ? 0.5 : 1.0);
    }
  }
  PlotCurve curve() const { return {steps, values}; }
};

TEST(CurvePlot, HasTheTicksOfAFigure) {
  for (const double size : {3e-4, 0.7, 42.0, 3e5}) {
    const std::vector<double> steps = {0, 1000}, values = {0.1 * size, size};
    const std::string text = plot_curve({steps, values}, {}, {.title = "", .width = 60, .height = 9});
    const figure::Scale y({0.1 * size, size}, {.label = ""}, 0, 35, 5);
    ASSERT_GT(y.ticks().size(), 2U);
    for (const figure::Tick& tick : y.ticks()) EXPECT_THAT(text, testing::HasSubstr(tick.label + " ┤")) << text;
  }
}

TEST(CurvePlot, DrawsAPlateauAndAJump) {
  const Jump jump;
  PlotOptions options;
  options.title = "val_accuracy";
  options.width = 46;
  options.height = 6;
  EXPECT_EQ(plot_curve(jump.curve(), {{{0, 90, 0.5}}, {{100}}}, options),
            "     val_accuracy\n"
            "1.0 ┤                  ⣸⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉\n"
            "    │                  ⡇\n"
            "    │                 ⢰⠃\n"
            "    │                 ⡼┊\n"
            "    │                 ⡇┊\n"
            "0.5 ┤⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣸⠁┊╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌ 0.5\n"
            "    └┯━━━━━━━━━━━━━━━━─▲─────────────────┬\n"
            "     0                100              200\n"
            "     ━ plateau at 0.5, steps 0 to 90\n"
            "     ▲ moment at step 100\n");
}

TEST(CurvePlot, ColorAddsEscapesAndNothingElse) {
  const Jump jump;
  const PlotMarks marks{{{0, 90, 0.5}}, {{100}}};
  PlotOptions options;
  options.title = "val_accuracy";
  const std::string plain = plot_curve(jump.curve(), marks, options);
  EXPECT_THAT(plain, Not(HasSubstr("\x1b")));
  options.color = true;
  std::string colored = plot_curve(jump.curve(), marks, options);
  for (std::size_t at = 0; (at = colored.find('\x1b')) != std::string::npos;)
    colored.erase(at, colored.find('m', at) - at + 1);
  EXPECT_EQ(colored, plain);
}

TEST(CurvePlot, NoLineIsWiderThanAsked) {
  const Jump jump;
  PlotOptions options;
  options.title = "a title that is longer than some of the widths tried here";
  for (int width = 8; width < 120; ++width)
    for (int height = 2; height < 9; ++height) {
      options.width = width;
      options.height = height;
      const PlotMarks marks{{{0, 40, 0.5}, {50, 90, 0.75}, {100, 110, 1e6}, {120, 130, 0.1}},
                            {{100}, {150}, {160}, {170}}};
      for (const std::string& line : lines_of(plot_curve(jump.curve(), marks, options)))
        ASSERT_LE(display_width(line), width) << line;
    }
}

TEST(CurvePlot, SurvivesCurvesThatAreHardlyCurves) {
  const std::vector<std::pair<std::vector<double>, std::vector<double>>> curves = {
      {{}, {}},
      {{5}, {0.25}},
      {{5}, {kNan}},
      {{1, 2, 3}, {kNan, kInf, -kInf}},
      {{1, 2, 3}, {0, 0, 0}},
      {{1, 2, 3}, {7, 7, 7}},
      {{1, 2, 3}, {1e16, 1e16 + 2, 1e16}},
      {{1, 2, 3}, {-1e308, 1e308, 0}},
      {{1, 2, 3}, {5e-324, 0, 5e-324}},
      {{2, 2, 2}, {1, 2, 3}},
      {{3, 1, 2}, {1, 2, 3}},
      {{-1e300, 0, 1e300}, {1, 2, 3}},
      {{kNan, kInf, 1}, {1, 2, 3}},
      {{0, 1e-9}, {1e-12, 2e-12}},
  };
  const std::vector<PlotMarks> all_marks = {
      {}, {{{kNan, kInf, kNan}, {5, 1, kInf}, {-9e99, 9e99, 2}}, {{kNan}, {-kInf}, {2}}}};
  for (const auto& [steps, values] : curves)
    for (const PlotMarks& marks : all_marks)
      for (const int width : {-5, 0, 1, 12, 76, 100000})
        for (const std::optional<double> limit : {std::optional<double>(), {0.5}, {kNan}, {kInf}, {-1e300}}) {
          PlotOptions options;
          options.width = width;
          options.height = width;
          options.x_max = options.y_min = options.y_max = limit;
          EXPECT_FALSE(plot_curve({steps, values}, marks, options).empty());
        }
}

TEST(CurvePlot, SaysWhatIsMissing) {
  EXPECT_THAT(plot_curve({}, {}, {}), HasSubstr("no points yet"));
  const std::vector<double> steps = {1, 2, 3}, values = {1, kNan, 2};
  EXPECT_THAT(plot_curve({steps, values}, {}, {}), HasSubstr("1 point is not finite"));
  const std::vector<double> one = {1};
  EXPECT_THAT(plot_curve({one, one}, {}, {}), HasSubstr("•"));
}

TEST(CurvePlot, LeavesRoomForStepsToCome) {
  const Jump jump;
  PlotOptions options;
  options.x_max = 1000;
  const std::string picture = plot_curve(jump.curve(), {}, options);
  EXPECT_THAT(picture, HasSubstr("1000"));
  EXPECT_LT(display_width(lines_of(picture).front()), 30) << "the curve takes a fifth of the width";
}

TEST(CurvePlot, ShortensLongSteps) {
  const std::vector<double> steps = {0, 2e6}, values = {0, 1};
  EXPECT_THAT(plot_curve({steps, values}, {}, {}), HasSubstr("1.5M"));
}

TEST(CurvePlot, AMillionPointsTakeNoNoticeableTime) {
  std::mt19937 random(1);
  std::vector<double> steps, values;
  for (int i = 0; i < 1'000'000; ++i) {
    steps.push_back(i);
    values.push_back(static_cast<double>(random() % 1000));
  }
  const auto start = std::chrono::steady_clock::now();
  plot_curve({steps, values}, {}, {});
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(2));
}

}  // namespace
}  // namespace eureka
