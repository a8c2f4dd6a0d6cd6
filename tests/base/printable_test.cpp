#include "base/printable.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace eureka {
namespace {

TEST(Printable, LeavesValidTextAsItIs) {
  for (const std::string text : {"plain", "Übung, größe", "⢀⡤⠖⠒⠚⠉ ┤ ┊ ▲", "日本 e\u0301 \U0001F600", "a\\u001bb", ""})
    EXPECT_EQ(printable(text), text);
}

TEST(Printable, EscapesWhatATerminalWouldObey) {
  EXPECT_EQ(printable("a\x1b[2Jb"), "a\\u001b[2Jb");
  EXPECT_EQ(printable(std::string("a\0b", 3)), "a\\u0000b");
  EXPECT_EQ(printable("a\rb\nc\td"), "a\\rb\\nc\\td");
  EXPECT_EQ(printable("a\x7f"), "a\\u007f");
  EXPECT_EQ(printable("\u009b31m"), "\\u009b31m") << "the one-character form of ESC [";
  EXPECT_EQ(printable("\u202eevil\u2066\u2069\u200f\u061c"), "\\u202eevil\\u2066\\u2069\\u200f\\u061c");
  EXPECT_EQ(printable("a\u2028b"), "a\\u2028b");
}

TEST(Printable, EscapesBytesThatAreNotUtf8) {
  EXPECT_EQ(printable("\xff"), "\\xff");
  EXPECT_EQ(printable("\xc3"), "\\xc3") << "cut";
  EXPECT_EQ(printable("\xc0\xaf"), "\\xc0\\xaf") << "a longer form than needed";
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80") << "half of a surrogate pair";
  EXPECT_EQ(printable("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80") << "past the last code point";
  EXPECT_EQ(printable("\x9b\x1b"), "\\x9b\\u001b");
  EXPECT_EQ(printable("\xe2\x94x"), "\\xe2\\x94x");
}

TEST(Printable, KeepsLineEndsWhereLinesAreMeant) {
  EXPECT_EQ(printable_lines("{\n  \"a\x7f\": 1\n}\r\n"), "{\n  \"a\\u007f\": 1\n}\\r\n");
}

TEST(Printable, KnowsWhatNeedsNoEscape) {
  EXPECT_TRUE(is_printable("größe ⣿"));
  for (const char* text : {"\x7f", "\n", "\x1b", "\u202e", "\xff"}) EXPECT_FALSE(is_printable(text));
  EXPECT_TRUE(is_utf8("\x1b\u202e"));
  EXPECT_FALSE(is_utf8("\xff"));
}

TEST(Printable, ErrorsAreOneLineForEachPart) {
  const Error error(ErrorKind::input, "no column '\x1b[31m'", "a\nb.csv", "columns: \u202ex");
  EXPECT_EQ(error.message(), "a\\nb.csv: no column '\\u001b[31m'\n  columns: \\u202ex");
}

}  // namespace
}  // namespace eureka
