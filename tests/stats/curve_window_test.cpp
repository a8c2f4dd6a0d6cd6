#include "stats/curve_window.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace eureka {
namespace {

TEST(CurveWindow, KeepsEveryPointUntilItIsFull) {
  CurveWindow window(8);
  for (int i = 0; i < 7; ++i) window.add(i, 10 * i);
  const auto points = window.points();
  ASSERT_EQ(points.size(), 7U);
  EXPECT_EQ(points[6].step, 6);
  EXPECT_EQ(points[6].value, 60);
  EXPECT_EQ(window.stride(), 1U);
}

TEST(CurveWindow, HoldsTheMeansOfNeighborsOverTheWholeCurve) {
  CurveWindow window(8);
  for (int i = 0; i < 1000; ++i) window.add(i, 2 * i + 1);
  const auto points = window.points();
  const double stride = static_cast<double>(window.stride());
  EXPECT_EQ(stride, 128);
  ASSERT_EQ(points.size(), 8U);
  for (std::size_t k = 0; k + 1 < points.size(); ++k) {
    EXPECT_NEAR(points[k].step, stride * static_cast<double>(k) + (stride - 1) / 2, 1e-9);
    EXPECT_NEAR(points[k].value, 2 * points[k].step + 1, 1e-9);
  }
  EXPECT_NEAR(points.back().step, (896 + 999) / 2.0, 1e-9);  // not full yet, but more than half
}

TEST(CurveWindow, NeverExceedsItsCapacity) {
  CurveWindow window(16);
  for (int i = 0; i < 5000; ++i) {
    window.add(i, i);
    ASSERT_LE(window.points().size(), 16U);
  }
}

TEST(CurveWindow, RefusesACapacityItCannotHalve) { EXPECT_THROW(CurveWindow(7), InternalError); }

}  // namespace
}  // namespace eureka
