// The main of test programs whose results depend on the kernels: EUREKA_INSTRUCTIONS chooses a set, and a set that this
// processor has not is a test skipped (CTest's SKIP_RETURN_CODE), not one failed.
#include <gtest/gtest.h>

#include <cstdio>

#include "base/error.h"
#include "kernels/instruction_set.h"

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  try {
    eureka::choose_instruction_set_from_environment();
  } catch (const eureka::Error& absent) {
    std::printf("skipped: %s\n", absent.message().c_str());
    constexpr int kSkipped = 77;
    return kSkipped;
  }
  return RUN_ALL_TESTS();
}
