#include "report/series_plot.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "report/table.h"

namespace eureka {
namespace {

using testing::HasSubstr;
using testing::Not;

std::vector<std::string> lines_of(const std::string& picture) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < picture.size();) {
    const std::size_t end = picture.find('\n', at);
    lines.push_back(picture.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

PlotSeries line(const std::string& mark, double from, double to, double last_step = 100) {
  PlotSeries series{mark, "layer" + mark, {}, {}};
  for (int i = 0; i <= 10; ++i) {
    series.steps.push_back(last_step * i / 10);
    series.values.push_back(from + (to - from) * i / 10);
  }
  return series;
}

// Display column of a sign in a line.
int column_of(const std::string& line, const std::string& sign) {
  const std::size_t at = line.find(sign);
  return at == std::string::npos ? -1 : display_width(line.substr(0, at));
}

TEST(SeriesPlot, MarksEveryLineWhereItIsClearAndNamesItBelow) {
  SeriesPlotOptions options;
  options.title = "attention/entropy · share";
  options.width = 44;
  options.height = 5;
  EXPECT_EQ(plot_series({line("0", 1, 1), line("1", 1, 0)}, {{}, {{50}}}, options),
            "     attention/entropy · share\n"
            "1.0 ┤⠉⠛⠛⠯⠭⣍⣉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉0\n"
            "    │      ⠈⠉⠙⠒⠲⠤⢤⣀⣀    ┊\n"
            "0.5 ┤              ⠈⠉⠉⠙⠒⠒⠲⠤⣄⣀⡀\n"
            "    │                   ┊    ⠉⠉⠓⠒⠦⠤⣄⣀⡀\n"
            "0.0 ┤                   ┊            ⠉⠙⠒⠲⠤⢤1\n"
            "    └┬──────────────────▲──────────────────┬\n"
            "     0                 50                100\n"
            "     0 layer0: 1   1 layer1: 0\n");
}

TEST(SeriesPlot, AMarkStaysOnALineThatIsStillGrowing) {
  SeriesPlotOptions options;
  options.width = 60;
  options.x_max = 1000;
  const auto lines = lines_of(plot_series({line("7", 2, 2)}, {}, options));
  int marked = 0;
  for (const std::string& one : lines)
    if (const int column = column_of(one, "7"); column > 0 && !one.ends_with("layer7: 2")) {
      ++marked;
      EXPECT_LT(column, 20) << one;
    }
  EXPECT_EQ(marked, 1);
}

TEST(SeriesPlot, IsLogarithmicOverMoreThanTwoDecadesOfPositiveValues) {
  const SeriesPlotOptions options;
  EXPECT_THAT(plot_series({line("0", 1e-6, 1)}, {}, options), HasSubstr("1e-6 ┤"));
  EXPECT_THAT(plot_series({line("0", 0.02, 1)}, {}, options), Not(HasSubstr("1e-")));
  EXPECT_THAT(plot_series({line("0", 0, 1)}, {}, options), Not(HasSubstr("1e-")));
}

TEST(SeriesPlot, IsAlignedWithACurveThatHasTheSameMargins) {
  std::vector<double> steps, values;
  for (int i = 0; i <= 100; ++i) steps.push_back(i), values.push_back(i < 60 ? 0.55 : 1);
  const PlotMarks marks{{{0, 59, 0.55}}, {{60}}};
  for (const int width : {40, 80, 100}) {
    PlotOptions curve;
    curve.width = width;
    SeriesPlotOptions below;
    below.width = width;
    const std::vector<PlotSeries> series = {line("0", 1e-9, 1e-3), line("11", 1e-7, 1)};
    const PlotMargins a = curve_margins({steps, values}, marks, curve), b = series_margins(series, below);
    curve.margins = below.margins = {std::max(a.left, b.left), std::max(a.right, b.right)};
    const auto above = lines_of(plot_curve({steps, values}, marks, curve));
    const auto under = lines_of(plot_series(series, marks, below));
    const auto axis_of = [](const std::vector<std::string>& lines) {
      for (const std::string& one : lines)
        if (one.find("└") != std::string::npos) return one;
      return std::string();
    };
    EXPECT_EQ(column_of(axis_of(above), "▲"), column_of(axis_of(under), "▲")) << width;
    EXPECT_EQ(display_width(axis_of(above)), display_width(axis_of(under))) << width;
    for (const std::string& one : under) EXPECT_LE(display_width(one), width) << one;
  }
}

TEST(SeriesPlot, SaysSoWhenThereIsNothing) {
  EXPECT_THAT(plot_series({}, {}, SeriesPlotOptions{}), HasSubstr("nothing to see yet\n"));
}

TEST(SeriesPlot, DrawsWhateverItIsGivenWithinItsWidth) {
  const double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();
  std::vector<PlotSeries> many;
  for (int i = 0; i < 24; ++i) many.push_back(line(std::to_string(i), 1, 1 + i));
  const std::vector<std::vector<PlotSeries>> cases = {{},
                                                      {{"0", "layer0", {}, {}}},
                                                      {{"0", "layer0", {5}, {3}}},
                                                      {{"0", "layer0", {0, 1, 2}, {nan, inf, -inf}}},
                                                      {{"0", "layer0", {0, 1, 2}, {1, nan, 1e300}}},
                                                      {{"0", "layer0", {0, 1}, {5e-324, 1e-300}}},
                                                      {line("0", -1, -1)},
                                                      many};
  for (const auto& series : cases)
    for (const int width : {1, 10, 39, 40, 80, 600})
      for (const int height : {0, 2, 7}) {
        SeriesPlotOptions options;
        options.title = "a title";
        options.width = width;
        options.height = height;
        options.color = width == 80;
        for (const std::string& one : lines_of(plot_series(series, {{{0, 1, 1}}, {{1}}}, options)))
          EXPECT_LE(display_width(one), std::clamp(width, 8, 500)) << one;
      }
}

}  // namespace
}  // namespace eureka
