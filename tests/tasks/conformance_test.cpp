// What every registered task promises, checked over the whole registry: a new task is tested without a new test.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>
#include <set>

#include "support/example_tasks.h"

namespace eureka {
namespace {

class TaskConformance : public testing::TestWithParam<std::string> {
 protected:
  std::unique_ptr<Task> task_ = Registry<Task>::instance().make(GetParam());
  TaskShape shape_ = task_->shape();
  Metric metric_ = task_->metric();
  std::vector<Latent> latents_ = task_->latents();
  bool squared_ = shape_.loss == LossKind::squared;

  Batch draw(std::int64_t samples, std::uint64_t seed = 1, const std::string& stream = "train",
             std::uint64_t step = 0) const {
    Batch batch;
    task_->sample({.seed = seed, .stream = stream, .step = step, .samples = samples}, batch);
    return batch;
  }

  std::vector<std::size_t> asked_in(const Batch& batch) const {
    std::vector<std::size_t> asked;
    for (std::size_t i = 0; i < answers_of(batch); ++i)
      if (batch.asks(i)) asked.push_back(i);
    return asked;
  }

  std::size_t answers_of(const Batch& batch) const { return static_cast<std::size_t>(batch.samples * shape_.labels()); }

  // An answer that is asked for: what one can know of it, and what is right.
  struct Answer {
    std::int64_t label = 0;
    float target = 0;  // the first
    std::vector<int> latents;
  };

  // Inputs are not kept, since images would fill the memory.
  std::vector<Answer> draw_answers(std::size_t count, const std::string& stream = "train") const {
    std::vector<Answer> all;
    for (std::uint64_t step = 0; all.size() < count; ++step) {
      const Batch batch = draw(500, 1, stream, step);
      for (const std::size_t i : asked_in(batch)) {
        const auto first = batch.latents.begin() + static_cast<std::ptrdiff_t>(i * latents_.size());
        all.push_back({squared_ ? 0 : batch.labels[i],
                       squared_ ? batch.targets[i * static_cast<std::size_t>(shape_.classes)] : 0.0F,
                       {first, first + static_cast<std::ptrdiff_t>(latents_.size())}});
      }
    }
    return all;
  }
};

TEST_P(TaskConformance, SameRequestGivesTheSameBytes) {
  const auto all_of = [](const Batch& b) {
    return std::tuple(b.inputs, b.ids, b.labels, b.targets, b.asked, b.visible, b.roles, b.latents);
  };
  const auto inputs_of = [](const Batch& b) { return std::tuple(b.inputs, b.ids); };
  const Batch first = draw(64, 7, "train", 5);
  EXPECT_TRUE(all_of(first) == all_of(draw(64, 7, "train", 5)));
  EXPECT_FALSE(inputs_of(first) == inputs_of(draw(64, 8, "train", 5)));
  EXPECT_FALSE(inputs_of(first) == inputs_of(draw(64, 7, "validation", 5)));
  EXPECT_FALSE(inputs_of(first) == inputs_of(draw(64, 7, "train", 6)));
}

// The caller keeps the batch: what another request left there must not show.
TEST_P(TaskConformance, ABatchUsedBeforeIsFilledAnew) {
  Batch used = draw(64, 8);
  std::fill(used.asked.begin(), used.asked.end(), std::uint8_t{1});
  used.visible.assign(7, 0);
  task_->sample({.seed = 1, .stream = "train", .step = 0, .samples = 10}, used);
  const Batch fresh = draw(10);
  EXPECT_EQ(used.inputs, fresh.inputs);
  EXPECT_EQ(used.ids, fresh.ids);
  EXPECT_EQ(used.asked, fresh.asked);
  EXPECT_EQ(used.visible, fresh.visible);
  EXPECT_EQ(used.roles, fresh.roles);
}

TEST_P(TaskConformance, ShapesAreAsStated) {
  const Batch batch = draw(10);
  const std::size_t answers = answers_of(batch), tokens = static_cast<std::size_t>(10 * shape_.tokens);
  const bool ids = shape_.input() == InputKind::ids;
  EXPECT_EQ(batch.inputs.size(), static_cast<std::size_t>(10 * shape_.values()));
  EXPECT_EQ(batch.ids.size(), ids ? tokens : 0);
  EXPECT_EQ(batch.labels.size(), squared_ ? 0 : answers);
  EXPECT_EQ(batch.targets.size(), squared_ ? answers * static_cast<std::size_t>(shape_.classes) : 0);
  EXPECT_TRUE(batch.asked.empty() || batch.asked.size() == answers);
  EXPECT_TRUE(batch.visible.empty() || batch.visible.size() == tokens);
  // Images of these tasks are made of four tiles, each with a role.
  EXPECT_EQ(batch.roles.size(), shape_.input() == InputKind::image ? 40 : tokens);
  EXPECT_EQ(batch.latents.size(), answers * latents_.size());
  EXPECT_GT(batch.asked_count(answers), 0U) << "nothing to learn";
  for (const std::int32_t id : batch.ids) ASSERT_TRUE(id >= 0 && id < shape_.vocabulary);
  for (const std::size_t i : asked_in(batch)) {
    if (squared_)
      for (std::size_t k = 0; k < static_cast<std::size_t>(shape_.classes); ++k)
        ASSERT_TRUE(std::isfinite(batch.targets[i * static_cast<std::size_t>(shape_.classes) + k]));
    else
      ASSERT_TRUE(batch.labels[i] >= 0 && batch.labels[i] < shape_.classes);
  }
}

TEST_P(TaskConformance, LatentsStayWithinTheirClasses) {
  for (const Latent& latent : latents_)
    EXPECT_TRUE(latent.value_names.empty() || static_cast<int>(latent.value_names.size()) == latent.classes);
  for (const Answer& answer : draw_answers(500))
    for (std::size_t i = 0; i < latents_.size(); ++i)
      ASSERT_TRUE(answer.latents[i] >= 0 && answer.latents[i] < latents_[i].classes) << latents_[i].name;
}

TEST_P(TaskConformance, RolesHaveNamesAndAllOccur) {
  const std::vector<Role> roles = task_->roles();
  std::set<std::string> names;
  for (const Role& role : roles) {
    EXPECT_FALSE(role.name.empty() || role.meaning.empty());
    EXPECT_TRUE(names.insert(role.name).second) << role.name << " twice";
  }
  EXPECT_TRUE(std::any_of(roles.begin(), roles.end(), [](const Role& role) { return role.matters; }));
  std::set<std::size_t> seen;
  for (const std::uint8_t role : draw(200).roles) {
    ASSERT_LT(role, roles.size());
    seen.insert(role);
  }
  // A two-step task without distractors keeps their name.
  for (std::size_t i = 0; i < roles.size(); ++i)
    EXPECT_TRUE(!roles[i].matters || seen.contains(i)) << roles[i].name << " never occurs";
}

TEST_P(TaskConformance, KeysOfAnAnswerMatterAndAreInSight) {
  const Batch batch = draw(20);
  const std::vector<Role> roles = task_->roles();
  const auto tokens = static_cast<std::int64_t>(batch.roles.size()) / batch.samples;
  for (const std::size_t answer : asked_in(batch)) {
    const auto sample = static_cast<std::int64_t>(answer) / shape_.labels();
    const auto place = static_cast<std::int64_t>(answer) % shape_.labels();
    const std::vector<std::int64_t> keys = task_->keys_of_answer(batch, static_cast<std::int64_t>(answer));
    EXPECT_FALSE(keys.empty()) << "an answer from nowhere";
    for (const std::int64_t key : keys) {
      ASSERT_TRUE(key >= 0 && key < tokens);
      ASSERT_TRUE(!shape_.every_position || shape_.looks_ahead || key <= place);
      EXPECT_TRUE(roles[batch.roles[static_cast<std::size_t>(sample * tokens + key)]].matters);
    }
  }
}

TEST_P(TaskConformance, MetricIsDeclaredWhole) {
  EXPECT_FALSE(metric_.name.empty());
  EXPECT_TRUE(std::all_of(metric_.name.begin(), metric_.name.end(),
                          [](unsigned char c) { return std::islower(c) || std::isdigit(c) || c == ' '; }))
      << metric_.name << " makes no key";
  EXPECT_LT(metric_.low, metric_.high);
  EXPECT_TRUE(metric_.best >= metric_.low && metric_.best <= metric_.high);
  EXPECT_EQ(metric_.better, metric_.measure == Measure::bits ? Better::lower : Better::higher);
  EXPECT_FALSE(squared_ && metric_.measure == Measure::bits) << "a squared error has no bits";
  if (!metric_.plateau) return;
  EXPECT_TRUE(metric_.on_plateau(*metric_.plateau));
  EXPECT_FALSE(metric_.on_plateau(metric_.best)) << "no plateau to speak of";
  EXPECT_TRUE(*metric_.plateau >= metric_.low && *metric_.plateau <= metric_.high);
  const double floor = metric_.floor.value_or(*metric_.plateau);
  EXPECT_FALSE(metric_.is_better(floor, *metric_.plateau));
  EXPECT_LT(std::abs(floor - *metric_.plateau), 0.5 * std::abs(*metric_.plateau - metric_.origin()) + 1e-12);
}

TEST_P(TaskConformance, OracleReachesTheBestThereIs) {
  const Batch batch = draw(2000);
  if (squared_) {
    const std::vector<float> found = task_->oracle_targets(batch);
    ASSERT_EQ(found.size(), batch.targets.size());
    double error = 0, square = 0;
    const auto count = static_cast<std::size_t>(shape_.classes);
    for (const std::size_t i : asked_in(batch))
      for (std::size_t k = i * count; k < (i + 1) * count; ++k) {
        error += std::pow(static_cast<double>(found[k]) - batch.targets[k], 2);
        square += std::pow(static_cast<double>(batch.targets[k]), 2);
      }
    EXPECT_NEAR(1 - error / square, metric_.best, metric_.best == 1 ? 1e-6 : 0.02);
    return;
  }
  const std::vector<std::int64_t> found = task_->oracle(batch);
  if (found.empty()) {
    EXPECT_EQ(metric_.measure, Measure::bits) << "only what nobody can know may go without an oracle";
    return;
  }
  ASSERT_EQ(found.size(), batch.labels.size());
  const std::vector<std::size_t> asked = asked_in(batch);
  const auto right = std::count_if(asked.begin(), asked.end(), [&](auto i) { return found[i] == batch.labels[i]; });
  EXPECT_NEAR(static_cast<double>(right) / static_cast<double>(asked.size()), metric_.best,
              metric_.best == 1 ? 0 : 0.02);
}

// Whatever comes after an answer's place, a decoder does not see it.
TEST_P(TaskConformance, AnswersAreDeterminedByWhatStandsUpToThem) {
  if (!shape_.every_position || shape_.looks_ahead) return;
  const Batch batch = draw(8), others = draw(8, 2);
  const std::vector<std::int64_t> labels = task_->oracle(batch);
  const std::vector<float> targets = task_->oracle_targets(batch);
  for (std::int64_t place = 0; place < shape_.tokens; ++place) {
    Batch changed = batch;
    const auto take_over = [&](auto& to, const auto& from, std::int64_t values) {
      for (std::int64_t sample = 0; sample < 8 && !to.empty(); ++sample)
        std::copy(from.begin() + (sample * shape_.tokens + place + 1) * values,
                  from.begin() + (sample + 1) * shape_.tokens * values,
                  to.begin() + (sample * shape_.tokens + place + 1) * values);
    };
    take_over(changed.ids, others.ids, 1);
    take_over(changed.inputs, others.inputs, shape_.dimension);
    const std::vector<std::int64_t> labels_now = task_->oracle(changed);
    const std::vector<float> targets_now = task_->oracle_targets(changed);
    for (std::int64_t sample = 0; sample < 8; ++sample) {
      const auto answer = static_cast<std::size_t>(sample * shape_.tokens + place);
      if (!batch.asks(answer)) continue;
      ASSERT_TRUE(labels.empty() || labels_now[answer] == labels[answer]) << "place " << place;
      for (std::int64_t k = 0; k < shape_.classes && !targets.empty(); ++k) {
        const std::size_t number = answer * static_cast<std::size_t>(shape_.classes) + static_cast<std::size_t>(k);
        ASSERT_EQ(targets_now[number], targets[number]) << "place " << place;
      }
    }
  }
}

// Where samples are few, what is trained on must not be judged by.
TEST_P(TaskConformance, AFiniteSetIsSplit) {
  if (!task_->finite()) return;
  const auto all_of = [&](const std::string& stream, std::uint64_t seed) {
    std::set<std::pair<std::vector<std::int32_t>, std::vector<float>>> samples;
    const Batch batch = draw(20'000, seed, stream);
    const auto slice = [&](const auto& all, std::int64_t i) {
      const auto size = static_cast<std::ptrdiff_t>(all.size()) / batch.samples;
      return std::vector(all.begin() + i * size, all.begin() + (i + 1) * size);
    };
    for (std::int64_t i = 0; i < batch.samples; ++i) samples.insert({slice(batch.ids, i), slice(batch.inputs, i)});
    return samples;
  };
  const auto train = all_of("train", 1), validation = all_of("validation", 1);
  EXPECT_EQ(train, all_of("train", 2)) << "the split depends on the seed, or 20,000 draws do not show all";
  for (const auto& sample : validation) ASSERT_FALSE(train.contains(sample));
}

TEST_P(TaskConformance, ProbesAreStreamsTheOracleSolves) {
  std::set<std::string> names;
  for (const Probe& probe : task_->probes()) {
    EXPECT_TRUE(names.insert(probe.name).second) << probe.name << " twice";
    EXPECT_TRUE(std::all_of(probe.name.begin(), probe.name.end(),
                            [](unsigned char c) { return std::islower(c) || std::isdigit(c) || c == '_'; }));
    const Batch batch = draw(500, 1, probe.stream);
    const Batch validation = draw(500, 1, "validation");
    EXPECT_TRUE(batch.inputs != validation.inputs || batch.ids != validation.ids);
    const std::vector<std::int64_t> found = task_->oracle(batch);
    for (const std::size_t i : asked_in(batch)) {
      ASSERT_TRUE(found.empty() || found[i] == batch.labels[i]) << probe.name;
      ASSERT_FALSE(task_->keys_of_answer(batch, static_cast<std::int64_t>(i)).empty());
    }
  }
}

TEST_P(TaskConformance, LabelsAreBalanced) {
  // Natural text is as it is.
  if (squared_ || (metric_.measure == Measure::bits && !metric_.plateau)) return;
  const std::vector<Answer> answers = draw_answers(20'000);
  std::map<std::int64_t, int> counts;
  for (const Answer& answer : answers) ++counts[answer.label];
  if (!task_->balanced()) {
    const auto commonest = std::max_element(counts.begin(), counts.end(),
                                            [](const auto& a, const auto& b) { return a.second < b.second; });
    const double share = commonest->second / static_cast<double>(answers.size());
    EXPECT_LT(share, metric_.measure == Measure::score ? metric_.plateau.value_or(0.5) + 0.02 : 1);
    return;
  }
  const double expected = static_cast<double>(answers.size()) / static_cast<double>(shape_.classes);
  ASSERT_EQ(counts.size(), static_cast<std::size_t>(shape_.classes));
  for (const auto& [label, count] : counts) EXPECT_NEAR(count, expected, 5 * std::sqrt(expected)) << "label " << label;
}

// The best predictor that sees every latent but the intermediate ones: a table of what was commonest.
TEST_P(TaskConformance, WithoutTheIntermediateStepOneReachesThePlateauAndNoMore) {
  // Bits are those of natural text: a table of so few answers is not the level of all of it.
  if (!metric_.plateau || metric_.measure == Measure::bits) return;
  const auto visible = [&](const Answer& answer) {
    std::vector<int> key;
    for (std::size_t i = 0; i < latents_.size(); ++i)
      if (!latents_[i].intermediate && !latents_[i].irrelevant) key.push_back(answer.latents[i]);
    return key;
  };
  struct Seen {
    std::map<std::int64_t, double> labels;
    double answers = 0, target_sum = 0;
  };
  std::map<std::vector<int>, Seen> table;
  for (const Answer& answer : draw_answers(20'000)) {
    Seen& seen = table[visible(answer)];
    ++seen.labels[answer.label];
    ++seen.answers;
    seen.target_sum += answer.target;
  }
  const std::vector<Answer> test = draw_answers(10'000, "validation");
  double right = 0, error = 0, square = 0;
  for (const Answer& answer : test) {
    Seen& seen = table[visible(answer)];
    if (seen.answers == 0) continue;
    const auto best = std::max_element(seen.labels.begin(), seen.labels.end(),
                                       [](const auto& a, const auto& b) { return a.second < b.second; });
    right += best->first == answer.label;
    error += std::pow(answer.target - seen.target_sum / seen.answers, 2);
    square += std::pow(answer.target, 2);
  }
  const auto count = static_cast<double>(test.size());
  EXPECT_NEAR(squared_ ? 1 - error / square : right / count, *metric_.plateau, 0.02);
}

// Chi-squared of label by value: a nuisance that told something would be a short cut.
TEST_P(TaskConformance, IrrelevantLatentsTellNothingAboutTheLabel) {
  if (squared_) return;
  const std::vector<Answer> answers = draw_answers(20'000);
  for (std::size_t i = 0; i < latents_.size(); ++i) {
    if (!latents_[i].irrelevant) continue;
    std::map<std::pair<std::int64_t, int>, double> counts;
    for (const Answer& answer : answers) ++counts[{answer.label, answer.latents[i]}];
    const double cells = static_cast<double>(shape_.classes) * latents_[i].classes;
    const double expected = static_cast<double>(answers.size()) / cells;
    double chi_squared = expected * (cells - static_cast<double>(counts.size()));  // of empty cells
    for (const auto& [cell, count] : counts) chi_squared += (count - expected) * (count - expected) / expected;
    EXPECT_LT(chi_squared, cells + 5 * std::sqrt(2 * cells)) << latents_[i].name;
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
