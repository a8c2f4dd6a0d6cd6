#include "base/median.h"

#include <gtest/gtest.h>

namespace eureka {
namespace {

TEST(Median, IsTheMiddleOrTheMeanOfTheTwoInTheMiddle) {
  EXPECT_EQ(median({7}), 7);
  EXPECT_EQ(median({9, 1, 4}), 4);
  EXPECT_EQ(median({8, 1, 4, 2}), 3);
  EXPECT_EQ(median({5, 5, 1, 5}), 5);
}

TEST(UpperMedian, IsAlwaysOneOfTheNumbers) {
  EXPECT_EQ(upper_median({7}), 7);
  EXPECT_EQ(upper_median({9, 1, 4}), 4);
  EXPECT_EQ(upper_median({8, 1, 4, 2}), 4);
}

}  // namespace
}  // namespace eureka
