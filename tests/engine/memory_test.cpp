// What the fused engine takes of memory: as much as it says beforehand, linear in tokens, and the same bits whether it
// keeps attention weights or computes them again.
#include <gtest/gtest.h>

#include "base/error.h"
#include "engine/copying_sink.h"
#include "engine/fused_engine.h"
#include "engine/intervened_cases.h"
#include "engine/memory_needs.h"

namespace eureka {
namespace {

std::vector<std::vector<float>> gradients_of(const EngineConfig& config, const Batch& batch) {
  FusedEngine engine(config);
  engine.gradient(batch, 2);
  std::vector<std::vector<float>> gradients;
  for (const StateTensor& tensor : gradients_in(engine)) gradients.push_back(tensor.values);
  return gradients;
}

void expect_same_without_memory(EngineConfig config, const Batch& batch) {
  SCOPED_TRACE(text_of(config));
  const std::size_t needed = fused_memory(config, 4).activations;
  const auto kept = gradients_of(config, batch);
  config.kept_attention = 0;
  EXPECT_LT(fused_memory(config, 4).activations, needed) << "less is kept";
  EXPECT_EQ(gradients_of(config, batch), kept);
}

TEST(KeptAttention, WithoutItGradientsHaveTheSameBits) {
  for (const RuleVariant& variant : rule_variants())
    for (EngineConfig config : {base_config(), decoder_config(), everywhere_config(), vit_config()})
      for (const ScaleKind scale : {ScaleKind::fixed, ScaleKind::learned})
        for (const char* positions : {"learned", "rotary"}) {
          config.rule = variant.rule;
          config.rule_options = variant.options;
          config.scale.kind = scale;
          config.model_options["positions"] = std::string(positions);
          config.model_options["dropout"] = 0.1;
          const bool masks = config.shape.input() != InputKind::image;
          expect_same_without_memory(config, random_batch(config.shape, 20));
          if (masks) expect_same_without_memory(config, random_batch(config.shape, 20, {.masked = true}));
        }
}

TEST(KeptAttention, WithoutItInterventionsHaveTheSameBits) {
  for (EngineConfig config : {base_config(), decoder_config(), everywhere_config(), vit_config()})
    for (const HeadInterventions& change : head_interventions()) {
      config.interventions = change;
      config.scale.kind = ScaleKind::learned;
      expect_same_without_memory(config, batch_with_keys(config, 20));
    }
}

TEST(KeptAttention, WithoutItLookingInsideShowsTheSameBits) {
  for (const RuleVariant& variant : rule_variants())
    for (EngineConfig config : {base_config(), decoder_config()}) {
      config.rule = variant.rule;
      config.rule_options = variant.options;
      const Batch batch = random_batch(config.shape, 20, {.masked = true});
      for (ObservationRequest request : {everything(), ObservationRequest{.points = PointSet::all()},
                                         ObservationRequest{.points = {Point::q}, .gradients = true}}) {
        CopyingSink kept, again;
        FusedEngine(config).observe(batch, 0, request, kept);
        EngineConfig without = config;
        without.kept_attention = 0;
        FusedEngine(without).observe(batch, 0, request, again);
        EXPECT_EQ(kept.tensors, again.tensors) << text_of(config);
      }
    }
}

EngineConfig long_config(std::int64_t tokens) {
  EngineConfig config = decoder_config();
  config.shape.tokens = tokens;
  config.model_options["width"] = std::int64_t{64};
  config.model_options["heads"] = std::int64_t{4};
  return config;
}

TEST(Memory, IsLinearInTokens) {
  for (const char* model : {"decoder", "transformer"})
    for (const char* rule : {"softmax", "norm_softmax"})
      for (const FixedKind fixed : {FixedKind::none, FixedKind::uniform}) {
        const auto activations = [&](std::int64_t tokens) {
          EngineConfig config = long_config(tokens);
          config.model = model;
          config.shape.looks_ahead = model == std::string("transformer");
          config.rule = rule;
          config.interventions.attention.kind = fixed;
          return static_cast<double>(fused_memory(config, 8).activations);
        };
        // Kept weights are the most that is not: a constant beside which the rest grows.
        EXPECT_LT(activations(1024), 2.1 * activations(512) + static_cast<double>(kKeptAttention)) << model;
        EXPECT_LT(activations(4096), 4.1 * activations(1024)) << model;
      }
}

TEST(Memory, IsWhatTheEngineSaidBeforehand) {
  EngineConfig learned = decoder_config();
  learned.scale.kind = ScaleKind::learned;
  EngineConfig normed = base_config();
  normed.rule = "qk_norm";
  EngineConfig plain_sgd = base_config();
  plain_sgd.optimizer.kind = OptimizerKind::sgd;
  EngineConfig large_stem = resnet_config("resnet18");
  large_stem.shape.image = {40, 40, 3};
  large_stem.model_options["stem"] = std::string("imagenet");
  for (EngineConfig config :
       {base_config(), decoder_config(), everywhere_config(), vit_config(), mlp_config(), resnet_config(), large_stem,
        learned, normed, plain_sgd, long_config(200), long_config(1024)})
    for (const int threads : {1, 3})
      for (const std::int64_t samples : {1, 7, 130}) {
        if (config.shape.tokens > 500 && samples > 7) continue;
        config.threads = threads;
        SCOPED_TRACE(testing::Message() << text_of(config) << " threads " << threads << " samples " << samples);
        const Batch batch = random_batch(config.shape, samples);
        const MemoryNeeds needs = fused_memory(config, static_cast<std::size_t>(samples));
        const std::size_t before = Buffer::bytes_alive();
        FusedEngine engine(config);
        engine.train_step(batch, {0, 1e-3});
        engine.evaluate(batch, 0);
        const auto taken = static_cast<double>(Buffer::bytes_alive() - before);
        const auto losses = static_cast<double>(batch.samples * config.shape.labels()) * sizeof(AnswerLoss);
        EXPECT_NEAR(static_cast<double>(needs.total()), taken + losses, 0.001 * taken);
      }
}

TEST(Memory, OfThoseWhoLookIsWhatTheEngineSaidBeforehand) {
  EngineConfig normed = decoder_config();
  normed.rule = "qk_norm";
  for (EngineConfig config : {base_config(), decoder_config(), normed, long_config(300)})
    for (const std::size_t kept : {std::size_t{0}, kKeptAttention})
      for (const ObservationRequest& request :
           {everything(), ObservationRequest{.points = {Point::weights}},
            ObservationRequest{.points = {Point::v}, .gradients = true}, ObservationRequest{}}) {
        config.kept_attention = kept;
        const Batch batch = random_batch(config.shape, 3);
        FusedEngine engine(config);
        const std::size_t before = Buffer::bytes_alive();
        CopyingSink seen;
        engine.observe(batch, 0, request, seen);
        EXPECT_EQ(Buffer::bytes_alive() - before, fused_memory(config, 3, request).looking) << text_of(config);
      }
}

// Where nothing of the kind is kept, the last token of a thousand still knows of the first, and no token of a later
// one.
TEST(ManyTokens, ADecoderOfOneThousandLearnsAndLooksOnlyBack) {
  EngineConfig config = long_config(1024);
  config.model_options["depth"] = std::int64_t{1};
  ASSERT_EQ(fused_memory(config, 2).activations, [&] {
    EngineConfig without = config;
    without.kept_attention = 0;
    return fused_memory(without, 2).activations;
  }()) << "nothing is kept";
  FusedEngine engine(config);
  Batch batch = random_batch(config.shape, 2);
  std::vector<float> before, first_changed, last_changed;
  engine.predict(batch, 0, before);
  batch.ids[0] = (batch.ids[0] + 1) % 13;
  engine.predict(batch, 0, first_changed);
  batch.ids[0] = (batch.ids[0] + 12) % 13;
  batch.ids[1023] = (batch.ids[1023] + 1) % 13;
  engine.predict(batch, 0, last_changed);
  const auto row = [](const std::vector<float>& all, std::size_t token) {
    return std::vector<float>(all.begin() + static_cast<std::ptrdiff_t>(token * 11),
                              all.begin() + static_cast<std::ptrdiff_t>(token * 11 + 11));
  };
  for (const std::size_t token : {0UL, 1UL, 95UL, 96UL, 500UL, 1022UL, 1023UL}) {
    EXPECT_NE(row(before, token), row(first_changed, token)) << token;
    EXPECT_EQ(row(before, token) != row(last_changed, token), token == 1023) << token;
  }
  batch.ids[1023] = (batch.ids[1023] + 12) % 13;
  const double loss = engine.train_step(batch, {0, 3e-3}).loss;
  for (std::int64_t step = 1; step < 6; ++step) engine.train_step(batch, {step, 3e-3});
  EXPECT_LT(engine.gradient(batch, 6).loss, loss);
}

}  // namespace
}  // namespace eureka
