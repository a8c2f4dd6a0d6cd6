// One drawing, three painters.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include "figure/letters.h"
#include "figure/markup.h"
#include "figure/pdf_painter.h"
#include "figure/png_painter.h"
#include "figure/svg_painter.h"
#include "support/markup_check.h"

namespace eureka::figure {
namespace {

using testing::HasSubstr;
using testing::Not;

Drawing everything(const std::string& name) {
  Drawing drawing{.width = 200, .height = 100, .title = name};
  drawing.add(GroupBegin{name, name});
  drawing.add(Polyline{{{10, 10}, {100, 50}, {190, 10}}, {.color = series_color(1), .width = 2, .dash = Dash::dashed}});
  drawing.add(Area{{{10, 90}, {50, 60}, {90, 90}}, Color::plateau(), 0.5});
  drawing.add(Box{120, 60, 30, 20, heat_color(0.7)});
  for (const Shape shape : {Shape::circle, Shape::square, Shape::triangle, Shape::diamond})
    drawing.add(Marker{{170, 80}, shape, 8, Color::moment()});
  drawing.add(Picture{5, 5, 10, 10, {.width = 1, .height = 1, .rgb = {1, 2, 3}}});
  drawing.add(Text{.at = {20, 50}, .text = name, .upwards = true});
  drawing.add(GroupEnd{});
  drawing.frames.push_back({.left = 1, .top = 2, .width = 3, .height = 4});
  return drawing;
}

TEST(SvgPainter, IsXmlWhateverTheNamesAre) {
  for (const std::string& name : {std::string("plain"), kEvilName, std::string("κ ≥ 1")}) {
    const MarkupCheck file(svg_file(everything(name)));
    EXPECT_EQ(file.problem(), "");
    EXPECT_THAT(file.tags(), testing::IsSupersetOf({"svg", "title", "g", "path", "rect", "circle", "image", "text"}));
    EXPECT_THAT(file.tags(), Not(testing::Contains("script")));
    EXPECT_EQ(MarkupCheck(svg_element(everything(name), name)).problem(), "");
  }
}

TEST(SvgPainter, HasItsOwnColorsAsAFileAndThoseOfThePageInAPage) {
  EXPECT_THAT(svg_file(everything("a")), HasSubstr("stroke=\"#d55e00\""));
  EXPECT_THAT(svg_file(everything("a")), Not(HasSubstr("var(")));
  EXPECT_THAT(svg_element(everything("a"), "x"), HasSubstr("stroke=\"var(--series-1)\""));
}

TEST(SvgPainter, SaysHowWideATextWasMeasuredSoThatAnotherFontIsNotCutOff) {
  Drawing drawing{.width = 300, .height = 10};
  drawing.add(Text{.at = {1, 1}, .text = "norm_softmax-with-a-long-name"});
  drawing.add(Text{.at = {1, 1}, .text = "100"});
  drawing.add(Text{.at = {1, 1}, .text = "注意力机制注意力机制"});  // letters that were not measured
  const std::string file = svg_file(drawing);
  EXPECT_THAT(file, HasSubstr("textLength"));
  EXPECT_EQ(file.find("textLength"), file.rfind("textLength"));
}

TEST(SvgPainter, PartsADrawingBetweenItsRows) {
  Drawing drawing{.width = 100, .height = 500};
  drawing.breaks = {100, 200, 300, 400};
  const std::string sheets = svg_sheets(drawing, "a", 250);
  for (const char* part : {"viewBox=\"0 0 100 200\"", "viewBox=\"0 200 100 200\"", "viewBox=\"0 400 100 100\""})
    EXPECT_THAT(sheets, testing::HasSubstr(part));
  // A row that is taller than a sheet stays whole.
  EXPECT_THAT(svg_sheets(drawing, "a", 50), testing::HasSubstr("viewBox=\"0 300 100 100\""));
}

TEST(SvgPainter, DrawsFromPointToPoint) {
  Drawing drawing{.width = 10, .height = 10};
  drawing.add(Polyline{{{1, 1}, {3, 1}, {3, 4}, {5.5, 2.04}}, {.color = Color::ink()}});
  EXPECT_THAT(svg_file(drawing), HasSubstr("d=\"M1 1h2v3l2.5 -2\""));
}

TEST(PngPainter, CoversWhatLiesInsideAndSmoothsTheEdge) {
  Drawing drawing{.width = 4, .height = 4};
  drawing.add(Box{1, 1, 2, 1.5, Color::own({0, 0, 0})});
  const RgbImage image = rastered(drawing, 1);
  ASSERT_EQ(image.width, 4);
  const auto at = [&](int x, int y) { return static_cast<int>(image.rgb[static_cast<std::size_t>((y * 4 + x) * 3)]); };
  EXPECT_EQ(at(0, 0), 255);
  EXPECT_EQ(at(1, 1), 0);
  EXPECT_NEAR(at(1, 2), 128, 1);
  EXPECT_EQ(at(3, 1), 255);
}

TEST(PngPainter, PaintsAPaleLineOnceWhereItsPiecesOverlap) {
  Drawing drawing{.width = 20, .height = 10};
  drawing.add(Polyline{{{2, 5}, {10, 5}, {18, 5}}, {.color = Color::own({0, 0, 0}), .width = 4, .opacity = 0.5}});
  const RgbImage image = rastered(drawing, 1);
  for (int x = 3; x < 17; ++x) EXPECT_NEAR(image.rgb[static_cast<std::size_t>((5 * 20 + x) * 3)], 128, 2) << x;
}

TEST(PngPainter, WritesLettersWhereTheyBelong) {
  Drawing drawing{.width = 60, .height = 20};
  drawing.add(Text{.at = {5, 15}, .text = "Hello"});
  const RgbImage image = rastered(drawing, 2);
  std::size_t dark = 0, outside = 0;
  for (int y = 0; y < image.height; ++y)
    for (int x = 0; x < image.width; ++x) {
      const bool is_dark = image.rgb[static_cast<std::size_t>((y * image.width + x) * 3)] < 128;
      dark += is_dark ? 1 : 0;
      if (is_dark && (x < 10 || x > 2 * (5 + text_width("Hello", 12)) || y > 32)) ++outside;
    }
  EXPECT_GT(dark, 80U);
  EXPECT_EQ(outside, 0U);
}

TEST(PngPainter, DrawsNothingOutsideWhateverIsAskedFor) {
  Drawing drawing{.width = 5, .height = 5};
  drawing.add(Polyline{{{-100, -100}, {1000, 1000}}, {.color = Color::ink(), .width = 3}});
  drawing.add(Picture{-3, -3, 20, 20, {.width = 1, .height = 1, .rgb = {9, 9, 9}}});
  drawing.add(Text{.at = {-50, 300}, .text = kEvilName});
  EXPECT_EQ(rastered(drawing, 1).rgb.size(), 75U);
}

TEST(PdfPainter, HasATableThatPointsAtItsObjects) {
  for (const std::string& name : {std::string("a (b) \\ c"), std::string("κ ≥ 1"), kEvilName}) {
    const std::string file = pdf_file(everything(name));
    EXPECT_TRUE(file.starts_with("%PDF-1.4"));
    EXPECT_TRUE(file.ends_with("%%EOF\n"));
    const std::size_t table = file.rfind("xref\n0 ", file.rfind("startxref"));
    ASSERT_NE(table, std::string::npos);
    EXPECT_THAT(file, HasSubstr(fmt::format("startxref\n{}\n", table)));
    const int objects = std::stoi(file.substr(table + 7));
    EXPECT_EQ(objects, 7);
    for (int i = 1; i < objects; ++i) {
      const std::size_t place =
          std::stoul(file.substr(file.find('\n', table + 5) + 1 + static_cast<std::size_t>(i) * 20, 10));
      EXPECT_EQ(file.substr(place, 7), fmt::format("{} 0 obj", i));
    }
  }
}

TEST(Letters, AreAsWideAsHelvetica) {
  EXPECT_NEAR(text_width("A", 1000), 667, 1);
  EXPECT_NEAR(text_width("speed-up 1.5", 1000), 5837, 2);
  EXPECT_GT(letter('B').contours.size(), 2U);
  EXPECT_EQ(letter(0x4E2D).advance, letter(0xFFFD).advance);
}

TEST(Letters, AreCutAndWrappedToTheirRoom) {
  EXPECT_EQ(fitted("short", 12, 100), "short");
  const std::string cut = fitted("a name that is much too long", 12, 60);
  EXPECT_LE(text_width(cut, 12), 60);
  EXPECT_TRUE(cut.ends_with("…"));
  for (const std::string& line : wrapped_lines("many words in a title that goes on and on", 12, 80))
    EXPECT_LE(text_width(line, 12), 80);
}

TEST(Markup, EscapesWhatWouldEndATextOrAnAttribute) {
  EXPECT_EQ(escaped("a<b & \"c\" 'd'"), "a&lt;b &amp; &quot;c&quot; &#39;d&#39;");
  EXPECT_EQ(escaped("\x1b"), "\\u001b");
  EXPECT_EQ(data_link("text/csv", "a,b\n\"<&%#\xc3\xbc"), "data:text/csv;charset=utf-8,a,b%0A%22%3C%26%25%23%C3%BC");
  EXPECT_EQ(base64("Man"), "TWFu");
  EXPECT_EQ(base64("Ma"), "TWE=");
  EXPECT_EQ(base64("M"), "TQ==");
}

}  // namespace
}  // namespace eureka::figure
