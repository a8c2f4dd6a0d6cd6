#include "base/suggest.h"

#include <gtest/gtest.h>

namespace eureka {
namespace {

TEST(EditDistance, CountsSlipsOfTheFingers) {
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3);  // Levenshtein's textbook pair
  EXPECT_EQ(edit_distance("train", "trian"), 1);     // swapped neighbors
  EXPECT_EQ(edit_distance("", "abc"), 3);
  EXPECT_EQ(edit_distance("same", "same"), 0);
}

TEST(DidYouMean, NamesTheNearestOrListsAll) {
  EXPECT_EQ(did_you_mean("trian", {"detect", "train", "list"}), "did you mean 'train'?");
  EXPECT_EQ(did_you_mean("zzzzz", {"detect", "train"}), "known: detect, train");
}

}  // namespace
}  // namespace eureka
