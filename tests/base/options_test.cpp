#include "base/options.h"

#include <gtest/gtest.h>

#include <limits>

namespace eureka {
namespace {

enum class Color { red, dark_blue };
constexpr auto enum_names(Color) { return std::array{"red", "dark-blue"}; }

struct Inner {
  double size = 0.5;
  template <class V>
  void visit(V& v) {
    v("size", size, Range{0, 1}, "inner size");
  }
};

struct Outer {
  int count = 3;
  bool on = false;
  std::string name = "x";
  Color color = Color::dark_blue;
  Inner inner;
  template <class V>
  void visit(V& v) {
    v("count", count, at_least(1), "how many");
    v("on", on, "a switch");
    v("name", name, "a name");
    v("color", color, "a color");
    v.table("inner", inner);
  }
};

TEST(Options, DescribeNamesEveryOptionOnce) {
  const OptionList list = describe<Outer>();
  EXPECT_EQ(option_names(list), (std::vector<std::string>{"count", "on", "name", "color", "inner.size"}));
  EXPECT_EQ(std::get<std::string>(list[3].default_value), "dark-blue");
  EXPECT_EQ(list[3].choices, (std::vector<std::string>{"red", "dark-blue"}));
}

TEST(Options, AssignFillsTheStruct) {
  Outer options;
  assign(options, {{"count", std::int64_t{7}},
                   {"on", true},
                   {"name", std::string("y")},
                   {"color", std::string("red")},
                   {"inner.size", 0.25}});
  EXPECT_EQ(options.count, 7);
  EXPECT_TRUE(options.on);
  EXPECT_EQ(options.name, "y");
  EXPECT_EQ(options.color, Color::red);
  EXPECT_EQ(options.inner.size, 0.25);
}

std::string refusal(const OptionInfo& info, const OptionValue& value) {
  try {
    check_option(info, value, "s." + info.name, "file.toml:1:1");
  } catch (const Error& error) {
    EXPECT_EQ(error.exit_code(), 2);
    return error.message();
  }
  return "accepted";
}

TEST(Options, CheckRefusesWrongTypesRangesAndChoices) {
  const OptionList list = describe<Outer>();
  EXPECT_EQ(refusal(list[0], std::int64_t{0}),
            "file.toml:1:1: 's.count' must be at least 1, not 0\n  s.count: how many");
  EXPECT_NE(refusal(list[0], 2.5), "accepted");
  EXPECT_NE(refusal(list[0], std::string("many")), "accepted");
  EXPECT_NE(refusal(list[1], std::int64_t{1}), "accepted");
  EXPECT_NE(refusal(list[4], 1.5), "accepted");
  EXPECT_NE(refusal(list[4], std::numeric_limits<double>::quiet_NaN()), "accepted");
  EXPECT_EQ(refusal(list[3], std::string("reed")),
            "file.toml:1:1: 's.color' must be one of red, dark-blue, not \"reed\"\n  did you mean 'red'?");
}

TEST(Options, AnIntegerServesAsANumber) {
  const OptionList list = describe<Outer>();
  EXPECT_EQ(std::get<double>(check_option(list[4], std::int64_t{1}, "inner.size", "")), 1.0);
}

TEST(Options, NumbersKeepEveryBitInToml) {
  EXPECT_EQ(to_toml(OptionValue(0.1)), "0.1");
  EXPECT_EQ(to_toml(OptionValue(3.0)), "3.0");
  EXPECT_EQ(to_toml(OptionValue(1e-8)), "1e-08");
  EXPECT_EQ(to_toml(OptionValue(std::string("a\"b"))), R"("a\"b")");
}

}  // namespace
}  // namespace eureka
