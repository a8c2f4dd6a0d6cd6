#include "io/sha512.h"

#include <gtest/gtest.h>

namespace eureka {
namespace {

// FIPS 180-4's own example.
TEST(Sha512, MatchesThePublishedExample) {
  EXPECT_EQ(sha512_hex("abc"),
            "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a"
            "2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f");
}

// Worked out by Python's hashlib: lengths around those where the padding needs another block.
TEST(Sha512, PadsEveryLengthRightly) {
  EXPECT_EQ(sha512_hex("").substr(0, 32), "cf83e1357eefb8bdf1542850d66d8007");
  EXPECT_EQ(sha512_hex(std::string(111, 'a')).substr(0, 32), "fa9121c7b32b9e01733d034cfc78cbf6");
  EXPECT_EQ(sha512_hex(std::string(112, 'a')).substr(0, 32), "c01d080efd492776a1c43bd23dd99d0a");
  EXPECT_EQ(sha512_hex(std::string(128, 'a')).substr(0, 32), "b73d1929aa615934e61a871596b3f3b3");
  EXPECT_EQ(sha512_hex(std::string(200, 'a')).substr(0, 32), "4b11459c33f52a22ee8236782714c150");
}

}  // namespace
}  // namespace eureka
