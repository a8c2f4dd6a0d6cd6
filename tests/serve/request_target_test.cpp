// Addresses and ids: only what is plainly meant gets through.
#include "serve/request_target.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace eureka::serve {
namespace {

TEST(RequestTarget, HasAPathAndDecodedParameters) {
  const auto target = parse_request_target("/api/series?id=a%2Fb&column=val_loss&column=x+y&points=3&empty=&alone");
  ASSERT_TRUE(target);
  EXPECT_EQ(target->path, "/api/series");
  EXPECT_EQ(target->find("id"), "a/b");
  EXPECT_EQ(target->all("column"), (std::vector<std::string>{"val_loss", "x y"}));
  EXPECT_EQ(target->find("empty"), "");
  EXPECT_EQ(target->find("alone"), "");
  EXPECT_EQ(target->find("nothing"), std::nullopt);
}

TEST(RequestTarget, IsNothingWhenItIsNotPlain) {
  for (const char* bad : {"",         "api",      "*",           "http://x/", "/a/../b",  "/..",      "/a%2fb",
                          "/a b",     "/\xff",    "/a?x=%",      "/a?x=%4",   "/a?x=%zz", "/a?x=%00", "/a?x=%0a",
                          "/a?x=%7f", "/a?x=%ff", "/a?x=%c0%af", "/a?%01=x",  "/a\\b",    "/a;b",     "/a#b"})
    EXPECT_FALSE(parse_request_target(bad)) << bad;
  EXPECT_FALSE(parse_request_target("/?x=" + std::string(kMostTargetBytes, 'a')));
  std::string many = "/?";
  for (std::size_t i = 0; i <= kMostParameters; ++i) many += "a=b&";
  EXPECT_FALSE(parse_request_target(many));
  EXPECT_TRUE(parse_request_target(many.substr(0, many.size() - 4)));
}

TEST(RequestTarget, ReadsBackWhatWasEncoded) {
  RandomStream random(5, "targets");
  for (std::uint32_t round = 0; round < 200; ++round) {
    std::string text;
    for (std::uint32_t i = 0; i < round % 40; ++i) text += static_cast<char>(' ' + random.below(95));
    const auto target = parse_request_target("/?value=" + percent_encoded(text));
    ASSERT_TRUE(target) << text;
    EXPECT_EQ(target->find("value"), text);
  }
}

TEST(EntryId, IsPartsOfLettersDigitsAndAFewMarks) {
  for (const char* good : {".", "a", "a/b", "cures/softmax/seed-1", "train.lr=0.001,x/b@2", "+", "a..b", "-rf"})
    EXPECT_TRUE(is_entry_id(good)) << good;
  for (const char* bad : {"",   "/",    "/a",  "a/",   "a//b", "..", "../a", "a/..", "a/../b",   "a/./b",  "./a",
                          ".a", "a/.b", "a b", "a\\b", "a:b",  "~",  "a\n",  "%2e",  "\xc3\xbc", "a/\x01", "a*"})
    EXPECT_FALSE(is_entry_id(bad)) << bad;
  EXPECT_FALSE(is_entry_id(std::string("a\0b", 3)));
  EXPECT_TRUE(is_entry_id(std::string(200, 'a')));
  EXPECT_FALSE(is_entry_id(std::string(201, 'a')));
}

}  // namespace
}  // namespace eureka::serve
