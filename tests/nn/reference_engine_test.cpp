#include "nn/reference_engine.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "base/random.h"
#include "engine/copying_sink.h"
#include "engine/fused_cases.h"

namespace eureka {
namespace {

EngineConfig small_config() {
  EngineConfig config;
  config.shape = {.tokens = 4, .dimension = 16, .classes = 10};
  config.model_options = {{"width", std::int64_t{16}},
                          {"depth", std::int64_t{2}},
                          {"heads", std::int64_t{2}},
                          {"init.weights", 0.2},
                          {"init.cls", 1.0}};
  config.label_smoothing = 0.1;
  config.total_steps = 100;
  config.seed = 3;
  return config;
}

Batch sample(std::int64_t samples, std::uint64_t step = 0) {
  Batch batch;
  Registry<Task>::instance()
      .make("two-step")
      ->sample({.seed = 1, .stream = "train", .step = step, .samples = samples}, batch);
  return batch;
}

double loss_at(ReferenceEngine& engine, const Batch& batch) { return engine.gradient(batch, 0).loss; }

// Every option that adds a term to the network, each against finite differences in double.
TEST(ReferenceEngine, GradientsMatchFiniteDifferences) {
  const std::vector<OptionValues> variants = {{},
                                              {{"positions", std::string("sinusoidal")}},
                                              {{"positions", std::string("none")}},
                                              {{"qkv_bias", true}},
                                              {{"stochastic_depth", 0.5}},
                                              {{"dropout", 0.3}}};
  for (const OptionValues& variant : variants) {
    for (const ScaleKind kind : {ScaleKind::fixed, ScaleKind::learned, ScaleKind::half_cosine}) {
      EngineConfig config = small_config();
      config.double_precision = true;
      config.scale.kind = kind;
      for (const auto& [name, value] : variant) config.model_options[name] = value;
      ReferenceEngine engine(config);
      const Batch batch = sample(8);
      engine.gradient(batch, 0);
      at::Tensor values = engine.parameter_set().values();
      const at::Tensor gradient = engine.parameter_set().gradients().clone();
      at::manual_seed(1);
      for (int trial = 0; trial < 3; ++trial) {
        const at::Tensor direction = at::randn_like(values);
        constexpr double kStep = 1e-5;
        const auto moved = [&](double distance) {
          values.add_(direction, distance);
          const double loss = loss_at(engine, batch);
          values.sub_(direction, distance);
          return loss;
        };
        // Five points: LayerNorm of a small token bends too much for three.
        const double measured =
            (8 * (moved(kStep) - moved(-kStep)) - (moved(2 * kStep) - moved(-2 * kStep))) / (12 * kStep);
        const double predicted = (gradient * direction).sum().item<double>();
        EXPECT_NEAR(measured, predicted, 1e-6 * std::max(1.0, std::abs(predicted)));
      }
    }
  }
}

TEST(ReferenceEngine, SameSeedGivesTheSameDataAndWeightsForEveryRule) {
  EngineConfig plain = small_config();
  EngineConfig other = small_config();
  other.rule = "qk_norm";
  other.scale.kind = ScaleKind::learned;
  const EngineState a = ReferenceEngine(plain).export_state();
  const EngineState b = ReferenceEngine(other).export_state();
  std::size_t shared = 0;
  for (const StateTensor& tensor : a.model)
    for (const StateTensor& twin : b.model)
      if (tensor.name == twin.name) {
        EXPECT_EQ(tensor.values, twin.values) << tensor.name;
        ++shared;
      }
  EXPECT_EQ(shared, a.model.size());
  EXPECT_GT(b.model.size(), a.model.size());
}

TEST(ReferenceEngine, StateContinuesToTheSameBits) {
  for (const char* model : {"transformer", "mlp"}) {
    for (const OptimizerKind kind : {OptimizerKind::adamw, OptimizerKind::adam, OptimizerKind::sgd}) {
      EngineConfig config = small_config();
      config.model = model;
      config.optimizer.kind = kind;
      config.clip = 0.5;
      if (config.model == "transformer") config.model_options["dropout"] = 0.1;
      ReferenceEngine whole(config), first(config), second(config);
      for (std::int64_t step = 0; step < 6; ++step) whole.train_step(sample(16, step), {step, 1e-2});
      for (std::int64_t step = 0; step < 3; ++step) first.train_step(sample(16, step), {step, 1e-2});
      second.import_state(first.export_state());
      for (std::int64_t step = 3; step < 6; ++step) second.train_step(sample(16, step), {step, 1e-2});
      const EngineState a = whole.export_state(), b = second.export_state();
      for (std::size_t i = 0; i < a.model.size(); ++i)
        EXPECT_EQ(a.model[i].values, b.model[i].values) << a.model[i].name;
      for (std::size_t i = 0; i < a.optimizer.size(); ++i)
        EXPECT_EQ(a.optimizer[i].values, b.optimizer[i].values) << a.optimizer[i].name;
    }
  }
}

EngineConfig image_config(const char* model) {
  EngineConfig config;
  config.model = model;
  config.shape = {.classes = 3, .image = {16, 16, 1}};
  config.model_options["width"] = std::int64_t{8};
  config.total_steps = 100;
  return config;
}

// Label: which third of the rows is bright.
Batch bright_rows(const TaskShape& shape, std::int64_t samples, std::int64_t step) {
  Batch batch;
  batch.resize(samples, shape, 0);
  RandomStream random(3, "bright rows", static_cast<std::uint64_t>(step));
  random.fill_normal(batch.inputs);
  for (std::int64_t s = 0; s < samples; ++s) {
    const auto label = static_cast<std::int64_t>(random.below(3));
    batch.labels[static_cast<std::size_t>(s)] = label;
    for (std::int64_t i = 0; i < 5 * 16; ++i) batch.inputs[static_cast<std::size_t>(s * 256 + label * 5 * 16 + i)] += 2;
  }
  return batch;
}

TEST(ResNet, LearnsAndContinuesToTheSameBits) {
  for (const char* model : {"resnet9", "resnet18"}) {
    const EngineConfig config = image_config(model);
    ReferenceEngine whole(config), second(config);
    for (std::int64_t step = 0; step < 30; ++step) {
      if (step == 20) second.import_state(whole.export_state());
      whole.train_step(bright_rows(config.shape, 32, step), {step, 3e-3});
      if (step >= 20) second.train_step(bright_rows(config.shape, 32, step), {step, 3e-3});
    }
    EXPECT_GT(whole.evaluate(bright_rows(config.shape, 200, 1000), 30).accuracy, 0.9);
    const EngineState a = whole.export_state(), b = second.export_state();
    ASSERT_EQ(a.model.size(), b.model.size());
    // Running statistics of batch normalization are part of the state.
    EXPECT_GT(a.model.size(), whole.parameters().size());
    for (std::size_t i = 0; i < a.model.size(); ++i) EXPECT_EQ(a.model[i].values, b.model[i].values) << a.model[i].name;
  }
}

TEST(ResNet, LookingAtAStepLeavesItsStatisticsAlone) {
  const EngineConfig config = image_config("resnet9");
  ReferenceEngine engine(config);
  const EngineState before = engine.export_state();
  CopyingSink sink;
  engine.observe(bright_rows(config.shape, 8, 0), 0, everything(), sink);
  EXPECT_EQ(sink.tensors.size(), 2 * engine.parameters().size());
  const EngineState after = engine.export_state();
  for (std::size_t i = 0; i < before.model.size(); ++i) EXPECT_EQ(before.model[i].values, after.model[i].values);
}

TEST(ReferenceEngine, MixedPrecisionIsCloseToFull) {
  EngineConfig config = image_config("vit");
  config.model_options["patch"] = std::int64_t{4};
  ReferenceEngine full(config);
  config.precision = Precision::bfloat16;
  ReferenceEngine mixed(config);
  double first = 0, a = 0, b = 0;
  for (std::int64_t step = 0; step < 30; ++step) {
    const Batch batch = bright_rows(config.shape, 64, step);
    a = full.train_step(batch, {step, 1e-2}).loss;
    b = mixed.train_step(batch, {step, 1e-2}).loss;
    if (step == 0) first = a;
    if (step == 0) {
      EXPECT_NEAR(b, a, 0.01 * a);
      EXPECT_NE(b, a);
    }
  }
  EXPECT_LT(a, 0.8 * first);
  EXPECT_LT(b, 0.8 * first);
}

TEST(ReferenceEngine, ClippingBoundsTheStep) {
  EngineConfig config = small_config();
  config.optimizer = {.kind = OptimizerKind::sgd, .momentum = 0, .weight_decay = 0};
  config.clip = 1e-3;
  config.double_precision = true;
  ReferenceEngine engine(config);
  const at::Tensor before = engine.parameter_set().values().clone();
  const StepResult result = engine.train_step(sample(16), {0, 1.0});
  EXPECT_GT(result.gradient_norm, 1e-3);
  EXPECT_NEAR((engine.parameter_set().values() - before).norm().item<double>(), 1e-3, 1e-5);
}

TEST(ReferenceEngine, LabelSmoothingIsTheTextbookLoss) {
  EngineConfig config = small_config();
  config.double_precision = true;
  config.label_smoothing = 0.1;
  ReferenceEngine engine(config);
  const Batch batch = sample(4);
  const at::Tensor log_p = at::log_softmax(engine.forward(batch, {.training = true}), -1);
  double expected = 0;
  for (std::int64_t i = 0; i < 4; ++i)
    for (std::int64_t c = 0; c < 10; ++c)
      expected -=
          (0.1 / 10 + (batch.labels[static_cast<std::size_t>(i)] == c ? 0.9 : 0)) * log_p[i][c].item<double>() / 4;
  EXPECT_NEAR(engine.gradient(batch, 0).loss, expected, 1e-12);
}

TEST(ReferenceEngine, ReadsNoAnswerThatNobodyAsksFor) {
  for (const LossKind loss : {LossKind::cross_entropy, LossKind::squared}) {
    EngineConfig config = decoder_config();
    config.shape.loss = loss;
    const Batch batch = random_batch(config.shape, 8, {.asked_share = 0.5});
    ReferenceEngine one(config), other(config);
    const StepResult a = one.train_step(batch, {0, 1e-2});
    const StepResult b = other.train_step(with_other_unasked(batch), {0, 1e-2});
    EXPECT_EQ(a.loss, b.loss);
    EXPECT_EQ(a.accuracy, b.accuracy);
    EXPECT_TRUE(one.parameter_set().values().equal(other.parameter_set().values()));
  }
}

TEST(ReferenceEngine, HooksSeeEveryPointAndChangeNothing) {
  struct Names final : ForwardHook {
    std::vector<std::string> seen;
    void attention(int layer, std::int64_t, const AttentionContext&) override {
      seen.push_back("attention" + std::to_string(layer));
    }
    void tensor(Point point, int layer, const at::Tensor&) override {
      seen.push_back(enum_names(point)[static_cast<std::size_t>(point)] + std::to_string(layer));
    }
  } hook;
  ReferenceEngine engine(small_config());
  const Batch batch = sample(2);
  ForwardContext context;
  const at::Tensor without = engine.forward(batch, context);
  context.hook = &hook;
  EXPECT_TRUE(engine.forward(batch, context).equal(without));
  EXPECT_EQ(hook.seen, (std::vector<std::string>{"residual0", "attention0", "q0", "k0", "v0", "logits0", "weights0",
                                                 "head_output0", "residual1", "attention1", "q1", "k1", "v1", "logits1",
                                                 "weights1", "head_output1", "residual2"}));
}

TEST(ReferenceEngine, LookingLeavesTheGradientAlone) {
  ReferenceEngine engine(small_config());
  engine.gradient(sample(16), 0);
  const at::Tensor before = engine.parameter_set().gradients().clone();
  CopyingSink sink;
  engine.observe(sample(16), 0, everything(), sink);
  EXPECT_TRUE(engine.parameter_set().gradients().equal(before));
  EXPECT_FALSE(sink.tensors.empty());
}

// Against finite differences of the gradient; and symmetric.
TEST(ReferenceEngine, HessianProductIsTheDerivativeOfTheGradient) {
  EngineConfig config = small_config();
  config.double_precision = true;
  ReferenceEngine engine(config);
  const std::unique_ptr<HessianProduct> hessian = engine.hessian_product(sample(8), 0);
  at::Tensor values = engine.parameter_set().values();
  ASSERT_EQ(hessian->rows(), values.numel());
  at::manual_seed(1);
  const at::Tensor x = at::randn_like(values), other = at::randn_like(values);
  at::Tensor product = at::empty_like(x), other_product = at::empty_like(x);
  hessian->perform_op(x.data_ptr<double>(), product.data_ptr<double>());
  hessian->perform_op(other.data_ptr<double>(), other_product.data_ptr<double>());
  EXPECT_NEAR((other * product).sum().item<double>(), (x * other_product).sum().item<double>(),
              1e-10 * product.norm().item<double>() * other.norm().item<double>());
  constexpr double kStep = 1e-6;
  const auto gradient_at = [&](double distance) {
    values.add_(x, distance);
    engine.gradient(sample(8), 0);
    values.sub_(x, distance);
    return engine.parameter_set().gradients().clone();
  };
  const at::Tensor measured = (gradient_at(kStep) - gradient_at(-kStep)) / (2 * kStep);
  EXPECT_LE((measured - product).norm().item<double>(), 1e-5 * product.norm().item<double>());
}

TEST(ReferenceEngine, RefusesWhatDoesNotFit) {
  EngineConfig config = small_config();
  config.model_options["width"] = std::int64_t{15};
  EXPECT_THROW(ReferenceEngine{config}, Error);
  config = small_config();
  config.device = "quantum";
  EXPECT_THROW(ReferenceEngine{config}, Error);
  ReferenceEngine engine(small_config());
  EngineState state = engine.export_state();
  state.model[0].shape = {1, 2};
  EXPECT_THROW(engine.import_state(state), Error);
  state.model.clear();
  EXPECT_THROW(engine.import_state(state), Error);
}

}  // namespace
}  // namespace eureka
