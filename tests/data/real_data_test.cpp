// Are the fetched data what they should be? Simple classifiers reach what they are known to reach. Skipped without
// data.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "data/data_sets.h"

namespace eureka {
namespace {

class RealData : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (!fs::exists(data_set_path(GetParam()))) GTEST_SKIP() << "eureka data get " << GetParam();
    images_ = open_data_set(GetParam());
  }

  // Accuracy over up to `per_class` test images of each class.
  template <class Classify>
  double accuracy(std::uint32_t per_class, const Classify& classify) const {
    int right = 0, all = 0;
    for (int label = 0; label < 10; ++label)
      for (std::uint32_t i = 0; i < std::min(per_class, images_->facts().count(Split::test, label)); ++i, ++all)
        right += classify(images_->image(Split::test, label, i)) == label ? 1 : 0;
    return static_cast<double>(right) / all;
  }

  std::shared_ptr<const ImageSet> images_;
};

TEST_P(RealData, HasTheKnownSizes) {
  EXPECT_EQ(images_->facts().total(Split::train), 60'000U);
  EXPECT_EQ(images_->facts().total(Split::test), 10'000U);
  EXPECT_EQ(images_->facts().count(Split::train, 1), GetParam() == "mnist" ? 6742U : 6000U);
}

// Known: 0.82 on MNIST, 0.68 on Fashion-MNIST.
TEST_P(RealData, NearestClassMeanReachesItsUsualAccuracy) {
  std::vector<std::vector<float>> means(10, std::vector<float>(784));
  for (int label = 0; label < 10; ++label) {
    const std::uint32_t count = images_->facts().count(Split::train, label);
    for (std::uint32_t i = 0; i < count; ++i)
      for (std::size_t p = 0; p < 784; ++p)
        means[static_cast<std::size_t>(label)][p] +=
            static_cast<float>(images_->image(Split::train, label, i)[p]) / static_cast<float>(count);
  }
  const double reached = accuracy(2000, [&](const std::uint8_t* pixels) {
    int guess = -1;
    float best = std::numeric_limits<float>::infinity();
    for (int label = 0; label < 10; ++label) {
      float distance = 0;
      for (std::size_t p = 0; p < 784; ++p) {
        const float difference = static_cast<float>(pixels[p]) - means[static_cast<std::size_t>(label)][p];
        distance += difference * difference;
      }
      if (distance < best) best = distance, guess = label;
    }
    return guess;
  });
  EXPECT_NEAR(reached, GetParam() == "mnist" ? 0.82 : 0.68, 0.02);
}

// With 1,000 training images per class. The value for MNIST was worked out by a program of its own on the original
// files.
TEST_P(RealData, NearestNeighborReachesItsUsualAccuracy) {
  const double reached = accuracy(40, [&](const std::uint8_t* pixels) {
    int guess = -1;
    std::int32_t best = std::numeric_limits<std::int32_t>::max();
    for (int label = 0; label < 10; ++label)
      for (std::uint32_t i = 0; i < 1000; ++i) {
        const std::uint8_t* other = images_->image(Split::train, label, i);
        std::int32_t distance = 0;
        for (std::size_t p = 0; p < 784; ++p) distance += (pixels[p] - other[p]) * (pixels[p] - other[p]);
        if (distance < best) best = distance, guess = label;
      }
    return guess;
  });
  if (GetParam() == "mnist") {
    EXPECT_DOUBLE_EQ(reached, 0.915);
  } else {
    EXPECT_GT(reached, 0.77);
  }
}

INSTANTIATE_TEST_SUITE_P(Sets, RealData, testing::Values("mnist", "fashion-mnist"), [](const auto& parameter) {
  return parameter.param == "mnist" ? std::string("mnist") : std::string("fashion");
});

}  // namespace
}  // namespace eureka
