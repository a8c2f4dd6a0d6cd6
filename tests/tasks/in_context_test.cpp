// The tasks that are learned within a sequence, worked out again from the tokens alone.
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <map>
#include <set>

#include "support/drawn_tasks.h"

namespace eureka {
namespace {

// The points before place `i` of a sequence, four numbers a token, and the estimate they give of the value there.
double estimate(const float* row, int i, double penalty) {
  Eigen::MatrixXd x(i, 3);
  Eigen::VectorXd y(i), asked(3);
  for (int k = 0; k < 3; ++k) asked[k] = row[8 * i + k];
  for (int n = 0; n < i; ++n) {
    for (int k = 0; k < 3; ++k) x(n, k) = row[8 * n + k];
    y[n] = row[8 * n + 7];
  }
  if (i == 0) return 0;
  if (penalty == 0) return asked.dot(x.completeOrthogonalDecomposition().solve(y));
  return asked.dot((x.transpose() * x + penalty * Eigen::MatrixXd::Identity(3, 3)).ldlt().solve(x.transpose() * y));
}

// Against Eigen: least squares of least norm without noise, ridge with it.
TEST(InContextRegression, OracleIsLeastSquaresOrRidge) {
  for (const double noise : {0.0, 0.5}) {
    const auto task = make("in-context-regression", {{"noise", noise}});
    ASSERT_EQ(task->shape().tokens, 19);
    const Batch batch = draw(*task, 200);
    const std::vector<float> found = task->oracle_targets(batch);
    for (std::size_t first = 0; first < found.size(); first += 19)
      for (int i = 0; i < 10; ++i) {
        const double expected = estimate(batch.inputs.data() + first * 4, i, noise * noise);
        EXPECT_NEAR(found[first + 2 * static_cast<std::size_t>(i)], expected, 1e-4 * (1 + std::abs(expected)));
      }
  }
}

TEST(InContextRegression, TokensArePointsAndTheirValues) {
  const Batch batch = draw(*make("in-context-regression"), 50);
  for (std::size_t token = 0; token < batch.targets.size(); ++token) {
    const float* numbers = batch.inputs.data() + 4 * token;
    const bool point = token % 19 % 2 == 0;
    EXPECT_EQ(batch.asks(token), point);
    if (point) {
      EXPECT_EQ(numbers[3], 0);
    } else {
      EXPECT_EQ(numbers[0] * numbers[0] + numbers[1] * numbers[1] + numbers[2] * numbers[2], 0);
      EXPECT_EQ(numbers[3], batch.targets[token - 1]);
    }
  }
}

// Ridge with the right penalty beats least squares where there is noise, and both beat 0.
TEST(InContextRegression, LevelsStandInOrder) {
  const auto task = make("in-context-regression", {{"noise", 0.5}, {"points", whole(20)}});
  const Batch batch = draw(*task, 3000);
  double square = 0, ridge = 0, least_squares = 0;
  for (std::size_t first = 0; first < batch.targets.size(); first += 39)
    for (int i = 0; i < 20; ++i) {
      const double y = batch.targets[first + 2 * static_cast<std::size_t>(i)];
      const float* row = batch.inputs.data() + first * 4;
      square += y * y;
      ridge += std::pow(y - estimate(row, i, 0.25), 2);
      // Right after the third point least squares has no finite error.
      least_squares += i > 2 && i < 6 ? y * y : std::pow(y - estimate(row, i, 0), 2);
    }
  EXPECT_NEAR(1 - ridge / square, task->metric().best, 0.01);
  EXPECT_LT(ridge, least_squares);
  EXPECT_LT(least_squares, square);
}

// Tokens of the same class lie close together; those of label vectors are the same.
double distance(const Batch& batch, std::size_t a, std::size_t b) {
  double sum = 0;
  for (std::size_t i = 0; i < 63; ++i) sum += std::pow(batch.inputs[a * 63 + i] - batch.inputs[b * 63 + i], 2);
  return sum;
}

// How often items of the class that is asked for stand in the context, over some sequences.
std::map<int, int> matches(const Batch& batch) {
  std::map<int, int> counts;
  for (std::size_t first = 0; first < batch.labels.size(); first += 17) {
    int same = 0;
    for (std::size_t i = 0; i < 16; i += 2) same += distance(batch, first + i, first + 16) < 10 ? 1 : 0;
    ++counts[same];
  }
  return counts;
}

TEST(InContextClassification, BurstySequencesHoldTheClassBTimes) {
  for (const std::int64_t burstiness : {1, 2, 4, 8}) {
    const auto task = make("in-context-classification", {{"burstiness", whole(burstiness)}});
    EXPECT_EQ(matches(draw(*task, 300)), (std::map<int, int>{{static_cast<int>(burstiness), 300}}));
  }
  const auto free = make("in-context-classification", {{"bursty_share", 0.0}});
  EXPECT_GT(matches(draw(*free, 300))[0], 280);
}

TEST(InContextClassification, ProbesAskForTheOneOrTheOther) {
  const auto task = make("in-context-classification");
  EXPECT_EQ(matches(draw(*task, 300, "in-context")), (std::map<int, int>{{4, 300}}));
  EXPECT_EQ(matches(draw(*task, 300, "in-weights")), (std::map<int, int>{{0, 300}}));
}

// One class, one label, in training; a class of the probe is new in every sequence and may have any label.
TEST(InContextClassification, OnlyNovelClassesChangeTheirLabels) {
  const auto task = make("in-context-classification", {{"classes", whole(8)}, {"labels", whole(4)}});
  for (const std::string stream : {"train", "in-context"}) {
    const Batch batch = draw(*task, 60, stream);
    int near = 0, disagree = 0;
    for (std::size_t a = 16; a < batch.labels.size(); a += 17)
      for (std::size_t b = 16; b < a; b += 17) {
        if (distance(batch, a, b) >= 10) continue;
        ++near;
        disagree += batch.labels[a] != batch.labels[b] ? 1 : 0;
      }
    EXPECT_EQ(disagree, 0);
    EXPECT_EQ(near > 0, stream == "train") << "classes of the probe are not novel";
  }
}

TEST(InContextClassification, ZipfsLawDrawsTheFirstClassesMore) {
  const auto task =
      make("in-context-classification", {{"zipf", 1.0}, {"classes", whole(32)}, {"burstiness", whole(8)}});
  std::map<std::int64_t, double> counts;
  const Batch batch = draw(*task, 20'000);
  for (std::size_t i = 16; i < batch.labels.size(); i += 17) ++counts[batch.labels[i]];
  for (const std::int64_t k : {1, 2, 9})
    EXPECT_NEAR(counts[k] / counts[0], 1.0 / static_cast<double>(k + 1), 0.05) << "class " << k;
}

TEST(InContextClassification, RefusesABurstinessThatDoesNotDivide) {
  EXPECT_THROW(make("in-context-classification", {{"burstiness", whole(3)}}), Error);
}

}  // namespace
}  // namespace eureka
