#include <gtest/gtest.h>

#include <algorithm>
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

// What is no key may be that of another sample: the answer stays.
TEST(TwoStep, AnswersFollowFromTheirKeysAlone) {
  for (const bool shuffled : {false, true}) {
    const auto task = two_step({{"shuffled", shuffled}, {"distractors", std::int64_t{2}}, {"views", std::int64_t{2}}});
    const auto tokens = static_cast<std::size_t>(task->shape().tokens), floats = tokens * 16;
    const Batch batch = draw(*task, 200);
    Batch changed = batch;
    const auto other_target = [&](std::size_t sample) {
      const std::vector<std::int64_t> keys = task->keys_of_answer(batch, static_cast<std::int64_t>(sample));
      EXPECT_EQ(keys.size(), 6U) << "two indicators and one target, two views of each";
      std::vector<std::size_t> others;
      for (std::size_t t = 0; t < tokens; ++t)
        if (task->roles()[batch.roles[sample * tokens + t]].name == "target" &&
            std::find(keys.begin(), keys.end(), static_cast<std::int64_t>(t)) == keys.end())
          others.push_back(t);
      return others;
    };
    std::size_t last[2] = {200, 200};
    for (std::size_t i = 0; i < 200; ++i) {
      std::size_t& alike = last[batch.latents[i * 5]];
      if (alike < 200)
        for (std::size_t view = 0; view < 2; ++view)
          std::copy_n(
              batch.inputs.begin() + static_cast<std::ptrdiff_t>(alike * floats + other_target(alike)[view] * 16), 16,
              changed.inputs.begin() + static_cast<std::ptrdiff_t>(i * floats + other_target(i)[view] * 16));
      alike = i;
    }
    EXPECT_NE(changed.inputs, batch.inputs);
    EXPECT_EQ(task->oracle(changed), batch.labels) << "shuffled " << shuffled;
  }
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
