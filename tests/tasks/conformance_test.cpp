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

  // Labels and latents of many samples; inputs are not kept, since images would fill the memory.
  Batch draw_many(std::int64_t samples, const std::string& stream = "train") const {
    constexpr std::int64_t kAtOnce = 500;
    Batch all;
    for (std::uint64_t step = 0; all.samples < samples; ++step) {
      const Batch batch = draw(kAtOnce, 1, stream, step);
      all.samples += batch.samples;
      all.labels.insert(all.labels.end(), batch.labels.begin(), batch.labels.end());
      all.latents.insert(all.latents.end(), batch.latents.begin(), batch.latents.end());
    }
    return all;
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
  EXPECT_EQ(batch.inputs.size(), static_cast<std::size_t>(10 * shape.values()));
  // Images of these tasks are made of four tiles, each with a role.
  EXPECT_EQ(batch.roles.size(), static_cast<std::size_t>(10 * (shape.input() == InputKind::image ? 4 : shape.tokens)));
  EXPECT_EQ(batch.latents.size(), 10 * task_->latents().size());
  for (const std::int64_t label : batch.labels) EXPECT_TRUE(label >= 0 && label < shape.classes);
}

TEST_P(TaskConformance, LatentsStayWithinTheirClasses) {
  const std::vector<Latent> latents = task_->latents();
  const Batch batch = draw(500);
  for (std::size_t i = 0; i < batch.latents.size(); ++i) {
    const Latent& latent = latents[i % latents.size()];
    ASSERT_TRUE(batch.latents[i] >= 0 && batch.latents[i] < latent.classes) << latent.name;
    ASSERT_TRUE(latent.value_names.empty() || static_cast<int>(latent.value_names.size()) == latent.classes);
  }
}

TEST_P(TaskConformance, OracleIsAlwaysRight) {
  const Batch batch = draw(2000);
  EXPECT_EQ(task_->oracle(batch), batch.labels);
}

TEST_P(TaskConformance, LabelsAreBalanced) {
  const Batch batch = draw_many(20'000);
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
      if (!latents[i].intermediate && !latents[i].irrelevant) key.push_back(batch.latents[sample * latents.size() + i]);
    return key;
  };
  std::map<std::vector<int>, std::map<std::int64_t, int>> table;
  const Batch train = draw_many(20'000);
  for (std::size_t i = 0; i < train.labels.size(); ++i) ++table[visible(train, i)][train.labels[i]];
  const Batch test = draw_many(10'000, "validation");
  int right = 0;
  for (std::size_t i = 0; i < test.labels.size(); ++i) {
    const auto& counts = table[visible(test, i)];
    const auto best = std::max_element(counts.begin(), counts.end(),
                                       [](const auto& a, const auto& b) { return a.second < b.second; });
    if (best != counts.end() && best->first == test.labels[i]) ++right;
  }
  EXPECT_NEAR(right / 10'000.0, task_->plateau_accuracy(), 0.02);
  EXPECT_LT(task_->plateau_accuracy(), 0.95) << "no plateau to speak of";
  EXPECT_LE(task_->plateau_floor(), task_->plateau_accuracy());
  EXPECT_GT(task_->plateau_floor(), 0.5 * task_->plateau_accuracy());
}

// Chi-squared of label by value: a nuisance that told something would be a short cut.
TEST_P(TaskConformance, IrrelevantLatentsTellNothingAboutTheLabel) {
  const std::vector<Latent> latents = task_->latents();
  const Batch batch = draw_many(20'000);
  const auto classes = static_cast<double>(task_->shape().classes);
  for (std::size_t i = 0; i < latents.size(); ++i) {
    if (!latents[i].irrelevant) continue;
    std::map<std::pair<std::int64_t, int>, double> counts;
    for (std::size_t s = 0; s < batch.labels.size(); ++s)
      ++counts[{batch.labels[s], batch.latents[s * latents.size() + i]}];
    const double cells = classes * latents[i].classes, expected = static_cast<double>(batch.labels.size()) / cells;
    double chi_squared = expected * (cells - static_cast<double>(counts.size()));  // of empty cells
    for (const auto& [cell, count] : counts) chi_squared += (count - expected) * (count - expected) / expected;
    EXPECT_LT(chi_squared, cells + 5 * std::sqrt(2 * cells)) << latents[i].name;
  }
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
