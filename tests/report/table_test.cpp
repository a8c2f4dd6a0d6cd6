#include "report/table.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace eureka {
namespace {

TEST(TextTable, AlignsColumnsAndLeavesNoSpacesAtTheEnd) {
  TextTable table({{"rule", Align::left}, {"moments"}, {"note", Align::left}});
  table.add_row({"softmax", "8/10", "baseline"});
  table.add_row({"norm_softmax", "10/10"});
  EXPECT_EQ(table.str(),
            " rule           moments   note\n"
            " softmax           8/10   baseline\n"
            " norm_softmax     10/10\n");
}

TEST(TextTable, BoldHeaderChangesNothingElse) {
  TextTable table({{"a"}, {"b"}});
  table.add_row({"1", "22"});
  EXPECT_EQ(table.str(true), "\x1b[1m a    b\x1b[0m\n 1   22\n");
}

TEST(TextTable, CountsColumnsOfTheTerminalNotBytes) {
  TextTable table({{"name", Align::left}, {"x"}});
  table.add_row({"größe", "1"});
  table.add_row({"漢字", "2"});
  EXPECT_EQ(table.str(),
            " name    x\n"
            " größe   1\n"
            " 漢字    2\n");
}

TEST(TextTable, ShowsWhatATerminalWouldObeyInACell) {
  TextTable table({{"name", Align::left}, {"x"}});
  table.add_row({"\x1b[31mred", "\u202e\n"});
  EXPECT_EQ(table.str(),
            " name                   x\n"
            " \\u001b[31mred   \\u202e\\n\n");
}

TEST(TextTable, TooManyCellsAreABug) { EXPECT_THROW(TextTable({{"a"}}).add_row({"1", "2"}), InternalError); }

TEST(DisplayWidth, OfUsualAndOfBrokenText) {
  EXPECT_EQ(display_width(""), 0);
  EXPECT_EQ(display_width("plain"), 5);
  EXPECT_EQ(display_width("e\u0301"), 1) << "a letter and its accent";
  EXPECT_EQ(display_width("⣿━▲"), 3);
  EXPECT_EQ(display_width("日本"), 4);
  EXPECT_EQ(display_width("\x1b[1;35mx\x1b[0m"), 1);
  EXPECT_EQ(display_width("\xFF\xC3"), 2) << "no UTF-8";
  EXPECT_EQ(display_width("\xE2\x94"), 2) << "cut in the middle of a letter";
  EXPECT_EQ(display_width("\x1b["), 0);
}

}  // namespace
}  // namespace eureka
