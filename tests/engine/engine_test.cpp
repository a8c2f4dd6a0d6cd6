#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "engine/transformer_layout.h"

namespace eureka {
namespace {

TEST(Scale, FollowsItsSchedule) {
  ScaleOptions options{.kind = ScaleKind::half_cosine, .multiple = 1, .from = 24, .to = 1};
  EXPECT_DOUBLE_EQ(scale_multiple(options, 0, 1000), 24);
  EXPECT_DOUBLE_EQ(scale_multiple(options, 250, 1000), 12.5);
  EXPECT_DOUBLE_EQ(scale_multiple(options, 500, 1000), 1);
  EXPECT_DOUBLE_EQ(scale_multiple(options, 1000, 1000), 1);
  options.kind = ScaleKind::cosine;
  EXPECT_DOUBLE_EQ(scale_multiple(options, 500, 1000), 12.5);
  options.kind = ScaleKind::linear;
  EXPECT_DOUBLE_EQ(scale_multiple(options, 250, 1000), 24 - 23 * 0.25);
  options.kind = ScaleKind::fixed;
  options.multiple = 4;
  EXPECT_DOUBLE_EQ(scale_multiple(options, 250, 1000), 4);
}

TEST(InitialValues, DependOnSeedAndNameOnly) {
  const ParameterSpec q{
      "blocks.0.attn.q.weight", {32, 32}, ParameterGroup::query_key, {Distribution::normal, 0.05}, true};
  ParameterSpec k = q;
  k.name = "blocks.0.attn.k.weight";
  EXPECT_EQ(initial_values(q, 1), initial_values(q, 1));
  EXPECT_NE(initial_values(q, 1), initial_values(q, 2));
  EXPECT_NE(initial_values(q, 1), initial_values(k, 1));
}

TEST(InitialValues, HaveTheStatedSpread) {
  const auto deviation = [](Initializer init) {
    const auto values = initial_values({"w", {400, 400}, ParameterGroup::mlp, init, true}, 4);
    double square = 0, largest = 0;
    for (const double x : values) {
      square += x * x;
      largest = std::max(largest, std::abs(x));
    }
    return std::pair{std::sqrt(square / static_cast<double>(values.size())), largest};
  };
  EXPECT_NEAR(deviation({Distribution::normal, 0.05}).first, 0.05, 0.0005);
  // A normal cut at two standard deviations has 0.8796 of its spread.
  EXPECT_NEAR(deviation({Distribution::truncated_normal, 0.02}).first, 0.02 * 0.8796, 0.0002);
  EXPECT_LE(deviation({Distribution::truncated_normal, 0.02}).second, 0.04 + 1e-6);
  EXPECT_NEAR(deviation(Initializer::uniform_fan_in(16)).first, 0.25 / std::sqrt(3.0), 0.001);
  EXPECT_LE(deviation(Initializer::uniform_fan_in(16)).second, 0.25);
}

TEST(TransformerLayout, CountsTheParametersOfThePreset) {
  const TaskShape shape{.tokens = 4, .dimension = 16, .classes = 10};
  // embedding 16*32+32, cls 32, positions 5*32, per block: 2 norms 128, qkv 3*1024, projection 1056, MLP 2112+2080,
  // then norm 64 and head 330.
  EXPECT_EQ(total_size(transformer_parameters(plan_transformer(TransformerKind::encoder, {}, 0, shape), {}, {})),
            544 + 32 + 160 + 2 * (128 + 3072 + 1056 + 4192) + 64 + 330);
}

TEST(TransformerLayout, DecayIsOnMatricesOnly) {
  TransformerOptions options;
  options.qkv_bias = true;
  const TransformerPlan plan = plan_transformer(TransformerKind::encoder, options, 0, {4, 16, 10});
  for (const ParameterSpec& spec : transformer_parameters(plan, {.kind = ScaleKind::learned}, {})) {
    const bool matrix = spec.name.ends_with(".weight") && spec.shape.size() == 2;
    EXPECT_EQ(spec.decays, matrix) << spec.name;
  }
}

TEST(TransformerLayout, StochasticDepthRisesWithDepth) {
  const TransformerOptions options{.depth = 5, .stochastic_depth = 0.1};
  EXPECT_DOUBLE_EQ(drop_path_rate(options, 0), 0);
  EXPECT_DOUBLE_EQ(drop_path_rate(options, 2), 0.05);
  EXPECT_DOUBLE_EQ(drop_path_rate(options, 4), 0.1);
}

TEST(TransformerPlan, CutsAnImageIntoPatches) {
  const TaskShape image{.classes = 10, .image = {56, 28, 3}};
  const TransformerPlan plan = plan_transformer(TransformerKind::vit, {}, 14, image);
  EXPECT_EQ(plan.given, 8);
  EXPECT_EQ(plan.tokens(), 9);
  EXPECT_EQ(plan.dimension, 14 * 14 * 3);
}

TEST(TransformerPlan, ADecoderHasNoClsToken) {
  const TaskShape text{.tokens = 31, .classes = 16, .vocabulary = 40, .every_position = true};
  const TransformerPlan plan = plan_transformer(TransformerKind::decoder, {}, 0, text);
  EXPECT_EQ(plan.tokens(), 31);
  for (const ParameterSpec& spec : transformer_parameters(plan, {}, {})) {
    EXPECT_NE(spec.name, "cls");
    EXPECT_NE(spec.name, "embed.bias");
    if (spec.name == "embed.weight") {
      EXPECT_EQ(spec.shape, (std::vector<std::int64_t>{40, 32}));
    }
  }
}

TEST(TransformerPlan, RefusesWhatDoesNotFit) {
  const TaskShape vectors{4, 16, 10}, image{.classes = 10, .image = {56, 56, 3}};
  const TaskShape every{.tokens = 4, .dimension = 3, .classes = 2, .every_position = true};
  const auto refused = [](TransformerKind kind, const TransformerOptions& options, int patch, const TaskShape& shape) {
    try {
      plan_transformer(kind, options, patch, shape);
    } catch (const Error& error) {
      return error.kind() == ErrorKind::config && !error.hint().empty();
    }
    return false;
  };
  TransformerOptions uneven;
  uneven.width = 30;
  uneven.heads = 4;
  EXPECT_TRUE(refused(TransformerKind::encoder, uneven, 0, vectors));
  EXPECT_TRUE(refused(TransformerKind::encoder, {}, 0, image));
  EXPECT_TRUE(refused(TransformerKind::encoder, {}, 0, every));
  EXPECT_TRUE(refused(TransformerKind::decoder, {}, 0, vectors));
  TaskShape ahead = every;
  ahead.looks_ahead = true;
  EXPECT_FALSE(refused(TransformerKind::decoder, {}, 0, every));
  EXPECT_TRUE(refused(TransformerKind::decoder, {}, 0, ahead));
  EXPECT_FALSE(refused(TransformerKind::encoder, {}, 0, ahead));
  TransformerOptions odd;
  odd.width = 6;
  odd.heads = 2;
  odd.positions = Positions::rotary;
  EXPECT_TRUE(refused(TransformerKind::encoder, odd, 0, vectors)) << "heads of three have no pairs";
  TransformerOptions tied;
  tied.tied_head = true;
  const TaskShape own_ids{.tokens = 4, .classes = 5, .vocabulary = 5, .every_position = true};
  EXPECT_FALSE(refused(TransformerKind::decoder, tied, 0, own_ids));
  EXPECT_TRUE(refused(TransformerKind::decoder, tied, 0, every));
  EXPECT_TRUE(refused(TransformerKind::encoder, tied, 0, vectors));
  EXPECT_TRUE(refused(TransformerKind::vit, {}, 7, vectors));
  EXPECT_TRUE(refused(TransformerKind::vit, {}, 9, image));
  EXPECT_FALSE(refused(TransformerKind::vit, {}, 7, image));
}

}  // namespace
}  // namespace eureka
