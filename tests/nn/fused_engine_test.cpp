// The fused engine against the reference engine: same parameters, same gradients, same curves, same checkpoints.
#include "engine/fused_engine.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "base/random.h"
#include "nn/reference_engine.h"

namespace eureka {
namespace {

Batch random_batch(const TaskShape& shape, std::int64_t samples, std::uint64_t step) {
  Batch batch;
  batch.resize(samples, shape, 0);
  RandomStream random(7, "fused test data", step);
  random.fill_normal(batch.inputs);
  for (std::int64_t& label : batch.labels) label = random.below(static_cast<std::uint32_t>(shape.classes));
  return batch;
}

EngineConfig base_config() {
  EngineConfig config;
  config.shape = {.tokens = 4, .dimension = 16, .classes = 10};
  config.model_options = {{"width", std::int64_t{32}}, {"depth", std::int64_t{2}}, {"heads", std::int64_t{2}},
                          {"init.weights", 0.2},       {"init.positions", 0.5},    {"init.cls", 1.0}};
  config.label_smoothing = 0.1;
  config.total_steps = 100;
  config.seed = 3;
  return config;
}

// Norm of the difference of one tensor, relative to its own norm (or to a small share of the whole gradient's, for
// tensors whose gradient is zero by symmetry).
double relative_error(const StateTensor& measured, const at::Tensor& exact, double floor) {
  const at::Tensor mine = at::tensor(measured.values, at::kFloat).to(at::kDouble).view(exact.sizes());
  return (mine - exact).norm().item<double>() / std::max(exact.norm().item<double>(), floor);
}

std::string text_of(const EngineConfig& config) {
  std::string text = config.rule + " tokens " + std::to_string(config.shape.tokens) + " dimension " +
                     std::to_string(config.shape.dimension) + " classes " + std::to_string(config.shape.classes) +
                     " scale " + std::to_string(static_cast<int>(config.scale.kind));
  for (const auto& [name, value] : config.rule_options) text += " " + name + "=" + to_toml(value);
  for (const auto& [name, value] : config.model_options) text += " " + name + "=" + to_toml(value);
  return text;
}

// NormSoftmax has a kink where the spread of a row meets its bound sqrt(d): there float32 and float64 may take
// different sides, and neither gradient is wrong.
bool on_a_kink(const ReferenceEngine& reference, const EngineConfig& config, const Batch& batch, std::int64_t step) {
  if (config.rule != "norm_softmax") return false;
  const bool by_variance = config.rule_options.contains("deviation");
  double nearest = 1;
  const TensorHook hook = [&](std::string_view point, int, const at::Tensor& value) {
    if (point != "logits") return;
    const at::Tensor variance = (value - value.mean(-1, true)).square().mean(-1) + 1e-6;
    const at::Tensor spread = by_variance ? variance : variance.sqrt();
    const auto heads = static_cast<double>(std::get<std::int64_t>(config.model_options.at("heads")));
    const double bound =
        std::sqrt(static_cast<double>(std::get<std::int64_t>(config.model_options.at("width"))) / heads);
    nearest = std::min(nearest, (spread / bound - 1).abs().min().item<double>());
  };
  const at::NoGradGuard no_grad;
  reference.forward(batch, {.training = true,
                            .seed = config.seed,
                            .step = step,
                            .scale_multiple = scale_multiple(config.scale, step, config.total_steps),
                            .hook = &hook});
  return nearest < 1e-5;
}

// False when the config cannot be compared.
bool expect_same_gradients(EngineConfig config, std::int64_t samples, std::int64_t step) {
  SCOPED_TRACE(text_of(config) + " samples " + std::to_string(samples));
  FusedEngine fused(config);
  ReferenceEngine single(config);
  config.double_precision = true;
  ReferenceEngine reference(config);
  // Scales and gains start at one or zero; move every parameter off its special value.
  EngineState state = fused.export_state();
  for (StateTensor& tensor : state.model) {
    RandomStream random(11, tensor.name);
    for (float& value : tensor.values) value += 0.1F * random.normal();
  }
  fused.import_state(state);
  single.import_state(state);
  reference.import_state(state);
  const Batch batch = random_batch(config.shape, samples, 0);
  if (on_a_kink(reference, config, batch, step)) return false;
  const StepResult mine = fused.compute_gradients(batch, step);
  const StepResult exact = reference.accumulate_gradients(batch, step);
  single.accumulate_gradients(batch, step);
  EXPECT_NEAR(mine.loss, exact.loss, 1e-5 * std::abs(exact.loss));
  EXPECT_NEAR(mine.accuracy, exact.accuracy, 1e-6);
  EXPECT_NEAR(mine.gradient_norm, exact.gradient_norm, 1e-4 * exact.gradient_norm);
  const ParameterSet& parameters = reference.parameter_set();
  const std::vector<StateTensor> gradients = fused.gradients();
  // Dividing by a variance instead of its root doubles how far rounding errors of the logits reach.
  const double allowed = config.rule_options.contains("deviation") ? 2e-5 : 1e-5;
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    const at::Tensor truth = parameters.part(parameters.gradients(), i);
    const at::Tensor stock = single.parameter_set().part(single.parameter_set().gradients(), i).to(at::kDouble);
    const double floor = 1e-2 * exact.gradient_norm;
    // Where float32 itself cannot do better (a LayerNorm over three numbers), not much worse than stock float32.
    const double stock_error = (stock - truth).norm().item<double>() / std::max(truth.norm().item<double>(), floor);
    EXPECT_LE(relative_error(gradients[i], truth, floor), std::max(allowed, 4 * stock_error)) << gradients[i].name;
  }
  const Evaluation quick = fused.evaluate(batch, step), slow = reference.evaluate(batch, step);
  EXPECT_NEAR(quick.loss, slow.loss, 1e-5 * std::abs(slow.loss));
  EXPECT_NEAR(quick.accuracy, slow.accuracy, 1e-6);
  return true;
}

struct RuleVariant {
  const char* rule;
  OptionValues options;
};

const std::vector<RuleVariant>& rule_variants() {
  static const std::vector<RuleVariant> all = {{"softmax", {}},
                                               {"norm_softmax", {}},
                                               {"norm_softmax", {{"deviation", std::string("variance")}}},
                                               {"qk_norm", {}},
                                               {"qk_norm", {{"norm", std::string("rms")}}},
                                               {"qk_norm", {{"norm", std::string("l2")}}},
                                               {"qk_norm", {{"norm", std::string("l2")}, {"learnable", false}}},
                                               {"qk_norm", {{"learnable", false}}},
                                               {"sigmoid", {}},
                                               {"sigmoid", {{"bias", std::string("none")}}},
                                               {"linear", {}},
                                               {"linear", {{"mean", false}}}};
  return all;
}

TEST(FusedEngine, GradientsAgreeWithAutogradInDoubleForEveryRuleAndScale) {
  for (const RuleVariant& variant : rule_variants()) {
    for (const ScaleKind kind : {ScaleKind::fixed, ScaleKind::learned, ScaleKind::half_cosine}) {
      EngineConfig config = base_config();
      config.rule = variant.rule;
      config.rule_options = variant.options;
      config.scale = {.kind = kind, .multiple = 1.5, .from = 3, .to = 1};
      EXPECT_TRUE(expect_same_gradients(config, 9, 20));
    }
  }
}

TEST(FusedEngine, GradientsAgreeWithAutogradInDoubleOverRandomConfigs) {
  // About half of other seeds draw configs past the tolerance (1e-5 to 2e-4): NormSoftmax over two keys, whose W_Q and
  // W_K have next to no gradient, and LayerNorm over three numbers. This grid is not a bound for those.
  RandomStream random(5, "fused random configs");
  int compared = 0;
  const auto pick = [&](auto... choices) {
    const std::array options{choices...};
    return options[random.below(static_cast<std::uint32_t>(options.size()))];
  };
  for (int trial = 0; trial < 60; ++trial) {
    EngineConfig config = base_config();
    const RuleVariant& variant = rule_variants()[random.below(static_cast<std::uint32_t>(rule_variants().size()))];
    config.rule = variant.rule;
    config.rule_options = variant.options;
    config.scale.kind = static_cast<ScaleKind>(random.below(5));
    config.scale.from = 4;
    config.shape = {
        .tokens = pick(1, 2, 3, 5, 16, 17, 31), .dimension = pick(1, 3, 16, 37), .classes = pick(2, 10, 19)};
    const std::int64_t heads = pick(1, 2, 3, 4), head_width = pick(3, 5, 8, 16, 20);
    config.model_options["heads"] = heads;
    config.model_options["width"] = heads * head_width;
    config.model_options["depth"] = std::int64_t{pick(1, 2, 3)};
    config.model_options["mlp_ratio"] = pick(0.7, 1.0, 2.0, 4.0);
    config.model_options["positions"] = std::string(pick("learned", "sinusoidal", "none"));
    config.model_options["qkv_bias"] = pick(true, false);
    config.model_options["dropout"] = pick(0.0, 0.0, 0.2);
    config.model_options["stochastic_depth"] = pick(0.0, 0.0, 0.3);
    config.label_smoothing = pick(0.0, 0.1);
    config.threads = pick(1, 2);
    compared += expect_same_gradients(config, pick(1, 7, 40), trial) ? 1 : 0;
  }
  EXPECT_GE(compared, 55) << "too many configs on a kink";
}

// The list of a rule's parameters is written twice, here and on the torch side.
TEST(FusedEngine, ParametersAreThoseOfTheReference) {
  for (const RuleVariant& variant : rule_variants()) {
    EngineConfig config = base_config();
    config.rule = variant.rule;
    config.rule_options = variant.options;
    config.scale.kind = ScaleKind::learned;
    FusedEngine fused(config);
    ReferenceEngine reference(config);
    ASSERT_EQ(fused.parameters().size(), reference.parameters().size());
    for (std::size_t i = 0; i < fused.parameters().size(); ++i) {
      const ParameterSpec &a = fused.parameters()[i], &b = reference.parameters()[i];
      EXPECT_EQ(a.name, b.name);
      EXPECT_EQ(a.shape, b.shape);
      EXPECT_EQ(a.group, b.group);
      EXPECT_EQ(a.decays, b.decays);
      EXPECT_EQ(initial_values(a, 1), initial_values(b, 1));
    }
  }
}

TEST(FusedEngine, TrainsAlongTheSameCurveAsTheReference) {
  for (const OptimizerKind kind : {OptimizerKind::adamw, OptimizerKind::adam, OptimizerKind::sgd}) {
    EngineConfig config = base_config();
    config.optimizer.kind = kind;
    config.clip = 1;
    config.total_steps = 200;
    config.model_options["dropout"] = 0.1;
    config.lr_multiplier.factor[static_cast<std::size_t>(ParameterGroup::embedding)] = 0.3;
    FusedEngine fused(config);
    ReferenceEngine reference(config);
    double mine = 0, exact = 0, first = 0;
    for (std::int64_t step = 0; step < 200; ++step) {
      const Batch batch = random_batch(config.shape, 32, static_cast<std::uint64_t>(step % 10));
      mine = fused.train_step(batch, {step, 1e-3}).loss;
      exact = reference.train_step(batch, {step, 1e-3}).loss;
      if (step == 0) first = exact;
      ASSERT_NEAR(mine, exact, 1e-3 * exact) << "step " << step;
    }
    EXPECT_LT(exact, first);
  }
}

TEST(FusedEngine, ContinuesACheckpointOfTheReferenceAndBack) {
  const EngineConfig config = base_config();
  FusedEngine fused(config), fused_after(config);
  ReferenceEngine reference(config), reference_after(config);
  for (std::int64_t step = 0; step < 5; ++step) {
    const Batch batch = random_batch(config.shape, 16, static_cast<std::uint64_t>(step));
    fused.train_step(batch, {step, 1e-3});
    reference.train_step(batch, {step, 1e-3});
  }
  fused_after.import_state(reference.export_state());
  reference_after.import_state(fused.export_state());
  const Batch batch = random_batch(config.shape, 16, 9);
  const double expected = reference.train_step(batch, {5, 1e-3}).loss;
  EXPECT_NEAR(fused_after.train_step(batch, {5, 1e-3}).loss, expected, 1e-5);
  EXPECT_NEAR(reference_after.train_step(batch, {5, 1e-3}).loss, expected, 1e-4);
}

}  // namespace
}  // namespace eureka
