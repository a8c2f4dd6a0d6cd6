// What values tell of how they were written, and that a step of the writing is no rise.
#include "stats/value_grain.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

#include "stats/detector.h"

namespace eureka {
namespace {

TEST(Rounding, TellsOneUnitInTheLastPlaceOfFixedDecimals) {
  const Rounding rounding(std::vector<double>{12.345, 0.12, 3.001, 0});
  EXPECT_DOUBLE_EQ(rounding.unit_at(12.345), 0.001);
  EXPECT_DOUBLE_EQ(rounding.unit_at(0.5), 0.001);
  EXPECT_DOUBLE_EQ(rounding.unit_at(0), 0.001);
}

TEST(Rounding, TellsItOfFixedDigits) {
  const Rounding rounding(std::vector<double>{1.399, 0.02441, -123.4});
  EXPECT_DOUBLE_EQ(rounding.unit_at(1.398), 0.001);
  EXPECT_DOUBLE_EQ(rounding.unit_at(0.025), 0.00001);
  EXPECT_DOUBLE_EQ(rounding.unit_at(-200), 0.1);
  EXPECT_DOUBLE_EQ(rounding.unit_at(0), 0.00001);
}

TEST(Rounding, LeavesValuesAsTheyAreAndCountsAlone) {
  EXPECT_EQ(Rounding().unit_at(1), 0);
  EXPECT_EQ(Rounding(std::vector<double>{0.0, 0.0}).unit_at(1), 0);
  EXPECT_EQ(Rounding(std::vector<double>{std::sqrt(2.0), 1.0 / 3, 0.5}).unit_at(1), 0);
  EXPECT_EQ(Rounding(std::vector<double>{0, 1, 0, 1}).unit_at(1), 0);   // right or wrong
  EXPECT_EQ(Rounding(std::vector<double>{0.1, 0.5, 1}).unit_at(1), 0);  // ten samples
}

// The same slow fall, written with more and with fewer digits.
std::vector<CurvePoint> slow_fall(int decimals, std::size_t evaluations) {
  std::vector<CurvePoint> curve;
  for (std::size_t i = 0; i < evaluations; ++i) {
    const double way = static_cast<double>(i) / static_cast<double>(evaluations - 1);
    const std::string text = fmt::format("{:.{}f}", 1.3994 - 0.0024 * way, decimals);
    curve.push_back({100.0 * static_cast<double>(i), std::strtod(text.c_str(), nullptr)});
  }
  return curve;
}

TEST(DetectorOfRoundedValues, StepsOfOneUnitInTheLastPlaceAreNoMoment) {
  for (const std::size_t evaluations : {12U, 30U, 67U}) {
    for (const int decimals : {2, 3, 4, 6}) {
      const Findings found = detect(slow_fall(decimals, evaluations), {.direction = Direction::down});
      EXPECT_TRUE(found.moments.empty()) << evaluations << " " << decimals;
      EXPECT_FALSE(found.under_way) << evaluations << " " << decimals;
    }
  }
  // What steps so clearly by ten units is one.
  std::vector<CurvePoint> step;
  for (int i = 0; i < 30; ++i) step.push_back({100.0 * i, i < 15 ? 1.399 : 1.389});
  EXPECT_EQ(detect(step, {.direction = Direction::down}).moments.size(), 1U);
}

}  // namespace
}  // namespace eureka
