// What the fused engine promises by itself; tests/nn compares it with the reference engine.
#include "engine/fused_engine.h"

#include <gtest/gtest.h>

#include <set>

#include "base/error.h"
#include "base/random.h"
#include "engine/choose_engine.h"
#include "engine/copying_sink.h"
#include "engine/fused_cases.h"
#include "engine/fused_models.h"

namespace eureka {
namespace {

EngineConfig small_config() {
  EngineConfig config;
  config.shape = {.tokens = 7, .dimension = 5, .classes = 3};
  config.model_options = {{"width", std::int64_t{24}}, {"depth", std::int64_t{3}}, {"heads", std::int64_t{3}}};
  config.label_smoothing = 0.1;
  config.total_steps = 100;
  return config;
}

Batch batch_of(std::int64_t samples, std::uint64_t step) {
  Batch batch;
  const TaskShape shape = small_config().shape;
  batch.resize(samples, shape, 0);
  RandomStream random(1, "data", step);
  random.fill_normal(batch.inputs);
  for (std::int64_t& label : batch.labels) label = random.below(3);
  return batch;
}

EngineState trained(FusedEngine& engine, std::int64_t from, std::int64_t to) {
  for (std::int64_t step = from; step < to; ++step)
    engine.train_step(batch_of(130, static_cast<std::uint64_t>(step)), {step, 1e-2});
  return engine.export_state();
}

void expect_same_bits(const EngineState& a, const EngineState& b) {
  ASSERT_EQ(a.model.size(), b.model.size());
  for (std::size_t i = 0; i < a.model.size(); ++i) EXPECT_EQ(a.model[i].values, b.model[i].values) << a.model[i].name;
  ASSERT_EQ(a.optimizer.size(), b.optimizer.size());
  for (std::size_t i = 0; i < a.optimizer.size(); ++i)
    EXPECT_EQ(a.optimizer[i].values, b.optimizer[i].values) << a.optimizer[i].name;
}

TEST(FusedThreads, BitsDoNotDependOnTheirNumber) {
  EngineConfig config = small_config();
  config.model_options["dropout"] = 0.1;
  config.model_options["stochastic_depth"] = 0.2;
  config.clip = 0.5;
  FusedEngine one(config);
  const EngineState expected = trained(one, 0, 6);
  const Evaluation evaluation = one.evaluate(batch_of(77, 9), 6);
  for (const int threads : {2, 3, 8}) {
    config.threads = threads;
    FusedEngine many(config);
    expect_same_bits(expected, trained(many, 0, 6));
    EXPECT_EQ(evaluation.loss, many.evaluate(batch_of(77, 9), 6).loss);
  }
}

TEST(FusedThreads, BitsDoNotDependOnTheirNumberForAnyModel) {
  for (EngineConfig config : {decoder_config(), vit_config(), mlp_config(), resnet_config()}) {
    config.model_options["dropout"] = 0.1;
    std::optional<EngineState> expected;
    for (const int threads : {1, 2, 3}) {
      config.threads = threads;
      FusedEngine engine(config);
      for (std::int64_t step = 0; step < 4; ++step)
        engine.train_step(random_batch(config.shape, 150, {.step = static_cast<std::uint64_t>(step)}), {step, 1e-2});
      if (expected)
        expect_same_bits(*expected, engine.export_state());
      else
        expected = engine.export_state();
    }
  }
}

TEST(FusedEngine, ObservingChangesNoBitOfTheRun) {
  for (EngineConfig config :
       {base_config(), decoder_config(), everywhere_config(), vit_config(), mlp_config(), resnet_config()}) {
    config.model_options["dropout"] = 0.1;
    FusedEngine seen(config), alone(config);
    for (std::int64_t step = 0; step < 3; ++step) {
      const Batch batch = random_batch(config.shape, 30, {.step = static_cast<std::uint64_t>(step)});
      CopyingSink sink;
      seen.observe(batch, step, everything(), sink);
      EXPECT_TRUE(sink.tensors.contains("gradient by head.weight"));
      EXPECT_EQ(sink.tensors.contains("gradient by weights of layer 1"), find_fused_model(config.model)->attends);
      seen.gradient(batch, step);
      // Between the two halves of a step as well.
      seen.observe(batch, step, {.points = {Point::weights}, .samples = 3}, sink);
      seen.update({.step = step, .lr = 1e-2});
      alone.train_step(batch, {step, 1e-2});
    }
    expect_same_bits(alone.export_state(), seen.export_state());
  }
}

TEST(FusedResume, ContinuesToTheSameBits) {
  for (const OptimizerKind kind : {OptimizerKind::adamw, OptimizerKind::adam, OptimizerKind::sgd}) {
    EngineConfig config = small_config();
    config.optimizer.kind = kind;
    config.model_options["dropout"] = 0.1;
    FusedEngine whole(config), first(config), second(config);
    second.import_state(trained(first, 0, 3));
    expect_same_bits(trained(whole, 0, 6), trained(second, 3, 6));
  }
}

TEST(FusedResume, ContinuesToTheSameBitsWithEveryModel) {
  for (const EngineConfig& config : {decoder_config(), vit_config(), mlp_config(), resnet_config()}) {
    FusedEngine whole(config), first(config), second(config);
    const auto train = [&](FusedEngine& engine, std::int64_t from, std::int64_t to) {
      for (std::int64_t step = from; step < to; ++step)
        engine.train_step(random_batch(config.shape, 40, {.step = static_cast<std::uint64_t>(step)}), {step, 1e-2});
      return engine.export_state();
    };
    second.import_state(train(first, 0, 3));
    expect_same_bits(train(whole, 0, 6), train(second, 3, 6));
  }
}

TEST(FusedEngine, AStepIsTheSameWhateverRanBefore) {
  FusedEngine fresh(small_config()), used(small_config());
  const EngineState start = used.export_state();
  trained(used, 0, 2);
  used.evaluate(batch_of(300, 4), 2);
  used.import_state(start);
  expect_same_bits(trained(fresh, 0, 2), trained(used, 0, 2));
}

TEST(FusedEngine, ReadsNoAnswerThatNobodyAsksFor) {
  for (const auto& [loss, share] : {std::pair{LossKind::cross_entropy, 0.5},
                                    {LossKind::squared, 0.5},
                                    {LossKind::cross_entropy, 0.0}}) {  // the first answer alone
    EngineConfig config = decoder_config();
    config.shape.loss = loss;
    const Batch batch = random_batch(config.shape, 40, {.asked_share = share});
    FusedEngine one(config), other(config);
    const StepResult a = one.train_step(batch, {0, 1e-2});
    const StepResult b = other.train_step(with_other_unasked(batch), {0, 1e-2});
    EXPECT_EQ(a.loss, b.loss);
    EXPECT_EQ(a.accuracy, b.accuracy);
    expect_same_bits(one.export_state(), other.export_state());
  }
}

TEST(FusedEngine, PredictsWhatNobodyAsksForToo) {
  const EngineConfig config = decoder_config();
  Batch batch = random_batch(config.shape, 40, {.asked_share = 0.2});
  FusedEngine engine(config);
  std::vector<float> some, all;
  engine.predict(batch, 0, some);
  batch.asked.clear();
  engine.predict(batch, 0, all);
  EXPECT_EQ(some, all);
}

// Training computes the rows that are asked behind the last attention; whoever looks inside has all of them computed.
TEST(FusedEngine, GradientsAreThoseOfTheWholeModelHoweverFewRowsAreAsked) {
  for (const double dropout : {0.0, 0.3})
    for (const double share : {0.0, 0.1, 0.6}) {
      EngineConfig config = decoder_config();
      config.model_options["dropout"] = dropout;
      const Batch batch = random_batch(config.shape, 1, {.asked_share = share});
      FusedEngine engine(config);
      engine.gradient(batch, 2, 0);
      CopyingSink whole;
      engine.observe(batch, 2, {.parameters = ParameterGradients::own_pass}, whole);
      for (const StateTensor& gradient : gradients_in(engine))
        EXPECT_EQ(gradient.values, whole.tensors.at("gradient by " + gradient.name)) << gradient.name << ' ' << share;
    }
}

TEST(FusedEngine, ALabelThatIsAskedForMustBeOfAClass) {
  const EngineConfig config = decoder_config();
  Batch batch = random_batch(config.shape, 4);
  batch.labels[5] = -1;
  FusedEngine engine(config);
  EXPECT_ANY_THROW(engine.evaluate(batch, 0));
  batch.asked.assign(batch.labels.size(), 1);
  batch.asked[5] = 0;
  EXPECT_NO_THROW(engine.evaluate(batch, 0));
}

TEST(FusedEngine, RefusesWhatItDoesNotCoverAndSaysWhy) {
  EXPECT_FALSE(why_not_fused(small_config()));
  EngineConfig config = small_config();
  config.rule = "of tomorrow";
  EXPECT_EQ(why_not_fused(config).value_or(""), "attention rule 'of tomorrow' has no fused form");
  EXPECT_THROW(make_engine(EngineChoice::fused, config), Error);
  config.model = "mlp";
  EXPECT_FALSE(why_not_fused(config)) << "it has no attention";
  config.model = "of tomorrow";
  EXPECT_EQ(why_not_fused(config).value_or(""), "model 'of tomorrow' has no fused form");
  config = small_config();
  config.device = "cuda";
  EXPECT_TRUE(why_not_fused(config));
  EXPECT_EQ(make_engine(EngineChoice::automatic, small_config()).engine->name(), "fused");
}

TEST(FusedEngine, RefusesAModelLargerThanTheMachine) {
  EngineConfig config = small_config();
  config.model_options["width"] = std::int64_t{61440};
  config.model_options["depth"] = std::int64_t{96};
  try {
    FusedEngine engine(config);
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("GB of memory"), std::string::npos) << error.what();
  }
}

TEST(FusedEngine, RefusesAForeignCheckpoint) {
  FusedEngine engine(small_config());
  EngineState state = engine.export_state();
  state.model[0].shape = {1, 2};
  EXPECT_THROW(engine.import_state(state), Error);
  state.model.clear();
  EXPECT_THROW(engine.import_state(state), Error);
}

TEST(ThreadPool, DoesEveryTaskOnceAndPassesOnExceptions) {
  for (const std::size_t threads : {1, 2, 5}) {
    ThreadPool pool(threads);
    for (int round = 0; round < 100; ++round) {
      std::vector<int> done(17, 0);
      pool.run(done.size(), [&](std::size_t task, std::size_t thread) {
        ASSERT_LT(thread, threads);
        ++done[task];
      });
      EXPECT_EQ(done, std::vector<int>(17, 1));
    }
    EXPECT_THROW(pool.run(4,
                          [](std::size_t task, std::size_t) {
                            if (task == 2) throw std::runtime_error("two");
                          }),
                 std::runtime_error);
    pool.run(2, [](std::size_t, std::size_t) {});
  }
}

TEST(RandomStream, SkipsAsIfDrawn) {
  for (const unsigned before : {0U, 1U, 3U, 4U})
    for (const std::uint64_t count : {0U, 1U, 3U, 4U, 5U, 8U, 1001U}) {
      RandomStream drawn(1, "stream", 2), skipped(1, "stream", 2);
      for (unsigned i = 0; i < before; ++i) {
        drawn.bits();
        skipped.bits();
      }
      for (std::uint64_t i = 0; i < count; ++i) drawn.bits();
      skipped.skip(count);
      for (int i = 0; i < 9; ++i) EXPECT_EQ(drawn.bits(), skipped.bits());
    }
}

}  // namespace
}  // namespace eureka
