#include "io/json.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace eureka {
namespace {

TEST(Json, ListsOfPairsThatBeginWithTextAreObjectsInTheirOrder) {
  const Json json = {
      {"z", 1}, {"a", {0.5, 2}}, {"empty", Json::array()}, {"none", nullptr}, {"inner", {{"yes", true}}}};
  EXPECT_EQ(json.dump(), R"({"z":1,"a":[0.5,2],"empty":[],"none":null,"inner":{"yes":true}})");
  EXPECT_EQ((Json{1.5, "text"}).dump(), R"([1.5,"text"])");
  EXPECT_EQ(Json(std::vector<std::string>{"a", "b"}).dump(1), "[\n \"a\",\n \"b\"\n]");
}

TEST(Json, NestedTooDeeplyIsRefusedAndDoesNotEndTheProcess) {
  const std::string deep(100'000, '[');
  EXPECT_THROW(Json::parse(deep + std::string(deep.size(), ']')), JsonError);
  EXPECT_FALSE(Json::parse_if_valid(deep + std::string(deep.size(), ']')));
}

TEST(Json, IsTheSameAfterWritingAndReading) {
  const std::string text =
      R"({"least":-9223372036854775808,"most":18446744073709551615,"small":5e-324,"third":0.3333333333333333,"text":"ä\"\n"})";
  const Json json = Json::parse(text);
  EXPECT_EQ(json.dump(), text);
  EXPECT_EQ(json.at("least").get<std::int64_t>(), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(json.at("most").get<std::uint64_t>(), std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(json.at("third").get<double>(), 1.0 / 3);
  EXPECT_EQ(Json(std::nan("")).dump(), "null");
  EXPECT_EQ(Json(1e300 * 1e10).dump(), "null");
}

TEST(Json, GrowsByKeyAndByElement) {
  Json json;
  json["a"]["b"] = 1;
  json["list"].push_back("x");
  json["list"].push_back({{"y", 2}});
  json["list"].back()["y"] = 3;
  json.update({{"a", 0}, {"c", false}});
  EXPECT_EQ(json.dump(), R"({"a":0,"list":["x",{"y":3}],"c":false})");
  json.erase("list");
  EXPECT_EQ(json.size(), 2U);
  EXPECT_FALSE(json.contains("list"));
}

TEST(Json, NumbersAreEqualByValue) {
  EXPECT_EQ(Json(1), Json(1.0));
  EXPECT_EQ(Json(1U), Json(1));
  EXPECT_NE(Json(-1), Json(std::numeric_limits<std::uint64_t>::max()));
  EXPECT_NE(Json(1), Json("1"));
  EXPECT_NE(Json(1), Json(true));
  EXPECT_EQ(Json::parse("[1, {\"a\": 2}]"), (Json{1.0, {{"a", 2U}}}));
}

TEST(Json, RefusesWhatItIsNot) {
  EXPECT_THROW(Json::parse("{\"a\": "), JsonError);
  EXPECT_FALSE(Json::parse_if_valid("{]").has_value());
  const Json json = {{"text", "x"}, {"number", 1}};
  EXPECT_THROW(json.at("other"), JsonError);
  EXPECT_THROW(json.at("text").get<double>(), JsonError);
  EXPECT_THROW(json.at("number").get<std::string>(), JsonError);
  EXPECT_THROW(json.at("number").get<bool>(), JsonError);
  EXPECT_THROW(json.at(0), JsonError);
  EXPECT_THROW(Json(1e300).get<std::int64_t>(), JsonError);
  EXPECT_THROW(Json(-1e300).get<std::uint64_t>(), JsonError);
  EXPECT_EQ(Json(1e15).get<std::int64_t>(), 1'000'000'000'000'000);
  EXPECT_THROW(Json("\xff").dump(), JsonError);
  EXPECT_EQ(Json("\xff").dump(-1, Json::BadText::replace), "\"\xEF\xBF\xBD\"");
}

}  // namespace
}  // namespace eureka
