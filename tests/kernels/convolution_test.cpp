// Patches of images, and the parts of batch normalization, against plain loops in double.
#include "kernels/convolution.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "base/random.h"
#include "kernels/batch_norm.h"
#include "kernels/instruction_set.h"

namespace eureka {
namespace {

std::vector<float> random_values(std::size_t count, const char* name) {
  std::vector<float> values(count);
  RandomStream(5, name).fill_normal(values);
  return values;
}

// The channel of a pixel, which may lie outside of the image.
double pixel_at(const PatchShape& shape, const std::vector<float>& images, std::size_t image, std::int64_t y,
                std::int64_t x, std::size_t channel) {
  if (y < 0 || x < 0 || y >= static_cast<std::int64_t>(shape.height) || x >= static_cast<std::int64_t>(shape.width))
    return 0;
  const std::size_t pixel = (image * shape.height + static_cast<std::size_t>(y)) * shape.width;
  return static_cast<double>(images[(pixel + static_cast<std::size_t>(x)) * shape.stride + channel]);
}

// action(row of the patch, column of the matrix, image, y, x, channel)
template <class Action>
void for_all(const PatchShape& shape, std::size_t images, const Action& action) {
  const auto reach = static_cast<std::int64_t>(shape.side / 2);
  for (std::size_t patch = 0; patch < images * shape.positions(); ++patch) {
    const std::size_t image = patch / shape.positions(), place = patch % shape.positions();
    for (std::size_t i = 0; i < shape.side * shape.side; ++i)
      for (std::size_t c = 0; c < shape.channels; ++c)
        action(patch, i * shape.channels + c, image,
               static_cast<std::int64_t>(place / shape.columns() * shape.step + i / shape.side) - reach,
               static_cast<std::int64_t>(place % shape.columns() * shape.step + i % shape.side) - reach, c);
  }
}

const std::vector<PatchShape>& shapes() {
  static const std::vector<PatchShape> all = {{5, 7, 3, 16, 3, 1}, {6, 5, 16, 16, 3, 2}, {9, 8, 21, 32, 7, 2},
                                              {4, 4, 8, 16, 1, 2}, {1, 1, 2, 16, 3, 1},  {2, 3, 130, 144, 3, 2}};
  return all;
}

class ForEverySet : public testing::Test {
 protected:
  template <class Check>
  static void on_every_set(const Check& check) {
    const std::string before = instruction_set();
    for (const std::string& name : instruction_sets()) {
      SCOPED_TRACE(name);
      choose_instruction_set(name);
      check();
    }
    choose_instruction_set(before);
  }
};
using Convolution = ForEverySet;
using BatchNorm = ForEverySet;

TEST_F(Convolution, PatchesAreWhatLiesAroundAPixel) {
  on_every_set([] {
    for (const PatchShape& shape : shapes()) {
      constexpr std::size_t kImages = 3;
      const std::vector<float> images = random_values(kImages * shape.height * shape.width * shape.stride, "images");
      const std::size_t stride = row_stride(shape.floats()), all = kImages * shape.positions();
      std::vector<float> rows(all * stride, 7), some(all * stride, 7);
      gather_patches(shape, images.data(), 0, all, {rows.data(), stride});
      for_all(shape, kImages, [&](auto patch, auto column, auto image, auto y, auto x, auto c) {
        ASSERT_EQ(static_cast<double>(rows[patch * stride + column]), pixel_at(shape, images, image, y, x, c));
      });
      for (std::size_t patch = 0; patch < all; ++patch)
        for (std::size_t i = shape.floats(); i < stride; ++i) ASSERT_EQ(rows[patch * stride + i], 7);
      // From the middle on, the same.
      const std::size_t first = all / 2;
      gather_patches(shape, images.data(), first, all - first, {some.data() + first * stride, stride});
      for (std::size_t i = first * stride; i < all * stride; ++i) ASSERT_EQ(some[i], rows[i]);
    }
  });
}

TEST_F(Convolution, PatchesGoBackToTheirPixels) {
  on_every_set([] {
    for (const PatchShape& shape : shapes()) {
      constexpr std::size_t kImages = 2;
      const std::size_t stride = row_stride(shape.floats()), all = kImages * shape.positions();
      const std::size_t floats = kImages * shape.height * shape.width * shape.stride;
      const std::vector<float> rows = random_values(all * stride, "rows");
      std::vector<float> images(floats);
      std::vector<double> expected(floats);
      add_patches(shape, {rows.data(), stride}, 0, all, images.data());
      for_all(shape, kImages, [&](auto patch, auto column, auto image, auto y, auto x, auto c) {
        if (y < 0 || x < 0 || y >= static_cast<std::int64_t>(shape.height) ||
            x >= static_cast<std::int64_t>(shape.width))
          return;
        const std::size_t pixel = (image * shape.height + static_cast<std::size_t>(y)) * shape.width;
        expected[(pixel + static_cast<std::size_t>(x)) * shape.stride + c] +=
            static_cast<double>(rows[patch * stride + column]);
      });
      for (std::size_t i = 0; i < floats; ++i) ASSERT_NEAR(images[i], expected[i], 1e-5);
    }
  });
}

TEST_F(Convolution, TheLargestOfAPatchGetsItsGradient) {
  on_every_set([] {
    for (const PatchShape& shape : shapes()) {
      constexpr std::size_t kImages = 2;
      const std::size_t floats = kImages * shape.height * shape.width * shape.stride;
      std::vector<float> images = random_values(floats, "images");
      // As behind a rectification, with many ties at zero.
      for (float& value : images) value = std::max(0.0F, value);
      std::vector<float> largest(kImages * shape.positions() * shape.stride);
      const std::vector<float> d = random_values(largest.size(), "gradient");
      std::vector<float> d_images(floats), expected(floats);
      largest_of_patches(shape, images.data(), kImages, largest.data());
      largest_of_patches_backward(shape, images.data(), kImages, d.data(), d_images.data());
      std::vector<double> best(largest.size(), -1);
      std::vector<std::size_t> where(largest.size());
      for_all(shape, kImages, [&](auto patch, auto, auto image, auto y, auto x, auto c) {
        if (y < 0 || x < 0 || y >= static_cast<std::int64_t>(shape.height) ||
            x >= static_cast<std::int64_t>(shape.width))
          return;
        const double value = pixel_at(shape, images, image, y, x, c);
        if (value <= best[patch * shape.stride + c]) return;
        best[patch * shape.stride + c] = value;
        where[patch * shape.stride + c] =
            ((image * shape.height + static_cast<std::size_t>(y)) * shape.width + static_cast<std::size_t>(x)) *
                shape.stride +
            c;
      });
      for (std::size_t patch = 0; patch < kImages * shape.positions(); ++patch)
        for (std::size_t c = 0; c < shape.channels; ++c) {
          const std::size_t at = patch * shape.stride + c;
          ASSERT_EQ(static_cast<double>(largest[at]), best[at]);
          expected[where[at]] += d[at];
        }
      EXPECT_EQ(d_images, expected);
    }
  });
}

constexpr RowsOfChannels kRows{37, 21, 32};

// A matrix with zeros behind its channels.
std::vector<float> matrix(const char* name) {
  std::vector<float> values = random_values(kRows.rows * kRows.stride, name);
  for (std::size_t i = 0; i < values.size(); ++i)
    if (i % kRows.stride >= kRows.channels) values[i] = 0;
  return values;
}

TEST_F(BatchNorm, SumsAreTheSameToTheLastBitOnEverySet) {
  const std::vector<float> x = matrix("x"), y = matrix("y");
  std::vector<double> sums(kRows.stride), squares(kRows.stride), d_sums(kRows.stride), products(kRows.stride);
  std::vector<float> masked = y;
  for (std::size_t row = 0; row < kRows.rows; ++row)
    for (std::size_t c = 0; c < kRows.stride; ++c) {
      const std::size_t i = row * kRows.stride + c;
      sums[c] += static_cast<double>(x[i]);
      squares[c] += static_cast<double>(x[i]) * static_cast<double>(x[i]);
      if (x[i] <= 0) masked[i] = 0;
      d_sums[c] += static_cast<double>(masked[i]);
      products[c] += static_cast<double>(masked[i]) * static_cast<double>(x[i]);
    }
  on_every_set([&] {
    std::vector<double> own(kRows.stride), own_squares(kRows.stride), d_own(kRows.stride), own_products(kRows.stride);
    add_moments(kRows, x.data(), own.data(), own_squares.data());
    EXPECT_EQ(own, sums);
    EXPECT_EQ(own_squares, squares);
    std::vector<float> gradient = y;
    add_gradient_moments(kRows, x.data(), gradient.data(), x.data(), d_own.data(), own_products.data());
    EXPECT_EQ(gradient, masked);
    EXPECT_EQ(d_own, d_sums);
    EXPECT_EQ(own_products, products);
  });
}

TEST_F(BatchNorm, RowsAreScaledShiftedAndRectified) {
  const std::vector<float> x = matrix("x"), residual = matrix("residual");
  std::vector<float> scale = random_values(kRows.stride, "scale"), shift = random_values(kRows.stride, "shift");
  for (const bool rectified : {false, true})
    for (const bool with_residual : {false, true})
      on_every_set([&] {
        std::vector<float> y(x.size());
        scale_and_shift(kRows, x.data(), scale.data(), shift.data(), with_residual ? residual.data() : nullptr,
                        rectified, y.data());
        for (std::size_t row = 0; row < kRows.rows; ++row)
          for (std::size_t c = 0; c < kRows.channels; ++c) {
            const std::size_t i = row * kRows.stride + c;
            double expected = static_cast<double>(x[i]) * static_cast<double>(scale[c]) + static_cast<double>(shift[c]);
            if (with_residual) expected += static_cast<double>(residual[i]);
            if (rectified) expected = std::max(0.0, expected);
            ASSERT_NEAR(y[i], expected, 1e-6);
          }
      });
}

// Divergence must not be rectified away.
TEST_F(BatchNorm, WhatIsNotANumberStays) {
  std::vector<float> x = matrix("x"), one(kRows.stride, 1), zero(kRows.stride, 0), y(x.size());
  x[3] = std::numeric_limits<float>::quiet_NaN();
  on_every_set([&] {
    scale_and_shift(kRows, x.data(), one.data(), zero.data(), nullptr, true, y.data());
    EXPECT_TRUE(std::isnan(y[3]));
    std::vector<float> largest(x.size());
    largest_of_patches({1, kRows.rows, kRows.channels, kRows.stride, 3, 2}, x.data(), 1, largest.data());
    EXPECT_TRUE(std::isnan(largest[3]));
  });
}

TEST_F(BatchNorm, TheGradientIsThatOfNormalizedRows) {
  const std::vector<float> x = matrix("x"), d = matrix("d");
  const std::vector<float> factor = random_values(kRows.stride, "factor"), offset = random_values(kRows.stride, "o"),
                           slope = random_values(kRows.stride, "slope"), mean = random_values(kRows.stride, "mean");
  on_every_set([&] {
    std::vector<float> dx(x.size());
    norm_gradient(kRows, {factor.data(), offset.data(), slope.data(), mean.data()}, d.data(), x.data(), dx.data());
    for (std::size_t row = 0; row < kRows.rows; ++row)
      for (std::size_t c = 0; c < kRows.channels; ++c) {
        const std::size_t i = row * kRows.stride + c;
        const auto number = [](float value) { return static_cast<double>(value); };
        ASSERT_NEAR(dx[i],
                    number(factor[c]) *
                        (number(d[i]) - number(offset[c]) - number(slope[c]) * (number(x[i]) - number(mean[c]))),
                    2e-5);
      }
  });
}

}  // namespace
}  // namespace eureka
