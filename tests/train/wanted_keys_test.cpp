// Which keys fixed attention goes to: from what a task declares to the tokens of a model.
#include "train/wanted_keys.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/embedded.h"

namespace eureka {
namespace {

using testing::ElementsAre;

const Catalog& catalog() {
  static const Catalog instance{declarations::files().front().text};
  return instance;
}

struct Filled {
  std::unique_ptr<Task> task;
  Batch batch;
};

Filled filled(const std::string& text, std::int64_t step, std::int64_t samples = 20) {
  const RunConfig config = resolve_config(read_toml(text, "text"), catalog());
  Filled result{Registry<Task>::instance().make(config.task.name, config.task.options), {}};
  result.task->sample({.seed = 1, .stream = "train", .step = 0, .samples = samples}, result.batch);
  result.batch.wanted = {1, 2, 3};  // of another step
  WantedKeys(config, *result.task).fill(result.batch, step);
  return result;
}

std::vector<int> row(const Batch& batch, std::size_t answer, std::size_t tokens) {
  const auto begin = batch.wanted.begin() + static_cast<std::ptrdiff_t>(answer * tokens);
  return {begin, begin + static_cast<std::ptrdiff_t>(tokens)};
}

TEST(WantedKeys, AreTheIndicatorsAndTheTargetThatCounts) {
  const Filled of = filled("task = {name = 'two-step', distractors = 1}\nintervene.attention.kind = 'oracle'", 0);
  ASSERT_EQ(of.batch.wanted.size(), 20U * 5);
  for (std::size_t i = 0; i < 20; ++i) {
    if (of.batch.latents[i * 5] == 1)
      EXPECT_THAT(row(of.batch, i, 5), ElementsAre(1, 1, 0, 1, 0));
    else
      EXPECT_THAT(row(of.batch, i, 5), ElementsAre(1, 0, 1, 1, 0));
  }
}

TEST(WantedKeys, AreThoseOfARole) {
  const Filled of = filled(
      "task = {name = 'two-step', distractors = 1}\nintervene.attention = {kind = 'role', role = 'distractor'}", 0);
  for (std::size_t i = 0; i < 20; ++i) EXPECT_THAT(row(of.batch, i, 5), ElementsAre(0, 0, 0, 0, 1));
}

TEST(WantedKeys, AreNamedWhileTheyAreNeededOnly) {
  const std::string text = "task.name = 'two-step'\nintervene.attention = {kind = 'oracle', from = 5, until = 7}";
  for (const std::int64_t step : {4, 7}) EXPECT_TRUE(filled(text, step).batch.wanted.empty());
  for (const std::int64_t step : {5, 6}) EXPECT_EQ(filled(text, step).batch.wanted.size(), 80U);
  EXPECT_TRUE(filled("task.name = 'two-step'", 0).batch.wanted.empty());
  EXPECT_TRUE(filled("task.name = 'two-step'\nintervene.attention.kind = 'uniform'", 0).batch.wanted.empty());
}

// 56 x 56 pixels, tiles of 28 x 28; indicators are at the top left and the bottom right.
TEST(WantedKeys, OfAnImageAreThePatchesOfItsTiles) {
  const Filled of = filled(
      "task.name = 'digit-pair'\nmodel = {name = 'vit', patch = 14}\n"
      "intervene.attention = {kind = 'role', role = 'indicator'}",
      0, 3);
  ASSERT_EQ(of.batch.wanted.size(), 3U * 16);
  for (const std::size_t sample : {0, 1, 2})
    EXPECT_THAT(row(of.batch, sample, 16), ElementsAre(1, 1, 0, 0,  //
                                                       1, 1, 0, 0,  //
                                                       0, 0, 1, 1,  //
                                                       0, 0, 1, 1));
}

TEST(WantedKeys, OfASequenceBelongToEachAnswer) {
  const Filled of =
      filled("task = {name = 'copy', length = 2}\nmodel.name = 'decoder'\nintervene.attention.kind = 'oracle'", 0, 2);
  ASSERT_EQ(of.batch.wanted.size(), 2U * 4 * 4);
  for (const std::size_t sample : {0, 1}) {
    EXPECT_THAT(row(of.batch, sample * 4 + 0, 4), ElementsAre(0, 0, 0, 0)) << "nothing is asked";
    EXPECT_THAT(row(of.batch, sample * 4 + 2, 4), ElementsAre(1, 0, 0, 0));
    EXPECT_THAT(row(of.batch, sample * 4 + 3, 4), ElementsAre(0, 1, 0, 0));
  }
}

}  // namespace
}  // namespace eureka
