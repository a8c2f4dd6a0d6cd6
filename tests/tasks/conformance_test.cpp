// What every registered task promises, checked over the whole registry: a new task is tested without a new test.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>

#include "tasks/task.h"

namespace eureka {
namespace {

class TaskConformance : public testing::TestWithParam<std::string> {
 protected:
  std::unique_ptr<Task> task_ = Registry<Task>::instance().make(GetParam());

  Batch draw(std::int64_t samples, std::uint64_t seed = 1, const std::string& stream = "train",
             std::uint64_t step = 0) const {
    Batch batch;
    task_->sample({.seed = seed, .stream = stream, .step = step, .samples = samples}, batch);
    return batch;
  }
};

TEST_P(TaskConformance, SameRequestGivesTheSameBytes) {
  const Batch first = draw(64, 7, "train", 5);
  const Batch again = draw(64, 7, "train", 5);
  EXPECT_EQ(first.inputs, again.inputs);
  EXPECT_EQ(first.labels, again.labels);
  EXPECT_NE(first.inputs, draw(64, 8, "train", 5).inputs);
  EXPECT_NE(first.inputs, draw(64, 7, "validation", 5).inputs);
  EXPECT_NE(first.inputs, draw(64, 7, "train", 6).inputs);
}

TEST_P(TaskConformance, ShapesAreAsStated) {
  const TaskShape shape = task_->shape();
  const Batch batch = draw(10);
  EXPECT_EQ(batch.inputs.size(), static_cast<std::size_t>(10 * shape.tokens * shape.dimension));
  EXPECT_EQ(batch.roles.size(), static_cast<std::size_t>(10 * shape.tokens));
  EXPECT_EQ(batch.latents.size(), 10 * task_->latents().size());
  for (const std::int64_t label : batch.labels) EXPECT_TRUE(label >= 0 && label < shape.classes);
}

TEST_P(TaskConformance, OracleIsAlwaysRight) {
  const Batch batch = draw(2000);
  EXPECT_EQ(task_->oracle(batch), batch.labels);
}

TEST_P(TaskConformance, LabelsAreBalanced) {
  const Batch batch = draw(20'000);
  std::map<std::int64_t, int> counts;
  for (const std::int64_t label : batch.labels) ++counts[label];
  const double expected = 20'000.0 / static_cast<double>(task_->shape().classes);
  ASSERT_EQ(counts.size(), static_cast<std::size_t>(task_->shape().classes));
  for (const auto& [label, count] : counts) EXPECT_NEAR(count, expected, 5 * std::sqrt(expected)) << "label " << label;
}

// The best predictor that sees every latent but the intermediate ones: a table of the commonest label.
TEST_P(TaskConformance, WithoutTheIntermediateStepOneReachesThePlateauAndNoMore) {
  const std::vector<Latent> latents = task_->latents();
  const auto visible = [&](const Batch& batch, std::size_t sample) {
    std::vector<int> key;
    for (std::size_t i = 0; i < latents.size(); ++i)
      if (!latents[i].intermediate) key.push_back(batch.latents[sample * latents.size() + i]);
    return key;
  };
  std::map<std::vector<int>, std::map<std::int64_t, int>> table;
  const Batch train = draw(100'000, 1, "train");
  for (std::size_t i = 0; i < train.labels.size(); ++i) ++table[visible(train, i)][train.labels[i]];
  const Batch test = draw(20'000, 1, "validation");
  int right = 0;
  for (std::size_t i = 0; i < test.labels.size(); ++i) {
    const auto& counts = table[visible(test, i)];
    const auto best = std::max_element(counts.begin(), counts.end(),
                                       [](const auto& a, const auto& b) { return a.second < b.second; });
    if (best != counts.end() && best->first == test.labels[i]) ++right;
  }
  EXPECT_NEAR(right / 20'000.0, task_->plateau_accuracy(), 0.015);
  EXPECT_LT(task_->plateau_accuracy(), 0.95) << "no plateau to speak of";
}

INSTANTIATE_TEST_SUITE_P(Registry, TaskConformance, testing::ValuesIn(Registry<Task>::instance().names()),
                         [](const auto& parameter) {
                           std::string name = parameter.param;
                           for (char& letter : name)
                             if (!std::isalnum(static_cast<unsigned char>(letter))) letter = '_';
                           return name;
                         });

}  // namespace
}  // namespace eureka
