// Every diagnostic says the same of both engines.
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "diagnostics/diagnostic_set.h"
#include "engine/fused_cases.h"
#include "engine/fused_engine.h"
#include "nn/reference_engine.h"
#include "nn/rounding.h"
#include "tasks/task.h"

namespace eureka {
namespace {

std::map<std::string, double> look(Engine& engine, const Batch& batch, std::int64_t step, const Task* task = nullptr) {
  DiagnosticSet set;
  for (const std::string& name : Registry<Diagnostic>::instance().names())
    set.add(name, Registry<Diagnostic>::instance().make(name));
  const NamedNumbers numbers = set.look(engine, {.batch = batch, .step = step, .samples = 16, .task = task}).numbers;
  return {numbers.begin(), numbers.end()};
}

TEST(FusedDiagnostics, AgreeWithThoseOfTheReferenceInDouble) {
  for (const RuleVariant& variant : rule_variants()) {
    for (EngineConfig config : {base_config(), decoder_config(), everywhere_config(), vit_config()}) {
      config.rule = variant.rule;
      config.rule_options = variant.options;
      config.scale.kind = ScaleKind::half_cosine;
      SCOPED_TRACE(text_of(config));
      FusedEngine fused(config);
      config.double_precision = true;
      ReferenceEngine reference(config);
      const Batch batch = random_batch(config.shape, 40, {.masked = config.model == "decoder"});
      const auto mine = look(fused, batch, 4), exact = look(reference, batch, 4);
      std::map<std::string, double> reach;
      under_rounding(reference, batch, [&](const Batch& nudged) {
        for (const auto& [name, value] : look(reference, nudged, 4))
          if (exact.contains(name)) reach[name] = std::max(reach[name], std::abs(value - exact.at(name)));
      });
      ASSERT_EQ(mine.size(), exact.size());
      for (const auto& [name, value] : exact) {
        ASSERT_TRUE(mine.contains(name)) << name;
        EXPECT_NEAR(mine.at(name), value, kAllowed * std::max(1.0, std::abs(value)) + kReaches * reach[name]) << name;
      }
    }
  }
}

// When nothing is learned (preset two-step, seed 1): attention is flat.
TEST(FusedDiagnostics, FirstValuesOfTwoStepAreThoseOfTheReferenceInDouble) {
  const auto task = Registry<Task>::instance().make("two-step");
  Batch batch;
  task->sample({.seed = 1, .stream = "train", .step = 0, .samples = 128}, batch);
  EngineConfig config;
  config.shape = task->shape();
  config.model_options = {{"width", std::int64_t{32}},
                          {"depth", std::int64_t{2}},
                          {"heads", std::int64_t{2}},
                          {"mlp_ratio", 2.0},
                          {"init.weights", 0.05}};
  config.seed = 1;
  FusedEngine fused(config);
  config.double_precision = true;
  ReferenceEngine reference(config);
  const std::map<std::string, double> mine = look(fused, batch, 0, task.get()),
                                      exact = look(reference, batch, 0, task.get());
  const std::map<std::string, double> known = {{"attention/entropy/layer0", 0.9988246},
                                               {"attention/entropy/layer1", 0.9986213},
                                               {"attention/largest_weight/layer0", 0.2159969},
                                               {"attention/largest_weight/layer1", 0.2171170},
                                               {"attention/logit_deviation/layer0", 0.05723838},
                                               {"attention/logit_deviation/layer1", 0.06093370},
                                               {"attention/logit_max/layer0", 0.2371872},
                                               {"attention/logit_max/layer1", 0.2634204},
                                               {"attention/q_norm/layer0", 1.136241},
                                               {"attention/q_norm/layer1", 1.129617},
                                               {"attention/k_norm/layer0", 1.091446},
                                               {"attention/k_norm/layer1", 1.149359},
                                               {"attention/v_norm/layer0", 1.019965},
                                               {"attention/v_norm/layer1", 1.187602}};
  for (const auto& [name, value] : known) {
    EXPECT_NEAR(exact.at(name), value, 1e-6 * value) << name;
    EXPECT_NEAR(mine.at(name), value, 1e-5 * value) << name;
  }
}

}  // namespace
}  // namespace eureka
