// Validation accuracies of image-lab runs, every 100 steps: networks that mistake garments rest below the task's 0.55.
#include <gtest/gtest.h>

#include <vector>

#include "stats/detector.h"

namespace eureka {
namespace {

const std::vector<double> kEarly = {
    0.102, 0.258, 0.415, 0.437, 0.452, 0.457, 0.457, 0.439, 0.465, 0.465, 0.469, 0.505, 0.576, 0.679, 0.721, 0.755,
    0.766, 0.747, 0.767, 0.765, 0.788, 0.798, 0.8,   0.788, 0.804, 0.824, 0.807, 0.816, 0.813, 0.824, 0.816, 0.827,
    0.831, 0.827, 0.818, 0.825, 0.845, 0.837, 0.832, 0.826, 0.829, 0.825, 0.84,  0.838, 0.842, 0.848, 0.834, 0.837,
    0.821, 0.844, 0.843, 0.836, 0.816, 0.845, 0.837, 0.817, 0.845, 0.834, 0.836, 0.847, 0.839};
const std::vector<double> kEarlyWithNormSoftmax = {
    0.093, 0.295, 0.41,  0.407, 0.446, 0.442, 0.445, 0.464, 0.459, 0.464, 0.456, 0.472, 0.504, 0.604, 0.669, 0.695,
    0.736, 0.731, 0.764, 0.761, 0.762, 0.774, 0.769, 0.786, 0.795, 0.774, 0.783, 0.793, 0.801, 0.797, 0.813, 0.793,
    0.803, 0.809, 0.816, 0.809, 0.805, 0.823, 0.814, 0.805, 0.812, 0.814, 0.81,  0.821, 0.812, 0.8,   0.814, 0.83,
    0.808, 0.813, 0.818, 0.817, 0.822, 0.822, 0.814, 0.833, 0.815, 0.832, 0.827, 0.817, 0.819};
const std::vector<double> kLate = {0.093, 0.262, 0.398, 0.399, 0.421, 0.421, 0.45,  0.462, 0.462, 0.449, 0.462, 0.464,
                                   0.481, 0.474, 0.489, 0.461, 0.484, 0.466, 0.479, 0.498, 0.464, 0.47,  0.469, 0.468,
                                   0.488, 0.491, 0.475, 0.484, 0.504, 0.494, 0.489, 0.462, 0.483, 0.471, 0.454, 0.476,
                                   0.485, 0.483, 0.461, 0.482, 0.474, 0.548, 0.712, 0.707, 0.768, 0.763, 0.78,  0.787,
                                   0.795, 0.782, 0.793, 0.81,  0.806, 0.813, 0.797, 0.804};
const std::vector<double> kStuck = {
    0.097, 0.249, 0.413, 0.434, 0.461, 0.449, 0.466, 0.491, 0.467, 0.476, 0.477, 0.492, 0.498, 0.479, 0.491, 0.495,
    0.499, 0.517, 0.497, 0.497, 0.493, 0.513, 0.529, 0.521, 0.496, 0.504, 0.515, 0.497, 0.482, 0.515, 0.498, 0.486,
    0.507, 0.504, 0.515, 0.51,  0.51,  0.513, 0.515, 0.504, 0.526, 0.536, 0.508, 0.503, 0.509, 0.511, 0.507, 0.502,
    0.504, 0.504, 0.5,   0.494, 0.508, 0.514, 0.498, 0.508, 0.506, 0.503, 0.513, 0.522, 0.531};

std::vector<Moment> moments_of(const std::vector<double>& accuracies, std::optional<double> floor) {
  std::vector<CurvePoint> curve;
  for (std::size_t i = 0; i < accuracies.size(); ++i) curve.push_back({100.0 * static_cast<double>(i), accuracies[i]});
  return detect(curve, {.plateau_level = 0.55, .plateau_floor = floor, .budget = 6000}).moments;
}

TEST(DetectorOnImages, FindsMomentsOfNetworksThatMistakeGarments) {
  const auto expect_at = [](const std::vector<double>& accuracies, double step) {
    const std::vector<Moment> found = moments_of(accuracies, 0.385);
    ASSERT_EQ(found.size(), 1U);
    EXPECT_NEAR(found[0].step, step, 75);
    EXPECT_LT(found[0].from, 0.5);
    EXPECT_GT(found[0].to, 0.68);
  };
  expect_at(kEarly, 1230);
  expect_at(kEarlyWithNormSoftmax, 1310);
  expect_at(kLate, 4150);
}

TEST(DetectorOnImages, WithoutTheFloorThePlateauIsTooLowToBeTheKnownOne) {
  EXPECT_TRUE(moments_of(kEarly, std::nullopt).empty());
  EXPECT_TRUE(moments_of(kEarlyWithNormSoftmax, std::nullopt).empty());
}

TEST(DetectorOnImages, AStuckRunHasNoneAndTheRiseToThePlateauIsNone) {
  EXPECT_TRUE(moments_of(kStuck, 0.385).empty());
  const std::vector<double> beginning(kEarly.begin(), kEarly.begin() + 11);
  EXPECT_TRUE(moments_of(beginning, 0.385).empty());
}

}  // namespace
}  // namespace eureka
