// Who may ask, and under which name.
#include "serve/guard.h"

#include <gtest/gtest.h>

namespace eureka::serve {
namespace {

TEST(LocalHost, IsAnAddressInDigitsOrLocalhost) {
  for (const char* good :
       {"localhost", "localhost:8384", "127.0.0.1", "127.0.0.1:1", "10.0.0.7:8384", "[::1]", "[::1]:80"})
    EXPECT_TRUE(is_local_host(good)) << good;
  for (const char* bad :
       {"", "evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "127.0.0.1:8384.evil.example",
        "evil:80", "127.1", "0x7f.0.0.1", "::1", "[::1", "[::1]x", "[localhost]", "localhost@evil", "LOCALHOST evil"})
    EXPECT_FALSE(is_local_host(bad)) << bad;
}

TEST(AToken, IsItselfAndNothingElse) {
  const Token token = Token::random(), other = Token::random();
  EXPECT_EQ(token.text().size(), 32U);
  EXPECT_NE(token.text(), other.text());
  EXPECT_TRUE(token.is(token.text()));
  EXPECT_FALSE(token.is(other.text()));
  EXPECT_FALSE(token.is(""));
  EXPECT_FALSE(token.is(token.text().substr(1)));
  EXPECT_FALSE(token.is(token.text() + "0"));
}

TEST(ACookie, IsFoundByItsWholeName) {
  EXPECT_EQ(cookie_value("a=1; eureka_80=x; b=2", "eureka_80"), "x");
  EXPECT_EQ(cookie_value("eureka_80=x", "eureka_80"), "x");
  EXPECT_EQ(cookie_value("my_eureka_80=x; eureka_8=y", "eureka_80"), "");
  EXPECT_EQ(cookie_value("", "eureka_80"), "");
}

}  // namespace
}  // namespace eureka::serve
