// The fused engine's gradients against differences of its own loss; tests/nn has the sharper comparison with autograd.
#include <gtest/gtest.h>

#include <cmath>

#include "engine/fused_cases.h"
#include "engine/fused_engine.h"

namespace eureka {
namespace {

// Loss with one parameter moved by `distance` along `direction`.
double loss_at(FusedEngine& engine, const EngineState& state, std::size_t tensor, const std::vector<float>& direction,
               double distance, const Batch& batch) {
  EngineState moved = state;
  for (std::size_t i = 0; i < direction.size(); ++i)
    moved.model[tensor].values[i] += static_cast<float>(distance * static_cast<double>(direction[i]));
  engine.import_state(moved);
  return engine.gradient(batch, 2).loss;
}

double norm_of(const std::vector<float>& values) {
  double square = 0;
  for (const float x : values) square += static_cast<double>(x) * static_cast<double>(x);
  return std::sqrt(square);
}

void expect_differences_agree(const EngineConfig& config, const Batch& batch) {
  SCOPED_TRACE(text_of(config));
  FusedEngine engine(config);
  const EngineState state = engine.export_state();
  const double whole = engine.gradient(batch, 2).gradient_norm;
  const std::vector<StateTensor> gradients = gradients_in(engine);
  constexpr double kStep = 4e-3;
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    const double norm = norm_of(gradients[i].values);
    // Below that, rounding of the loss hides the slope.
    if (norm < 0.02 * whole) continue;
    std::vector<float> direction = gradients[i].values;
    for (float& x : direction) x = static_cast<float>(static_cast<double>(x) / norm);
    const double slope =
        (loss_at(engine, state, i, direction, kStep, batch) - loss_at(engine, state, i, direction, -kStep, batch)) /
        (2 * kStep);
    EXPECT_NEAR(slope, norm, 0.01 * norm + 2e-3 * whole) << gradients[i].name;
  }
}

TEST(FusedGradients, AgreeWithDifferencesOfTheLoss) {
  for (const RuleVariant& variant : rule_variants()) {
    for (EngineConfig config : {base_config(), decoder_config(), vit_config()}) {
      config.rule = variant.rule;
      config.rule_options = variant.options;
      config.scale.kind = ScaleKind::learned;
      config.model_options["dropout"] = 0.1;
      expect_differences_agree(config, random_batch(config.shape, 20));
    }
  }
  EngineConfig regression = decoder_config();
  regression.shape.loss = LossKind::squared;
  expect_differences_agree(regression, random_batch(regression.shape, 20, {.masked = true, .asked_share = 0.5}));
  expect_differences_agree(mlp_config(), random_batch(mlp_config().shape, 20));
  expect_differences_agree(resnet_config(), random_batch(resnet_config().shape, 20));
}

}  // namespace
}  // namespace eureka
