// The fused engine against the reference engine: same parameters, same curves, same checkpoints, same insides.
#include "engine/fused_engine.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "engine/copying_sink.h"
#include "engine/intervened_cases.h"
#include "nn/reference_engine.h"
#include "nn/rounding.h"

namespace eureka {
namespace {

void expect_same_parameters(const EngineConfig& config) {
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

TEST(FusedEngine, ParametersAreThoseOfTheReference) {
  for (const RuleVariant& variant : rule_variants()) {
    for (EngineConfig config : {base_config(), decoder_config(), everywhere_config(), vit_config()}) {
      config.rule = variant.rule;
      config.rule_options = variant.options;
      config.scale.kind = ScaleKind::learned;
      expect_same_parameters(config);
    }
  }
  for (const EngineConfig& config : {mlp_config(), resnet_config("resnet9"), resnet_config("resnet18")})
    expect_same_parameters(config);
}

void expect_same_curve(EngineConfig config, std::int64_t steps = 200) {
  config.clip = 1;
  config.total_steps = steps;
  config.model_options["dropout"] = 0.1;
  config.lr_multiplier.factor[static_cast<std::size_t>(ParameterGroup::embedding)] = 0.3;
  FusedEngine fused(config);
  ReferenceEngine reference(config);
  double mine = 0, exact = 0, first = 0;
  for (std::int64_t step = 0; step < steps; ++step) {
    const Batch batch = random_batch(config.shape, 32, {.step = static_cast<std::uint64_t>(step % 10)});
    mine = fused.train_step(batch, {step, 1e-3}).loss;
    exact = reference.train_step(batch, {step, 1e-3}).loss;
    if (step == 0) first = exact;
    ASSERT_NEAR(mine, exact, 1e-3 * exact) << "step " << step;
  }
  EXPECT_LT(exact, first);
}

TEST(FusedEngine, TrainsAlongTheSameCurveWithEveryOptimizer) {
  for (const OptimizerKind kind : {OptimizerKind::adamw, OptimizerKind::adam, OptimizerKind::sgd}) {
    EngineConfig config = base_config();
    config.optimizer.kind = kind;
    expect_same_curve(config);
  }
}

TEST(FusedEngine, TrainsAlongTheSameCurveWithEveryModel) {
  expect_same_curve(decoder_config());
  expect_same_curve(vit_config());
  expect_same_curve(mlp_config());
  // Rectified units that differ in sign soon make another curve.
  expect_same_curve(resnet_config(), 40);
  EngineConfig regression = decoder_config();
  regression.shape.loss = LossKind::squared;
  expect_same_curve(regression);
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

TEST(FusedEngine, ShowsTheSameInsidesAsTheReference) {
  for (const RuleVariant& variant : rule_variants()) {
    for (EngineConfig config : {base_config(), decoder_config(), everywhere_config(), vit_config()}) {
      config.rule = variant.rule;
      config.rule_options = variant.options;
      config.model_options["dropout"] = 0.1;
      config.scale.kind = ScaleKind::learned;
      config.scale.multiple = 1.5;
      SCOPED_TRACE(text_of(config));
      FusedEngine fused(config);
      config.double_precision = true;
      ReferenceEngine reference(config);
      const Batch batch = random_batch(config.shape, 40, {.masked = config.model == "decoder", .asked_share = 0.7});
      CopyingSink mine, exact;
      fused.observe(batch, 4, everything(), mine);
      reference.observe(batch, 4, everything(), exact);
      std::map<std::string, double> reach;
      under_rounding(reference, batch, [&](const Batch& nudged) {
        CopyingSink moved;
        reference.observe(nudged, 4, everything(), moved);
        for (const auto& [name, values] : exact.tensors)
          reach[name] = std::max(reach[name], distance(moved.tensors[name], values));
      });
      // Two values and gradients of seven points (nine with QK-norm) in two layers and of the last residual, mask,
      // scale, parameters.
      const std::size_t points = make_fused_rule(config.rule, config.rule_options).head_norm ? 9 : 7;
      EXPECT_EQ(exact.tensors.size(), 2 * (2 * points + 1) + 2 * 2 + 2 * fused.parameters().size());
      ASSERT_EQ(mine.tensors.size(), exact.tensors.size());
      for (const auto& [name, values] : exact.tensors) {
        SCOPED_TRACE(name);
        ASSERT_EQ(mine.tensors[name].size(), values.size());
        EXPECT_LE(distance(mine.tensors[name], values), std::max(kAllowed, kReaches * reach[name]));
      }
    }
  }
}

TEST(FusedEngine, ShowsHeadsThatAreScaledOrFixedAsTheReferenceDoes) {
  for (const HeadInterventions& change : head_interventions())
    for (EngineConfig config : {base_config(), decoder_config(), everywhere_config(), vit_config()}) {
      config.interventions = change;
      SCOPED_TRACE(text_of(config));
      FusedEngine fused(config);
      config.double_precision = true;
      ReferenceEngine reference(config);
      const Batch batch = batch_with_keys(config, 12, {.masked = config.model == "decoder"});
      CopyingSink mine, exact;
      for (const std::int64_t samples : {0, 5}) {
        fused.observe(batch, 4, {.points = PointSet::all(), .samples = samples, .gradients = true}, mine);
        reference.observe(batch, 4, {.points = PointSet::all(), .samples = samples, .gradients = true}, exact);
      }
      for (const auto& [name, values] : exact.tensors) EXPECT_LE(distance(mine.tensors[name], values), 1e-4) << name;
      std::vector<float> predicted, truth;
      fused.predict(batch, 4, predicted);
      reference.predict(batch, 4, truth);
      EXPECT_LE(distance(predicted, truth), kAllowed);
    }
}

// Gradients by a few samples' tensors are still those of the whole batch's loss.
TEST(FusedEngine, AFewSamplesLookAsTheyDoAmongAll) {
  for (EngineConfig config : {base_config(), decoder_config()}) {
    FusedEngine fused(config);
    config.double_precision = true;
    ReferenceEngine reference(config);
    for (Engine* engine : {static_cast<Engine*>(&fused), static_cast<Engine*>(&reference)}) {
      const Batch batch = random_batch(config.shape, 40, {.masked = config.model == "decoder", .asked_share = 0.7});
      CopyingSink all, few;
      engine->observe(batch, 4, {.points = PointSet::all(), .gradients = true}, all);
      engine->observe(batch, 4, {.points = PointSet::all(), .samples = 7, .gradients = true}, few);
      ASSERT_EQ(few.tensors.size(), all.tensors.size());
      for (auto& [name, values] : all.tensors) {
        SCOPED_TRACE(engine->name() + ": " + name);
        if (!name.starts_with("scale")) values.resize(values.size() / 40 * 7);
        ASSERT_EQ(few.tensors[name].size(), values.size());
        EXPECT_LE(distance(few.tensors[name], values), kAllowed);
      }
    }
  }
}

TEST(FusedEngine, ShowsNothingThatNobodyAskedFor) {
  const EngineConfig config = base_config();
  FusedEngine fused(config);
  ReferenceEngine reference(config);
  for (Engine* engine : {static_cast<Engine*>(&fused), static_cast<Engine*>(&reference)}) {
    CopyingSink sink;
    engine->observe(random_batch(config.shape, 5), 0, {.points = {Point::weights}, .layers = {1}}, sink);
    std::vector<std::string> names;
    for (const auto& [name, values] : sink.tensors) names.push_back(name);
    EXPECT_EQ(names, (std::vector<std::string>{"mask of layer 1", "scale of layer 1", "weights of layer 1"}))
        << engine->name();
  }
}

// What ranks that share a batch do: each its part over the denominator of the whole, then the sum.
TEST(FusedEngine, GradientsOfPartsAddUpToThatOfTheWhole) {
  for (EngineConfig config : {base_config(), decoder_config()}) {
    FusedEngine fused(config);
    ReferenceEngine reference(config);
    for (Engine* engine : {static_cast<Engine*>(&fused), static_cast<Engine*>(&reference)}) {
      const BatchOptions options{.asked_share = config.shape.every_position ? 0.6 : 1.0};
      const Batch first = random_batch(config.shape, 12, options);
      Batch second = random_batch(config.shape, 20, {.asked_share = options.asked_share, .step = 1});
      Batch both = first;
      both.samples += second.samples;
      both.inputs.insert(both.inputs.end(), second.inputs.begin(), second.inputs.end());
      both.ids.insert(both.ids.end(), second.ids.begin(), second.ids.end());
      both.labels.insert(both.labels.end(), second.labels.begin(), second.labels.end());
      both.asked.insert(both.asked.end(), second.asked.begin(), second.asked.end());
      const auto asked =
          static_cast<std::int64_t>(both.asked_count(static_cast<std::size_t>(both.samples * config.shape.labels())));
      const auto gradient = [&](const Batch& batch, std::int64_t denominator, double& loss) {
        loss += engine->gradient(batch, 0, denominator).loss;
        const std::span<float> flat = engine->flat_gradient().floats();
        return std::vector<float>(flat.begin(), flat.end());
      };
      double whole_loss = 0, sum_of_losses = 0;
      const std::vector<float> whole = gradient(both, 0, whole_loss);
      std::vector<float> sum = gradient(first, asked, sum_of_losses);
      const std::vector<float> rest = gradient(second, asked, sum_of_losses);
      for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += rest[i];
      EXPECT_NEAR(sum_of_losses, whole_loss, 1e-6 * whole_loss) << engine->name();
      EXPECT_LE(distance(sum, whole), 1e-6) << engine->name();
    }
  }
}

// The layout that flat_gradient() states is the one that the next update goes by.
TEST(FusedEngine, AGradientThatIsSetToZeroMovesNothing) {
  EngineConfig config = base_config();
  config.optimizer = {.kind = OptimizerKind::sgd, .momentum = 0, .weight_decay = 0};
  FusedEngine fused(config);
  ReferenceEngine reference(config);
  for (Engine* engine : {static_cast<Engine*>(&fused), static_cast<Engine*>(&reference)}) {
    const EngineState before = engine->export_state();
    engine->gradient(random_batch(config.shape, 12), 0);
    const FlatGradient flat = engine->flat_gradient();
    ASSERT_EQ(flat.parts.size(), engine->parameters().size());
    for (std::size_t i = 0; i < flat.parts.size(); ++i) {
      if (engine->parameters()[i].name == "head.weight") continue;
      const ParameterPart& part = flat.parts[i];
      for (std::size_t row = 0; row < part.rows; ++row)
        std::fill_n(flat.floats().data() + part.offset + row * part.stride, part.columns, 0.0F);
    }
    engine->update({.step = 0, .lr = 0.1});
    const EngineState after = engine->export_state();
    for (std::size_t i = 0; i < after.model.size(); ++i)
      EXPECT_EQ(after.model[i].values == before.model[i].values, after.model[i].name != "head.weight")
          << engine->name() << " " << after.model[i].name;
  }
}

TEST(FusedEngine, FixedHeadsGiveNoGradientToQueriesAndKeysInEitherEngine) {
  for (EngineConfig config : {base_config(), decoder_config(), everywhere_config(), vit_config()}) {
    config.interventions.attention = {FixedKind::wanted, {{1}, {0}}, {}};
    FusedEngine fused(config);
    ReferenceEngine reference(config);
    for (Engine* engine : {static_cast<Engine*>(&fused), static_cast<Engine*>(&reference)}) {
      engine->gradient(batch_with_keys(config, 12), 0);
      for (const StateTensor& tensor : gradients_in(*engine)) {
        const bool fixed = tensor.name == "blocks.1.attn.q.weight" || tensor.name == "blocks.1.attn.k.weight";
        // Two heads: rows of the first come first.
        const auto half = tensor.values.begin() + static_cast<std::ptrdiff_t>(tensor.values.size() / 2);
        const auto is_zero = [](float value) { return value == 0; };
        EXPECT_EQ(std::all_of(tensor.values.begin(), half, is_zero), fixed) << engine->name() << " " << tensor.name;
        EXPECT_FALSE(std::all_of(half, tensor.values.end(), is_zero)) << engine->name() << " " << tensor.name;
      }
    }
  }
}

TEST(FusedEngine, ParametersThatRestKeepTheirValuesAndTheirOptimizer) {
  for (const OptimizerKind kind : {OptimizerKind::sgd, OptimizerKind::adam, OptimizerKind::adamw}) {
    EngineConfig config = base_config();
    config.optimizer.kind = kind;
    FusedEngine fused(config);
    ReferenceEngine reference(config);
    for (Engine* engine : {static_cast<Engine*>(&fused), static_cast<Engine*>(&reference)}) {
      std::vector<std::uint8_t> frozen;
      for (const ParameterSpec& spec : engine->parameters())
        frozen.push_back(spec.group == ParameterGroup::query_key ? 1 : 0);
      const Batch batch = random_batch(config.shape, 12);
      engine->train_step(batch, {.step = 0, .lr = 0.1});
      const EngineState before = engine->export_state();
      engine->train_step(batch, {.step = 1, .lr = 0.1, .frozen = frozen});
      const EngineState after = engine->export_state();
      const auto rests = [](const std::string& name) {
        return name.find("attn.q.") != std::string::npos || name.find("attn.k.") != std::string::npos;
      };
      for (std::size_t i = 0; i < after.model.size(); ++i)
        EXPECT_EQ(after.model[i].values == before.model[i].values, rests(after.model[i].name)) << after.model[i].name;
      for (std::size_t i = 0; i < after.optimizer.size(); ++i)
        EXPECT_EQ(after.optimizer[i].values == before.optimizer[i].values, rests(after.optimizer[i].name))
            << after.optimizer[i].name;
      struct Updates final : ObservationSink {
        void see(const ObservationView&) override {}
        void see_parameter(const ParameterView& view) override {
          moved[view.spec->name] = std::any_of(view.update, view.update + view.columns, [](float x) { return x != 0; });
        }
        std::map<std::string, bool> moved;
      } updates;
      engine->observe(batch, 2,
                      {.parameters = ParameterGradients::own_pass,
                       .last_update = LastUpdate{.step = 1, .lr = 0.1, .frozen = frozen}},
                      updates);
      for (const auto& [name, moved] : updates.moved) EXPECT_NE(moved, rests(name)) << name << " as one looks back";
    }
  }
}

TEST(FusedEngine, PredictsWhatTheReferencePredicts) {
  for (const EngineConfig& config : {base_config(), decoder_config(), vit_config(), mlp_config(), resnet_config()}) {
    FusedEngine fused(config);
    ReferenceEngine reference(config);
    Batch batch = random_batch(config.shape, 40);
    const Evaluation evaluation = fused.evaluate(batch, 3);
    std::vector<float> mine, exact;
    const std::vector<std::int64_t> labels = batch.labels;
    batch.labels.clear();
    fused.predict(batch, 3, mine);
    reference.predict(batch, 3, exact);
    ASSERT_EQ(mine.size(), labels.size() * static_cast<std::size_t>(config.shape.classes));
    ASSERT_EQ(mine.size(), exact.size());
    EXPECT_LE(distance(mine, exact), kAllowed);
    double right = 0;
    for (std::size_t i = 0; i < labels.size(); ++i) {
      const auto row = mine.begin() + static_cast<std::ptrdiff_t>(i) * config.shape.classes;
      right += std::max_element(row, row + config.shape.classes) - row == labels[i] ? 1 : 0;
    }
    EXPECT_DOUBLE_EQ(right / static_cast<double>(labels.size()), evaluation.accuracy);
  }
}

TEST(FusedEngine, ContinuesACheckpointOfTheReferenceAndBack) {
  for (const EngineConfig& config : {base_config(), mlp_config(), resnet_config("resnet18")}) {
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
}

}  // namespace
}  // namespace eureka
