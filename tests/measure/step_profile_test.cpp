// The profile counts interruptions where the marks say, and shares add up.
#include "measure/step_profile.h"

#include <gtest/gtest.h>

#include <chrono>
#include <map>

namespace eureka {
namespace {

void work_for(std::chrono::milliseconds time) {
  const auto end = std::chrono::steady_clock::now() + time;
  while (std::chrono::steady_clock::now() < end) {
  }
}

TEST(StepProfile, SharesFollowTheMarks) {
  StepProfile profile;
  profile.sample([] {
    InPart part(WorkPart::attention);
    work_for(std::chrono::milliseconds(150));
    part.next(WorkPart::loss);
    work_for(std::chrono::milliseconds(150));
  });
  double all = 0;
  std::map<std::string, double> shares;
  for (const auto& [part, share] : profile.shares()) all += shares[part] = share;
  EXPECT_EQ(shares.size(), kWorkParts);
  EXPECT_NEAR(all, 1, 1e-9);
  // Wide: a busy neighbour takes the processor away, and interruptions with it.
  EXPECT_GT(shares["attention"], 0.1);
  EXPECT_GT(shares["loss"], 0.1);
  EXPECT_EQ(shares["products"], 0);
  EXPECT_LT(shares["rest"], 0.1);
}

}  // namespace
}  // namespace eureka
