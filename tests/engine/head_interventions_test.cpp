// What is done to heads in the fused engine: when, to whom, and what it leaves alone. tests/nn compares the gradients
// with those of the reference engine.
#include "engine/head_interventions.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "engine/copying_sink.h"
#include "engine/fused_engine.h"
#include "engine/intervened_cases.h"

namespace eureka {
namespace {

std::vector<EngineConfig> models() {
  EngineConfig biased = base_config();
  biased.model_options["qkv_bias"] = true;
  EngineConfig learned = decoder_config();
  learned.scale.kind = ScaleKind::learned;
  EngineConfig normed = base_config();
  normed.rule = "qk_norm";
  return {base_config(), biased, learned, vit_config(), normed};
}

std::vector<std::vector<float>> gradients_of(const EngineConfig& config, const Batch& batch, std::int64_t step) {
  FusedEngine engine(config);
  engine.gradient(batch, step);
  std::vector<std::vector<float>> gradients;
  for (const StateTensor& tensor : gradients_in(engine)) gradients.push_back(tensor.values);
  return gradients;
}

TEST(HeadInterventions, AreInForceAtTheirStepsOnly) {
  for (EngineConfig config : models()) {
    const Batch batch = batch_with_keys(config, 40);
    const auto plain = gradients_of(config, batch, 20);
    for (HeadInterventions change : head_interventions()) {
      for (const auto& [during, in_force] : {std::pair{StepInterval{20, 21}, true},
                                             {StepInterval{0, 0}, true},
                                             {StepInterval{21, 0}, false},
                                             {StepInterval{0, 20}, false}}) {
        change.scale.during = change.attention.during = during;
        config.interventions = change;
        EXPECT_EQ(gradients_of(config, batch, 20) != plain, in_force) << text_of(config);
      }
    }
  }
}

TEST(HeadInterventions, BitsDoNotDependOnThreads) {
  for (EngineConfig config : models())
    for (const HeadInterventions& change : head_interventions()) {
      config.interventions = change;
      const Batch batch = batch_with_keys(config, 130);
      config.threads = 1;
      const auto one = gradients_of(config, batch, 3);
      config.threads = 3;
      EXPECT_EQ(gradients_of(config, batch, 3), one) << text_of(config);
    }
}

TEST(HeadInterventions, AFactorOnAllHeadsIsAnotherScale) {
  for (EngineConfig config : models()) {
    if (config.scale.kind == ScaleKind::learned) continue;
    const Batch batch = random_batch(config.shape, 40);
    EngineConfig scaled = config;
    scaled.scale.multiple = 3;
    config.interventions.scale.factor = 3;
    EXPECT_EQ(gradients_of(config, batch, 0), gradients_of(scaled, batch, 0)) << text_of(config);
  }
}

// Rows that belong to one head.
std::vector<float> head_part(const std::vector<float>& matrix, std::size_t heads, std::size_t head) {
  const std::size_t size = matrix.size() / heads;
  const auto begin = matrix.begin() + static_cast<std::ptrdiff_t>(head * size);
  return {begin, begin + static_cast<std::ptrdiff_t>(size)};
}

TEST(HeadInterventions, FixedHeadsGiveNoGradientToWhatTheirWeightsAreMadeOf) {
  const auto is_zero = [](const std::vector<float>& values) {
    return std::all_of(values.begin(), values.end(), [](float value) { return value == 0; });
  };
  for (EngineConfig config : models()) {
    for (const FixedKind kind : {FixedKind::uniform, FixedKind::wanted}) {
      config.interventions.attention = {kind, {{}, {1}}, {}};
      FusedEngine engine(config);
      engine.gradient(batch_with_keys(config, 40), 0);
      for (const StateTensor& tensor : gradients_in(engine)) {
        const auto is = [&](const char* part) { return tensor.name.find(part) != std::string::npos; };
        if (is("attn.q.") || is("attn.k.") || is("log_scale")) {
          EXPECT_TRUE(is_zero(head_part(tensor.values, 2, 1))) << tensor.name;
          // A key's bias shifts a row of logits as a whole.
          EXPECT_TRUE(!is_zero(head_part(tensor.values, 2, 0)) || is("k.bias")) << tensor.name;
        }
        if (is("attn.v.")) {
          EXPECT_FALSE(is_zero(head_part(tensor.values, 2, 1))) << tensor.name;
        }
      }
    }
  }
}

TEST(HeadInterventions, AreSeenByWhoLooksInside) {
  EngineConfig config = base_config();  // a cls token, then four given ones
  config.interventions.scale = {2, {{1}, {0}}, {}};
  config.interventions.attention = {FixedKind::wanted, {{0}, {1}}, {}};
  Batch batch = random_batch(config.shape, 2);
  batch.visible = {1, 1, 1, 1, 1, 1, 0, 1};
  batch.wanted = {0, 1, 0, 1, 0, 0, 1, 0};  // what the second sample wants is hidden
  FusedEngine engine(config);
  CopyingSink seen;
  engine.observe(batch, 0, {.points = {Point::weights, Point::logits}, .gradients = true}, seen);
  const float quarter = 0.25F;
  const std::vector<float> rows[2] = {{0, 0, 0.5F, 0, 0.5F}, {quarter, quarter, quarter, 0, quarter}};
  const std::vector<float>& weights = seen.tensors.at("weights of layer 0");
  const std::vector<float>& d_logits = seen.tensors.at("gradient by logits of layer 0");
  const std::vector<float>& d_weights = seen.tensors.at("gradient by weights of layer 0");
  for (std::size_t s = 0; s < 2; ++s)
    for (std::size_t query = 0; query < 5; ++query)
      for (std::size_t key = 0; key < 5; ++key) {
        const std::size_t at = ((s * 2 + 1) * 5 + query) * 5 + key;
        EXPECT_EQ(weights[at], rows[s][key]);
        EXPECT_EQ(d_logits[at], 0);
        EXPECT_TRUE(d_weights[at] != 0 || query > 0) << "the cls token's row matters to the loss";
      }
  const float root = 1 / std::sqrt(16.0F);
  EXPECT_EQ(seen.tensors.at("scale of layer 0"), (std::vector<float>{root, root}));
  EXPECT_EQ(seen.tensors.at("scale of layer 1"), (std::vector<float>{2 * root, root}));
}

TEST(HeadInterventions, ADecoderWantsKeysOfEveryAnswerAndSeesNoneThatComesLater) {
  EngineConfig config = decoder_config();
  config.shape.tokens = 3;
  config.interventions.attention = {FixedKind::wanted, {}, {}};
  Batch batch = random_batch(config.shape, 1);
  batch.wanted = {0, 0, 1,   // later: all it sees, itself
                  1, 0, 1,   // the first
                  0, 1, 1};  // the last two
  FusedEngine engine(config);
  CopyingSink seen;
  engine.observe(batch, 0, {.points = {Point::weights}}, seen);
  const std::vector<float> rows = {1, 0, 0, 1, 0, 0, 0, 0.5F, 0.5F};
  for (const std::string layer : {"0", "1"}) {
    const std::vector<float>& weights = seen.tensors.at("weights of layer " + layer);
    for (std::size_t i = 0; i < weights.size(); ++i) EXPECT_EQ(weights[i], rows[i % 9]);
  }
}

TEST(HeadInterventions, ABatchThatNamesNoKeysIsABugOfTheCaller) {
  EngineConfig config = base_config();
  config.interventions.attention = {FixedKind::wanted, {}, {5, 0}};
  FusedEngine engine(config);
  const Batch batch = random_batch(config.shape, 2);
  EXPECT_NO_THROW(engine.evaluate(batch, 4));
  EXPECT_ANY_THROW(engine.evaluate(batch, 5));
}

}  // namespace
}  // namespace eureka
