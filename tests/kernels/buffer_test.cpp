#include "kernels/buffer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace eureka {
namespace {

bool is_zero(const Buffer& buffer) {
  return std::all_of(buffer.data(), buffer.data() + buffer.size() + kPanel, [](float x) { return x == 0; });
}

TEST(Buffer, IsAlignedAndZeroWithRoomBehindItsEnd) {
  for (const std::size_t floats : {0, 1, 17, 1000, 300'000, 600'000, 2'000'000}) {
    const Buffer buffer(floats);
    EXPECT_EQ(buffer.size(), floats);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer.data()) % (kPanel * sizeof(float)), 0U);
    EXPECT_TRUE(is_zero(buffer)) << floats;
  }
}

// Small ones share pages: writing to one, or letting go of it, must not touch its neighbors.
TEST(Buffer, NeighborsDoNotTouch) {
  std::vector<Buffer> buffers;
  for (std::size_t i = 0; i < 400; ++i) buffers.emplace_back(1000 + 37 * i);
  for (std::size_t i = 0; i < buffers.size(); ++i)
    std::fill_n(buffers[i].data(), buffers[i].size(), static_cast<float>(i + 1));
  for (std::size_t i = 0; i < buffers.size(); i += 2) buffers[i] = Buffer();
  const Buffer fresh(5000);
  EXPECT_TRUE(is_zero(fresh));
  for (std::size_t i = 1; i < buffers.size(); i += 2)
    EXPECT_TRUE(std::all_of(buffers[i].data(), buffers[i].data() + buffers[i].size(), [&](float x) {
      return x == static_cast<float>(i + 1);
    })) << i;
}

}  // namespace
}  // namespace eureka
