#include <gtest/gtest.h>

#include <cmath>

#include "tasks/task.h"

namespace eureka {
namespace {

std::unique_ptr<Task> two_step(const OptionValues& values) {
  return Registry<Task>::instance().make("two-step", values);
}

Batch draw(const Task& task, std::int64_t samples) {
  Batch batch;
  task.sample({.seed = 3, .stream = "train", .step = 0, .samples = samples}, batch);
  return batch;
}

TEST(TwoStep, LabelFollowsTheRuleForEverySetting) {
  for (const bool shuffled : {false, true}) {
    const auto task = two_step({{"shuffled", shuffled},
                                {"distractors", std::int64_t{3}},
                                {"views", std::int64_t{2}},
                                {"indicator_classes", std::int64_t{3}},
                                {"classes", std::int64_t{4}}});
    EXPECT_EQ(task->shape().tokens, 14);
    const Batch batch = draw(*task, 500);
    EXPECT_EQ(task->oracle(batch), batch.labels) << "shuffled " << shuffled;
    for (std::size_t i = 0; i < 500; ++i) {
      const int* latent = batch.latents.data() + i * 5;
      EXPECT_EQ(latent[0] == 1, latent[1] == latent[2]);
      EXPECT_EQ(batch.labels[i], latent[1] == latent[2] ? latent[3] : latent[4]);
    }
  }
}

TEST(TwoStep, PlateauLevelFollowsTheKnobs) {
  EXPECT_DOUBLE_EQ(two_step({})->metric().plateau.value(), 0.55);
  EXPECT_DOUBLE_EQ(two_step({{"classes", std::int64_t{4}}})->metric().plateau.value(), 0.625);
  EXPECT_DOUBLE_EQ(two_step({{"same_probability", 0.8}})->metric().plateau.value(), 0.82);
}

TEST(TwoStep, RolesNameTheTokens) {
  const auto task = two_step({{"distractors", std::int64_t{1}}});
  const Batch batch = draw(*task, 3);
  std::string names;
  for (std::size_t i = 0; i < 5; ++i) names += task->roles()[batch.roles[i]].name + " ";
  EXPECT_EQ(names, "indicator target target indicator distractor ");
}

TEST(TwoStep, NoiseHasTheStatedSize) {
  const auto quiet = two_step({{"noise", 0.0}});
  const auto noisy = two_step({{"noise", 0.3}});
  const Batch a = draw(*quiet, 2000);
  const Batch b = draw(*noisy, 2000);
  double square = 0;
  for (std::size_t i = 0; i < a.inputs.size(); ++i) square += std::pow(a.inputs[i] - b.inputs[i], 2);
  EXPECT_NEAR(std::sqrt(square / static_cast<double>(a.inputs.size())), 0.3, 0.005);
  double norm = 0;
  for (std::size_t j = 0; j < 16; ++j) norm += a.inputs[j] * a.inputs[j];
  EXPECT_NEAR(norm, 16, 1e-4);
}

TEST(TwoStep, SameProbabilitySkewsTheIntermediateStep) {
  const Batch batch = draw(*two_step({{"same_probability", 0.8}}), 20'000);
  int same = 0;
  for (std::size_t i = 0; i < 20'000; ++i) same += batch.latents[i * 5];
  EXPECT_NEAR(same / 20'000.0, 0.8, 0.015);
}

}  // namespace
}  // namespace eureka
