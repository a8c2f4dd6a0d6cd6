// The same bits from every instruction set with fused multiply-add: rules, models, losses, token counts that fill no
// vector.
#include "support/digests.h"

#include <fmt/format.h>

#include "engine/fused_cases.h"
#include "engine/fused_engine.h"
#include "kernels/instruction_set.h"

namespace eureka {
namespace {

constexpr std::int64_t kTokens[] = {1, 5, 8, 9, 17, 65, 197};

// A few steps: losses, gradient norms, an evaluation, and every bit of weights and optimizer state.
std::string digest_of_steps(const EngineConfig& config, const BatchOptions& options = {}) {
  FusedEngine engine(config);
  Digest digest;
  for (std::int64_t step = 0; step < 3; ++step) {
    BatchOptions now = options;
    now.step = static_cast<std::uint64_t>(step);
    const StepResult result = engine.train_step(random_batch(config.shape, 5, now), {.step = step, .lr = 3e-3});
    digest.add(result.loss);
    digest.add(result.accuracy);
    digest.add(result.gradient_norm);
  }
  const Evaluation evaluation = engine.evaluate(random_batch(config.shape, 7, options), 3);
  digest.add(evaluation.loss);
  const EngineState state = engine.export_state();
  for (const StateTensor& tensor : state.model) digest.add(tensor.values);
  for (const StateTensor& tensor : state.optimizer) digest.add(tensor.values);
  return digest.text();
}

// A model in which every query meets `tokens` keys; the encoders add a cls token of their own.
EngineConfig config_for(const std::string& model, std::int64_t tokens, LossKind loss) {
  EngineConfig config = model == "decoder" ? decoder_config() : model == "vit" ? vit_config() : base_config();
  config.model_options["width"] = std::int64_t{24};
  config.shape.loss = loss;
  config.threads = 1 + static_cast<int>(tokens % 3);
  if (model == "decoder") {
    config.shape.tokens = tokens;
  } else if (model == "vit") {
    config.model_options["patch"] = std::int64_t{2};
    config.shape.image = {2 * (tokens - 1), 2, 3};
  } else {
    config.shape.tokens = tokens - 1;
  }
  return config;
}

void check_rules_models_losses_and_tokens(DigestFile& file) {
  for (const char* model : {"transformer", "vit", "decoder"})
    for (const LossKind loss : {LossKind::cross_entropy, LossKind::squared})
      for (const RuleVariant& variant : rule_variants()) {
        std::vector<std::string> digests;
        for (const std::int64_t tokens : kTokens) {
          if (tokens == 1 && model != std::string("decoder")) continue;
          EngineConfig config = config_for(model, tokens, loss);
          config.rule = variant.rule;
          config.rule_options = variant.options;
          digests.push_back(digest_of_steps(config));
        }
        file.expect(
            std::string(model) + (loss == LossKind::squared ? ", squared, " : ", cross-entropy, ") + name_of(variant),
            digests);
      }
}

void check_the_rest(DigestFile& file) {
  const auto expect = [&](const std::string& name, const EngineConfig& config, const BatchOptions& options = {}) {
    file.expect(name, {digest_of_steps(config, options)});
  };
  for (const RuleVariant& variant : rule_variants()) {
    EngineConfig config = decoder_config();
    config.rule = variant.rule;
    config.rule_options = variant.options;
    expect("decoder with hidden tokens and labels nobody asks for, " + name_of(variant), config,
           {.masked = true, .asked_share = 0.5});
    config = base_config();
    config.rule = variant.rule;
    config.rule_options = variant.options;
    config.scale.kind = ScaleKind::learned;
    expect("learned scale, " + name_of(variant), config);
  }
  for (const ScaleKind kind : {ScaleKind::linear, ScaleKind::cosine, ScaleKind::half_cosine}) {
    EngineConfig config = base_config();
    config.scale = {.kind = kind, .from = 24, .to = 1};
    expect("scale schedule " + std::to_string(static_cast<int>(kind)), config);
  }
  for (const OptimizerKind kind : {OptimizerKind::adamw, OptimizerKind::adam, OptimizerKind::sgd}) {
    EngineConfig config = base_config();
    config.optimizer = {.kind = kind, .weight_decay = 0.1};
    config.clip = 0.5;
    expect("clipped, optimizer " + std::to_string(static_cast<int>(kind)), config);
  }
  for (const LossKind loss : {LossKind::cross_entropy, LossKind::squared}) {
    EngineConfig config = mlp_config();
    config.shape.loss = loss;
    expect(loss == LossKind::squared ? "mlp, squared" : "mlp, cross-entropy", config, {.asked_share = 0.5});
  }
  EngineConfig perceptron = mlp_config();
  perceptron.shape = {.classes = 3, .image = {11, 7, 3}};
  perceptron.model_options = {{"hidden", std::int64_t{150}}, {"layers", std::int64_t{3}}};
  perceptron.threads = 2;
  expect("mlp on images", perceptron);
  for (const char* model : {"resnet9", "resnet18"})
    for (const char* stem : {"small", "imagenet"})
      for (const std::int64_t width : {6, 20}) {
        EngineConfig config = resnet_config(model);
        config.shape.image = {15, 34, 3};
        config.model_options = {{"width", width}, {"stem", std::string(stem)}};
        config.threads = width == 6 ? 1 : 2;
        expect(std::string(model) + ", " + stem + " stem, width " + std::to_string(width), config);
      }
  for (const EngineConfig& config : block_variants()) {
    const auto& options = config.model_options;
    expect(fmt::format("{}{}, norm {}, positions {}, mlp {}", config.shape.looks_ahead ? "bidirectional " : "",
                       config.model, std::get<std::string>(options.at("norm")),
                       std::get<std::string>(options.at("positions")), std::get<double>(options.at("mlp_ratio"))),
           config);
  }
  EngineConfig noisy = base_config();
  noisy.model_options["dropout"] = 0.2;
  noisy.model_options["stochastic_depth"] = 0.3;
  noisy.model_options["positions"] = std::string("sinusoidal");
  expect("dropout, stochastic depth and sinusoidal positions", noisy);
  EngineConfig narrow = base_config();
  narrow.model_options["width"] = std::int64_t{15};
  narrow.model_options["heads"] = std::int64_t{3};
  narrow.shape.classes = 3;
  expect("heads of five", narrow);
  EngineConfig wide = base_config();
  wide.model_options["width"] = std::int64_t{264};
  wide.shape.tokens = 40;
  wide.shape.classes = 300;
  expect("wide, many classes", wide);
}

TEST(Digests, AreTheSameForEveryInstructionSet) {
  const std::string before = instruction_set();
  int checked = 0;
  for (const std::string& name : instruction_sets()) {
    choose_instruction_set(name);
    if (!has_fused_multiply_add()) continue;
    SCOPED_TRACE(name);
    DigestFile file(EUREKA_TESTS "/engine/digests.txt");
    check_rules_models_losses_and_tokens(file);
    check_the_rest(file);
    file.expect_all_seen();
    ++checked;
  }
  choose_instruction_set(before);
  if (checked == 0) GTEST_SKIP() << "this processor has no fused multiply-add";
}

}  // namespace
}  // namespace eureka
