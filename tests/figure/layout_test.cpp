// Figures are laid out so that everything can be read, whatever the numbers are.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "figure/chart.h"
#include "figure/forest.h"
#include "figure/heatmap.h"
#include "figure/letters.h"
#include "figure/scale.h"
#include "figure/svg_painter.h"
#include "figure/thinning.h"
#include "support/markup_check.h"

namespace eureka::figure {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

void expect_inside(const Drawing& drawing) {
  const auto check = [&](const Point& point) {
    EXPECT_TRUE(std::isfinite(point.x) && std::isfinite(point.y));
    EXPECT_GE(point.x, -0.5);
    EXPECT_LE(point.x, drawing.width + 0.5);
    EXPECT_GE(point.y, -0.5);
    EXPECT_LE(point.y, drawing.height + 0.5);
  };
  for (const Item& item : drawing.items) {
    if (const auto* line = std::get_if<Polyline>(&item))
      for (const Point& point : line->points) check(point);
    if (const auto* area = std::get_if<Area>(&item))
      for (const Point& point : area->outline) check(point);
    if (const auto* marker = std::get_if<Marker>(&item)) check(marker->at);
    if (const auto* text = std::get_if<Text>(&item)) check(text->at);
  }
}

std::vector<std::string> texts_of(const Drawing& drawing) {
  std::vector<std::string> texts;
  for (const Item& item : drawing.items)
    if (const auto* text = std::get_if<Text>(&item)) texts.push_back(text->text);
  return texts;
}

TEST(Chart, StaysInsideWhateverTheNumbersAre) {
  const std::vector<std::vector<Point>> curves = {{},
                                                  {{5, 5}},
                                                  {{0, 0}, {1, 1e300}, {2, -1e300}},
                                                  {{0, kNan}, {1, kInfinity}, {2, 1}, {3, kNan}, {4, 2}},
                                                  {{0, 7}, {1, 7}, {2, 7}},
                                                  {{1e-300, 1e-300}, {2e-300, 2e-300}}};
  for (const auto& points : curves)
    for (const bool logarithmic : {false, true}) {
      Chart chart{.title = "What?"};
      chart.panels.push_back(
          {.title = "panel", .x = {.label = "x"}, .y = {.label = "y", .is_logarithmic = logarithmic}});
      chart.panels[0].series.push_back(
          {.name = "a", .points = points, .band = {{0, kNan, 1}, {1, -kInfinity, 1}, {2, 0, 1}}});
      chart.panels[0].lines.push_back({.at = 1e9});
      chart.panels[0].rests.push_back({-5, 1e9, 0.5});
      chart.panels[0].dots.push_back({.name = "d", .color = Color::ink(), .points = points});
      const Drawing drawing = lay_out(chart);
      expect_inside(drawing);
      EXPECT_EQ(MarkupCheck(svg_file(drawing)).problem(), "");
    }
}

TEST(Chart, NamesItsTitleAxesAndSeriesOnce) {
  Chart chart{.title = "When?"};
  for (int i = 0; i < 3; ++i) {
    chart.panels.push_back({.x = {.label = "training step"}, .y = {.label = "accuracy"}});
    chart.panels.back().series.push_back({.name = "softmax", .points = {{0, 0}, {10, 1}}});
  }
  chart.columns = 3;
  const std::vector<std::string> texts = texts_of(lay_out(chart));
  EXPECT_EQ(std::count(texts.begin(), texts.end(), "When?"), 1);
  EXPECT_EQ(std::count(texts.begin(), texts.end(), "softmax"), 1);
  EXPECT_EQ(std::count(texts.begin(), texts.end(), "accuracy"), 1);
  EXPECT_EQ(std::count(texts.begin(), texts.end(), "training step"), 3);
  const std::vector<std::string> untitled = texts_of(lay_out(chart, Titled::no));
  EXPECT_EQ(std::count(untitled.begin(), untitled.end(), "When?"), 0);
}

TEST(Chart, LabelsOfAnAxisDoNotOverlap) {
  for (const double width : {200.0, 400.0, 760.0})
    for (const double high : {1.0, 97.0, 123456.0, 4e6}) {
      Chart chart{.title = "", .width = width};
      chart.panels.push_back({.x = {.label = "x"}, .y = {.label = "y"}});
      chart.panels[0].series.push_back({.name = "", .points = {{0, 0}, {high, 1}}});
      const Drawing drawing = lay_out(chart);
      double free_from = -1e9;
      for (const Item& item : drawing.items) {
        const auto* text = std::get_if<Text>(&item);
        if (text == nullptr || text->anchor != Anchor::middle || text->size != 11) continue;
        const double half = text_width(text->text, text->size) / 2;
        EXPECT_GT(text->at.x - half, free_from) << width << " " << high;
        free_from = text->at.x + half;
      }
    }
}

// Units were cut off where panels are small.
TEST(Chart, WrapsLongTitlesAndLabels) {
  Chart chart{.title = "What?", .columns = 3, .panel_height = 140};
  for (int i = 0; i < 3; ++i)
    chart.panels.push_back({.title = "answer_by_share, layer0 (multiple of even attention)",
                            .x = {.label = "training step"},
                            .y = {.label = "validation accuracy (share of answers)"},
                            .series = {{.name = "a", .points = {{0, 0}, {1, 1}}}}});
  const Drawing drawing = lay_out(chart, Titled::yes);
  expect_inside(drawing);
  std::string all;
  for (const std::string& text : texts_of(drawing)) all += text + "|";
  EXPECT_THAT(all, testing::Not(testing::HasSubstr("\u2026")));
  EXPECT_THAT(all, testing::HasSubstr("layer0|(multiple of even attention)"));
  EXPECT_THAT(all, testing::HasSubstr("answers)"));
}

TEST(Chart, EndsWhereItsCurvesEnd) {
  Chart chart{.title = "What?", .columns = 3, .panel_height = 140};
  for (int i = 0; i < 3; ++i)
    chart.panels.push_back({.x = {.label = "x"}, .y = {.label = "y"}, .series = {{.points = {{0, 0}, {2500, 1}}}}});
  for (const Frame& frame : lay_out(chart).frames) EXPECT_EQ(frame.x_high, 2500);
}

TEST(Chart, KeepsTheNumbersOfItsFramesForAPage) {
  Chart chart{.title = ""};
  chart.panels.push_back({.x = {.label = "x", .low = 0, .high = 50}, .y = {.label = "y", .low = 0, .high = 1}});
  const Drawing drawing = lay_out(chart);
  ASSERT_EQ(drawing.frames.size(), 1U);
  EXPECT_EQ(drawing.frames[0].x_high, 50);
  EXPECT_EQ(drawing.frames[0].y_high, 1);
}

TEST(Forest, ShowsEveryRowAndStaysInside) {
  Forest forest{.title = "How much?", .label = "speed-up"};
  forest.rows = {{.name = "a", .estimate = 2, .low = 1.5, .high = 2.5, .text = "2"},
                 {.name = "open", .estimate = 3, .text = "3"},
                 {.name = "none", .text = "cannot be told"},
                 {.name = "wild", .estimate = 1e-9, .low = 0, .high = 1e12, .text = "?"}};
  const Drawing drawing = lay_out(forest);
  expect_inside(drawing);
  EXPECT_THAT(texts_of(drawing), testing::IsSupersetOf({"a", "open", "none", "wild", "cannot be told"}));
}

TEST(Heatmap, HasATextInEveryCellAlsoWhereThereIsNoNumber) {
  Heatmap map{.title = "t",
              .row_label = "arm",
              .column_label = "lr",
              .value_label = "steps",
              .rows = {"a", "b"},
              .columns = {"1", "2"}};
  map.cells = {{{100, "100"}, {200, "200"}}, {{kNan, "-"}, {kInfinity, "inf"}}};
  const Drawing drawing = lay_out(map);
  expect_inside(drawing);
  EXPECT_THAT(texts_of(drawing), testing::IsSupersetOf({"100", "200", "-", "inf", "a", "b", "arm", "lr"}));
}

TEST(Scale, HasRoundTicksAndDecades) {
  Extent extent;
  extent.add(0), extent.add(2500), extent.add(kNan), extent.add(kInfinity);
  const Scale plain(extent, {.label = ""}, 0, 100, 6);
  EXPECT_EQ(plain.ticks().front().label, "0");
  EXPECT_EQ(plain.place(plain.low()), 0);
  EXPECT_EQ(plain.place(plain.high()), 100);
  const Scale decades({1, 1e6}, {.label = "", .is_logarithmic = true}, 0, 60, 7);
  EXPECT_EQ(decades.ticks().size(), 7U);
  EXPECT_NEAR(decades.place(1000), 30, 1e-9);
  EXPECT_EQ(decades.ticks().back().label, "1e6");
  EXPECT_EQ(decades.ticks()[2].label, "100");
  EXPECT_FALSE(Scale({-1, 1}, {.label = "", .is_logarithmic = true}, 0, 1, 5).is_logarithmic());
}

// The axis of runs set on their own moments went from -384 to 384 and had one number, 0.
TEST(Scale, SaysHowFarItGoes) {
  const Scale aligned({}, {.label = "", .low = -384, .high = 384}, 0, 205, 4);
  EXPECT_GE(aligned.ticks().size(), 3u);
  EXPECT_EQ(aligned.low(), -384);
  const Scale part_of_decade({0.31, 0.44}, {.label = "", .is_logarithmic = true}, 0, 100, 5);
  ASSERT_GE(part_of_decade.ticks().size(), 2u);
  EXPECT_TRUE(part_of_decade.is_logarithmic());
  for (const Tick& tick : part_of_decade.ticks()) EXPECT_TRUE(part_of_decade.holds(tick.at)) << tick.label;
}

TEST(Scale, HasWholePlacesForPaintersOfCharacters) {
  const Scale scale({}, {.label = "", .low = 0, .high = 10}, 0, 100, 3);
  EXPECT_EQ(scale.dot(0), 0);
  EXPECT_EQ(scale.dot(1.26), 13);
  EXPECT_EQ(scale.dot(10), 100);
  EXPECT_LT(scale.dot(-5), 0);
  EXPECT_LT(scale.dot(kNan), -1000);
}

TEST(Heatmap, GivesEachAxisOfAPointALineOfItsOwn) {
  Heatmap map{.title = "t", .rows = {"a"}, .columns = {"task.noise=0.1,train.lr=0.003"}, .cells = {{{1, "1"}}}};
  EXPECT_THAT(texts_of(lay_out(map)), testing::IsSupersetOf({"task.noise=0.1", "train.lr=0.003"}));
}

TEST(ThinnedCurve, KeepsAllOfAShortCurve) {
  ThinnedCurve curve(400);
  for (int i = 0; i < 100; ++i) curve.add(i, std::sin(i));
  ASSERT_EQ(curve.points().size(), 100U);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(curve.points()[static_cast<std::size_t>(i)].x, i);
}

TEST(ThinnedCurve, KeepsExtremesEndsAndEveryPointAroundAnEvent) {
  ThinnedCurve curve(400, {{499'950, 500'050}});
  for (int i = 0; i <= 1'000'000; ++i) curve.add(i, i == 123'457 ? -7 : i == 765'432 ? 9 : 0.5 + 1e-4 * (i % 10));
  const std::vector<Point> points = curve.points();
  EXPECT_LT(points.size(), 2000U);
  EXPECT_EQ(points.front().x, 0);
  EXPECT_EQ(points.back().x, 1'000'000);
  EXPECT_TRUE(std::is_sorted(points.begin(), points.end(), [](const Point& a, const Point& b) { return a.x < b.x; }));
  const auto has = [&](double x) {
    return std::any_of(points.begin(), points.end(), [&](const Point& p) { return p.x == x; });
  };
  EXPECT_TRUE(has(123'457));
  EXPECT_TRUE(has(765'432));
  for (int x = 499'950; x <= 500'050; ++x) EXPECT_TRUE(has(x)) << x;
}

TEST(ThinnedCurve, LeavesAGapWhereValuesAreNoNumbers) {
  ThinnedCurve curve(8);
  for (int i = 0; i < 4000; ++i) curve.add(i, i >= 1000 && i < 3000 ? kNan : 1);
  const std::vector<Point> points = curve.points();
  EXPECT_TRUE(std::any_of(points.begin(), points.end(), [](const Point& p) { return std::isnan(p.y); }));
  EXPECT_EQ(points.front().y, 1);
  ThinnedCurve nothing(8);
  for (int i = 0; i < 100; ++i) nothing.add(i, kNan);
  for (const Point& point : nothing.points()) EXPECT_TRUE(std::isnan(point.y));
}

}  // namespace
}  // namespace eureka::figure
