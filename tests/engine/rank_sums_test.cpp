#include "engine/rank_sums.h"

#include <gtest/gtest.h>

namespace eureka {
namespace {

bool says(const std::string& text, const char* words) { return text.find(words) != std::string::npos; }

TEST(Ranks, AdviceNamesWhatIsThereAndWhatToInstallForMore) {
  for (const bool device : {false, true}) {
    const RankSumsAdvice both = advice_on({.gloo = true, .nccl = true}, device);
    EXPECT_TRUE(says(both.text, "Gloo") && says(both.text, "NCCL")) << both.text;
    EXPECT_EQ(both.advice, "");
    const RankSumsAdvice neither = advice_on({}, device);
    EXPECT_TRUE(says(neither.text, "has one")) << neither.text;
    EXPECT_TRUE(says(neither.advice, device ? "nccl.h" : "libgloo-dev")) << neither.advice;
    const RankSumsAdvice nccl = advice_on({.nccl = true}, device);
    EXPECT_EQ(says(nccl.text, "may have several"), device) << nccl.text;
    EXPECT_TRUE(says(nccl.advice, "libgloo-dev")) << nccl.advice;
  }
  EXPECT_EQ(advice_on({.gloo = true}, false).advice, "") << "nothing is missing where there is no CUDA device";
  EXPECT_TRUE(says(advice_on({.gloo = true}, true).text, "by way of the CPU"));
  EXPECT_TRUE(says(advice_on({.gloo = true}, true).advice, "nccl.h"));
}

}  // namespace
}  // namespace eureka
