// The reference engine over several ranks, here threads of one process, each with its own engine and connections.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <thread>

#include "base/error.h"
#include "engine/fused_cases.h"
#include "nn/reference_engine.h"
#include "support/rank_threads.h"

namespace eureka {
namespace {

struct Outcome {
  StepResult result;
  Evaluation evaluation;
  std::vector<double> gradient;
};

Outcome computed(EngineConfig config, const Batch& batch, Ranks* ranks) {
  config.ranks = ranks;
  ReferenceEngine engine(config);
  Outcome outcome;
  outcome.evaluation = engine.evaluate(batch, 5);
  outcome.result = engine.gradient(batch, 5, 0);
  const FlatGradient flat = engine.flat_gradient();
  const auto* numbers = static_cast<const double*>(flat.data);
  outcome.gradient.assign(numbers, numbers + flat.numbers);
  return outcome;
}

void expect_near(double value, double expected, const std::string& what) {
  EXPECT_NEAR(value, expected, 1e-12 * std::max(1.0, std::abs(expected))) << what;
}

std::vector<EngineConfig> models_of_every_kind() {
  EngineConfig noisy = base_config();
  noisy.model_options["dropout"] = 0.3;
  noisy.model_options["stochastic_depth"] = 0.4;
  EngineConfig regression = decoder_config();
  regression.shape = {.tokens = 6, .dimension = 5, .classes = 2, .every_position = true, .loss = LossKind::squared};
  // More parameters than one bucket holds.
  EngineConfig wide = mlp_config();
  wide.model_options["hidden"] = std::int64_t{700};
  return {noisy, decoder_config(), regression, vit_config(), wide};
}

TEST(Ranks, GradientsLossesAndEvaluationsAreThoseOfOneProcessWhateverTheShares) {
  EUREKA_NEEDS_GLOO();
  for (EngineConfig config : models_of_every_kind()) {
    config.double_precision = true;
    // 7 divides by none of them, 3 leaves one of four ranks without a sample.
    for (const std::int64_t samples : {7, 3}) {
      const bool every_position = config.shape.every_position;
      const Batch batch =
          random_batch(config.shape, samples, {.masked = every_position, .asked_share = every_position ? 0.4 : 1});
      const Outcome alone = computed(config, batch, nullptr);
      for (const int size : {1, 2, 3, 4}) {
        std::vector<Outcome> outcomes(static_cast<std::size_t>(size));
        over_ranks(size, [&](Ranks& ranks) {
          outcomes[static_cast<std::size_t>(ranks.place().rank)] = computed(config, batch, &ranks);
        });
        for (const Outcome& one : outcomes) {
          const std::string what = fmt::format("{}, {} samples, {} ranks", config.model, samples, size);
          expect_near(one.result.loss, alone.result.loss, what);
          expect_near(one.result.accuracy, alone.result.accuracy, what);
          expect_near(one.result.gradient_norm, alone.result.gradient_norm, what);
          expect_near(one.evaluation.loss, alone.evaluation.loss, what);
          expect_near(one.evaluation.accuracy, alone.evaluation.accuracy, what);
          ASSERT_EQ(one.gradient.size(), alone.gradient.size());
          for (std::size_t i = 0; i < one.gradient.size(); ++i) expect_near(one.gradient[i], alone.gradient[i], what);
          EXPECT_EQ(one.gradient, outcomes[0].gradient) << "ranks must not drift apart: " << what;
          EXPECT_EQ(one.result.gradient_norm, outcomes[0].result.gradient_norm) << what;
        }
      }
    }
  }
}

// A label that nobody asks for on one of the ranks gives it no loss, not 0/0.
TEST(Ranks, AShareMayAskForNothing) {
  EUREKA_NEEDS_GLOO();
  EngineConfig config = decoder_config();
  config.double_precision = true;
  Batch batch = random_batch(config.shape, 4);
  batch.asked.assign(static_cast<std::size_t>(4 * config.shape.labels()), 0);
  batch.asked[3] = batch.asked[5] = 1;
  const Outcome alone = computed(config, batch, nullptr);
  over_ranks(2, [&](Ranks& ranks) {
    const Outcome one = computed(config, batch, &ranks);
    expect_near(one.result.loss, alone.result.loss, "the loss");
    expect_near(one.evaluation.loss, alone.evaluation.loss, "the evaluation");
    for (std::size_t i = 0; i < one.gradient.size(); ++i) expect_near(one.gradient[i], alone.gradient[i], "gradient");
  });
}

TEST(Ranks, ManyStepsEndOnTheSameBitsEverywhere) {
  EUREKA_NEEDS_GLOO();
  EngineConfig config = base_config();
  config.clip = 0.5;
  std::vector<EngineState> states(3);
  over_ranks(3, [&](Ranks& ranks) {
    EngineConfig own = config;
    own.ranks = &ranks;
    ReferenceEngine engine(own);
    for (std::int64_t step = 0; step < 10; ++step)
      engine.train_step(random_batch(config.shape, 8, {.step = static_cast<std::uint64_t>(step)}), {step, 1e-2});
    states[static_cast<std::size_t>(ranks.place().rank)] = engine.export_state();
  });
  for (std::size_t i = 0; i < states[0].model.size(); ++i)
    for (const EngineState& state : states)
      EXPECT_EQ(state.model[i].values, states[0].model[i].values) << state.model[i].name;
}

// Alone, and noting what is added up when.
class NotingGroup final : public ProcessGroup {
 public:
  const RankPlace& place() const override { return place_; }
  void work_on(const at::Device&) override {}
  void begin_sum(const at::Tensor& numbers) override {
    begins.push_back(numbers.storage_offset());
    counts.push_back(numbers.numel());
    while_working.push_back(first_gradient.defined() && first_gradient.abs().sum().item<double>() == 0);
  }
  void finish() override {}
  void add_up(std::span<double>) override {}
  void share(std::span<float>) override {}
  void share(std::string&) override {}
  void leave() override {}

  at::Tensor first_gradient;  // of the parameter that a backward pass comes to last
  std::vector<std::int64_t> begins, counts;
  std::vector<bool> while_working;

 private:
  RankPlace place_;
};

TEST(Ranks, AddUpTheEndOfTheGradientWhileItsBeginningIsStillComputed) {
  NotingGroup group;
  EngineConfig config = mlp_config();
  config.model_options["hidden"] = std::int64_t{700};  // 490,000 numbers in one matrix
  config.ranks = &group;
  ReferenceEngine engine(config);
  group.first_gradient = engine.parameter_set().part(engine.parameter_set().gradients(), 0);
  for (int step = 0; step < 2; ++step) {
    group.begins.clear(), group.counts.clear(), group.while_working.clear();
    engine.gradient(random_batch(config.shape, 4), step, 0);
    ASSERT_EQ(group.begins.size(), 2U);
    std::int64_t end = engine.parameter_set().gradients().numel();
    for (std::size_t i = 0; i < group.begins.size(); ++i) {
      EXPECT_EQ(group.begins[i] + group.counts[i], end) << "pieces follow each other from the end";
      end = group.begins[i];
    }
    EXPECT_EQ(end, 0) << "and leave nothing out";
    EXPECT_TRUE(group.while_working.front());
    EXPECT_FALSE(group.while_working.back());
  }
}

TEST(Ranks, ShareWhatRankZeroHas) {
  EUREKA_NEEDS_GLOO();
  over_ranks(3, [](Ranks& ranks) {
    std::string text = ranks.place().leads() ? "a longer text than theirs" : "theirs";
    ranks.share(text);
    EXPECT_EQ(text, "a longer text than theirs");
    std::string empty = ranks.place().leads() ? "" : "theirs";
    ranks.share(empty);
    EXPECT_EQ(empty, "");
    std::vector<float> numbers(3, static_cast<float>(ranks.place().rank + 1));
    ranks.share(numbers);
    EXPECT_EQ(numbers, std::vector<float>(3, 1.0F));
  });
}

TEST(Ranks, RefuseAModelThatNormalizesOverItsBatch) {
  EUREKA_NEEDS_GLOO();
  over_ranks(1, [](Ranks& ranks) {
    EngineConfig config = resnet_config();
    config.ranks = &ranks;
    EXPECT_THROW(ReferenceEngine{config}, Error);
  });
}

TEST(Ranks, OneThatFallsSilentEndsTheOthers) {
  EUREKA_NEEDS_GLOO();
  const int port = free_port();
  std::thread other([&] {
    // Gone without leave(), but its connections stay open, as those of a frozen process or a lost machine do.
    join_process_group(place_on_this_machine(1, 2, port));
  });
  const auto ranks = join_process_group(place_on_this_machine(0, 2, port));
  other.join();
  const auto begin = std::chrono::steady_clock::now();
  double number = 1;
  EXPECT_THROW(ranks->add_up({&number, 1}), Error);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(30));
}

}  // namespace
}  // namespace eureka
