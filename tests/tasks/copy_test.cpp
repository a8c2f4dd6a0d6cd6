#include <gtest/gtest.h>

#include "tasks/task.h"

namespace eureka {
namespace {

std::unique_ptr<Task> copy(std::int64_t length, std::int64_t vocabulary) {
  return Registry<Task>::instance().make("copy", {{"length", length}, {"vocabulary", vocabulary}});
}

Batch draw(const Task& task, std::int64_t samples) {
  Batch batch;
  task.sample({.seed = 3, .stream = "train", .step = 0, .samples = samples}, batch);
  return batch;
}

TEST(Copy, SecondHalfRepeatsTheFirstAndIsAskedFor) {
  for (const auto& [length, vocabulary] : {std::pair<std::int64_t, std::int64_t>{1, 2}, {5, 3}, {8, 16}}) {
    const auto task = copy(length, vocabulary);
    const Batch batch = draw(*task, 50);
    ASSERT_EQ(task->shape().tokens, 2 * length);
    EXPECT_DOUBLE_EQ(*task->metric().plateau, 1.0 / static_cast<double>(vocabulary));
    for (std::int64_t sample = 0; sample < 50; ++sample) {
      const auto first = static_cast<std::size_t>(sample * 2 * length),
                 middle = first + static_cast<std::size_t>(length);
      for (std::size_t i = 0; i < static_cast<std::size_t>(length); ++i) {
        EXPECT_LT(batch.ids[first + i], vocabulary);
        EXPECT_FALSE(batch.asks(first + i));
        EXPECT_TRUE(batch.asks(middle + i));
        EXPECT_EQ(batch.labels[middle + i], batch.ids[first + i]);
        EXPECT_EQ(batch.ids[middle + i], i > 0 ? batch.ids[first + i - 1] : vocabulary);
        EXPECT_EQ(batch.latents[2 * (middle + i)], static_cast<int>(i));
        EXPECT_EQ(batch.latents[2 * (middle + i) + 1], batch.ids[middle + i]);
      }
    }
  }
}

// Only the token an answer looks at decides it: changing any other of the source changes nothing.
TEST(Copy, KeysOfAnAnswerAreAllItDependsOn) {
  const auto task = copy(6, 9);
  const Batch batch = draw(*task, 1);
  for (std::int64_t answer = 6; answer < 12; ++answer) {
    EXPECT_EQ(task->keys_of_answer(batch, answer), std::vector<std::int64_t>{answer - 6});
    for (std::size_t token = 0; token < 6; ++token) {
      Batch changed = batch;
      changed.ids[token] = (changed.ids[token] + 1) % 9;
      const auto at = static_cast<std::size_t>(answer);
      EXPECT_EQ(task->oracle(changed)[at] != task->oracle(batch)[at], token == at - 6);
    }
  }
}

TEST(Copy, RolesNameTheTokens) {
  const auto task = copy(2, 4);
  std::string names;
  for (const std::uint8_t role : draw(*task, 1).roles) names += task->roles()[role].name + " ";
  EXPECT_EQ(names, "source source separator copy ");
}

}  // namespace
}  // namespace eureka
