// The fused engine against the reference engine: same parameters, same curves, same checkpoints, same insides.
#include "engine/fused_engine.h"

#include <gtest/gtest.h>

#include <cmath>

#include "engine/fused_cases.h"
#include "nn/reference_engine.h"
#include "nn/rounding.h"

namespace eureka {
namespace {

TEST(FusedEngine, ParametersAreThoseOfTheReference) {
  for (const RuleVariant& variant : rule_variants()) {
    for (EngineConfig config : {base_config(), decoder_config(), vit_config()}) {
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
}

void expect_same_curve(EngineConfig config) {
  config.clip = 1;
  config.total_steps = 200;
  config.model_options["dropout"] = 0.1;
  config.lr_multiplier.factor[static_cast<std::size_t>(ParameterGroup::embedding)] = 0.3;
  FusedEngine fused(config);
  ReferenceEngine reference(config);
  double mine = 0, exact = 0, first = 0;
  for (std::int64_t step = 0; step < 200; ++step) {
    const Batch batch = random_batch(config.shape, 32, {.step = static_cast<std::uint64_t>(step % 10)});
    mine = fused.train_step(batch, {step, 1e-3}).loss;
    exact = reference.train_step(batch, {step, 1e-3}).loss;
    if (step == 0) first = exact;
    ASSERT_NEAR(mine, exact, 1e-3 * exact) << "step " << step;
  }
  EXPECT_LT(exact, first);
}

TEST(FusedEngine, TrainsAlongTheSameCurveWithEveryOptimiser) {
  for (const OptimizerKind kind : {OptimizerKind::adamw, OptimizerKind::adam, OptimizerKind::sgd}) {
    EngineConfig config = base_config();
    config.optimizer.kind = kind;
    expect_same_curve(config);
  }
}

TEST(FusedEngine, TrainsAlongTheSameCurveWithEveryModel) {
  expect_same_curve(decoder_config());
  expect_same_curve(vit_config());
  EngineConfig regression = decoder_config();
  regression.shape.loss = LossKind::squared;
  expect_same_curve(regression);
}

// Every tensor of an observation, with its name.
std::vector<std::pair<std::string, const ObservedTensor*>> tensors_of(const Observation& seen) {
  std::vector<std::pair<std::string, const ObservedTensor*>> all;
  for (std::size_t layer = 0; layer < seen.blocks.size(); ++layer) {
    const ObservedBlock& block = seen.blocks[layer];
    for (const auto& [name, tensor] : {std::pair{"q", &block.q},
                                       {"k", &block.k},
                                       {"v", &block.v},
                                       {"logits", &block.logits},
                                       {"weights", &block.weights},
                                       {"head_output", &block.head_output},
                                       {"residual", &block.residual}})
      all.emplace_back(std::string(name) + " of layer " + std::to_string(layer), tensor);
  }
  all.emplace_back("last residual", &seen.residual);
  return all;
}

// Relative to the size of the second.
double distance(const std::vector<float>& a, const std::vector<float>& b) {
  double difference = 0, size = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    difference += std::pow(static_cast<double>(a[i]) - static_cast<double>(b[i]), 2);
    size += std::pow(static_cast<double>(b[i]), 2);
  }
  return std::sqrt(difference / std::max(size, 1e-12));
}

struct Reach {
  double values = 0, gradient = 0;
};

TEST(FusedEngine, ShowsTheSameInsidesAsTheReference) {
  for (const RuleVariant& variant : rule_variants()) {
    for (EngineConfig config : {base_config(), decoder_config(), vit_config()}) {
      config.rule = variant.rule;
      config.rule_options = variant.options;
      config.model_options["dropout"] = 0.1;
      SCOPED_TRACE(text_of(config));
      FusedEngine fused(config);
      config.double_precision = true;
      ReferenceEngine reference(config);
      const Batch batch = random_batch(config.shape, 40, {.masked = config.model == "decoder", .asked_share = 0.7});
      const Observation mine = fused.observe(batch, 4), exact = reference.observe(batch, 4);
      EXPECT_NEAR(mine.loss, exact.loss, kAllowed * exact.loss);
      const auto own = tensors_of(mine), truth = tensors_of(exact);
      ASSERT_EQ(own.size(), truth.size());
      std::vector<Reach> reach(truth.size());
      under_rounding(reference, batch, [&](const Batch& nudged) {
        const Observation moved = reference.observe(nudged, 4);
        const auto now = tensors_of(moved);
        for (std::size_t i = 0; i < truth.size(); ++i) {
          reach[i].values = std::max(reach[i].values, distance(now[i].second->values, truth[i].second->values));
          reach[i].gradient = std::max(reach[i].gradient, distance(now[i].second->gradient, truth[i].second->gradient));
        }
      });
      for (std::size_t i = 0; i < truth.size(); ++i) {
        SCOPED_TRACE(truth[i].first);
        const ObservedTensor &a = *own[i].second, &b = *truth[i].second;
        ASSERT_EQ(a.shape, b.shape);
        EXPECT_LE(distance(a.values, b.values), std::max(kAllowed, kReaches * reach[i].values));
        EXPECT_LE(distance(a.gradient, b.gradient), std::max(kAllowed, kReaches * reach[i].gradient));
      }
    }
  }
}

TEST(FusedEngine, ContinuesACheckpointOfTheReferenceAndBack) {
  const EngineConfig config = base_config();
  FusedEngine fused(config), fused_after(config);
  ReferenceEngine reference(config), reference_after(config);
  for (std::int64_t step = 0; step < 5; ++step) {
    const Batch batch = random_batch(config.shape, 16, {.step = static_cast<std::uint64_t>(step)});
    fused.train_step(batch, {step, 1e-3});
    reference.train_step(batch, {step, 1e-3});
  }
  fused_after.import_state(reference.export_state());
  reference_after.import_state(fused.export_state());
  const Batch batch = random_batch(config.shape, 16, {.step = 9});
  const double expected = reference.train_step(batch, {5, 1e-3}).loss;
  EXPECT_NEAR(fused_after.train_step(batch, {5, 1e-3}).loss, expected, 1e-5);
  EXPECT_NEAR(reference_after.train_step(batch, {5, 1e-3}).loss, expected, 1e-4);
}

}  // namespace
}  // namespace eureka
