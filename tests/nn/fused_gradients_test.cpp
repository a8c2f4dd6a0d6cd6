// Every gradient of the fused engine against autograd in float64.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "engine/fused_engine.h"
#include "engine/intervened_cases.h"
#include "nn/reference_engine.h"
#include "nn/rounding.h"

namespace eureka {
namespace {

// Some gradients are zero or nearly so by symmetry (a key's bias under softmax, W_Q under NormSoftmax of two keys);
// their errors count against this share of the whole gradient: in all, four units in its last float32 place.
constexpr double kFloor = 0.05;
// Tensors that so many reaches of rounding carry beyond kAllowed count as ill-conditioned.
constexpr double kTypicalReaches = 2;

// Scales and gains start at one or zero; move every parameter off its special value.
EngineState moved(EngineState state) {
  for (StateTensor& tensor : state.model) {
    RandomStream random(11, tensor.name);
    for (float& value : tensor.values) value += 0.1F * random.normal();
  }
  return state;
}

std::vector<at::Tensor> gradients_of(ReferenceEngine& engine, const Batch& batch, std::int64_t step) {
  engine.gradient(batch, step);
  ParameterSet& parameters = engine.parameter_set();
  std::vector<at::Tensor> result;
  for (std::size_t i = 0; i < parameters.specs().size(); ++i)
    result.push_back(parameters.part(parameters.gradients(), i).clone());
  return result;
}

// How far each exact gradient moves when parameters and inputs are rounded, the largest of a few draws.
std::vector<double> rounding_reach(ReferenceEngine& exact, const Batch& batch, std::int64_t step,
                                   const std::vector<at::Tensor>& truth) {
  std::vector<double> reach(truth.size());
  under_rounding(exact, batch, [&](const Batch& nudged) {
    const std::vector<at::Tensor> now = gradients_of(exact, nudged, step);
    for (std::size_t i = 0; i < truth.size(); ++i)
      reach[i] = std::max(reach[i], (now[i] - truth[i]).norm().item<double>());
  });
  return reach;
}

struct Agreement {
  int tensors = 0;
  int beyond = 0;  // further from the truth than kAllowed, though within the reach of rounding
  int beyond_of_autograd = 0;
  int ill_conditioned = 0;                            // where that is to be expected
  double log_errors = 0, log_errors_of_autograd = 0;  // autograd in float32, as PyTorch users have it

  Agreement& operator+=(const Agreement& other) {
    tensors += other.tensors;
    beyond += other.beyond;
    beyond_of_autograd += other.beyond_of_autograd;
    ill_conditioned += other.ill_conditioned;
    log_errors += other.log_errors;
    log_errors_of_autograd += other.log_errors_of_autograd;
    return *this;
  }
};

Agreement expect_same_gradients(EngineConfig config, const Batch& batch, std::int64_t step) {
  SCOPED_TRACE(text_of(config) + " samples " + std::to_string(batch.samples) +
               (batch.visible.empty() ? "" : " masked"));
  FusedEngine fused(config);
  config.threads = 1;  // Those of libtorch wait for each other in busy loops: minutes where others work, too.
  ReferenceEngine single(config);
  config.double_precision = true;
  ReferenceEngine exact(config);
  const EngineState state = moved(fused.export_state());
  fused.import_state(state);
  exact.import_state(state);
  single.import_state(state);

  const Evaluation quick = fused.evaluate(batch, step), slow = exact.evaluate(batch, step);
  EXPECT_NEAR(quick.loss, slow.loss, 1e-5 * std::abs(slow.loss));
  EXPECT_NEAR(quick.accuracy, slow.accuracy, 1e-5 * (1 + std::abs(slow.accuracy)));

  const StepResult mine = fused.gradient(batch, step);
  const StepResult result = exact.gradient(batch, step);
  EXPECT_NEAR(mine.loss, result.loss, 1e-5 * std::abs(result.loss));
  const std::vector<at::Tensor> truth = gradients_of(exact, batch, step);
  const std::vector<double> reach = rounding_reach(exact, batch, step, truth);
  const double norm_reach = std::sqrt(std::inner_product(reach.begin(), reach.end(), reach.begin(), 0.0));
  EXPECT_NEAR(mine.gradient_norm, result.gradient_norm,
              std::max(kAllowed * result.gradient_norm, kReaches * norm_reach));
  const std::vector<StateTensor> gradients = gradients_in(fused);
  const std::vector<at::Tensor> rounded = gradients_of(single, batch, step);
  Agreement agreement;
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    const at::Tensor own = at::tensor(gradients[i].values, at::kFloat).to(at::kDouble).view(truth[i].sizes());
    const double size = std::max(truth[i].norm().item<double>(), kFloor * result.gradient_norm);
    const double error = (own - truth[i]).norm().item<double>() / size;
    const double allowed = std::max(kAllowed, kReaches * reach[i] / size);
    EXPECT_LE(error, allowed) << gradients[i].name << ", rounding reaches " << reach[i] / size;
    ++agreement.tensors;
    if (error > kAllowed) ++agreement.beyond;
    if (kTypicalReaches * reach[i] / size > kAllowed) ++agreement.ill_conditioned;
    const auto log_of = [](double x) { return std::log(std::max(x, 1e-12)); };
    agreement.log_errors += log_of(error);
    const double error_of_autograd = (rounded[i].to(at::kDouble) - truth[i]).norm().item<double>() / size;
    agreement.log_errors_of_autograd += log_of(error_of_autograd);
    if (error_of_autograd > kAllowed) ++agreement.beyond_of_autograd;
  }
  return agreement;
}

void expect_as_exact_as_autograd(const Agreement& total, double most_typical) {
  testing::Test::RecordProperty("tensors", total.tensors);
  testing::Test::RecordProperty("beyond", total.beyond);
  testing::Test::RecordProperty("beyond_of_autograd", total.beyond_of_autograd);
  testing::Test::RecordProperty("ill_conditioned", total.ill_conditioned);
  EXPECT_LE(total.beyond, total.ill_conditioned) << "of " << total.tensors;
  const double typical = std::exp(total.log_errors / total.tensors);
  const double of_autograd = std::exp(total.log_errors_of_autograd / total.tensors);
  testing::Test::RecordProperty("typical", std::to_string(1e7 * typical) + "e-7");
  testing::Test::RecordProperty("typical_of_autograd", std::to_string(1e7 * of_autograd) + "e-7");
  EXPECT_LT(typical, most_typical);
  EXPECT_LT(typical, 1.3 * of_autograd) << "as exact as autograd in float32";
}

TEST(FusedGradients, AgreeForEveryRuleScaleAndModel) {
  for (const RuleVariant& variant : rule_variants()) {
    for (const ScaleKind kind : {ScaleKind::fixed, ScaleKind::learned, ScaleKind::half_cosine}) {
      for (EngineConfig config : {base_config(), decoder_config(), vit_config()}) {
        config.rule = variant.rule;
        config.rule_options = variant.options;
        config.scale = {.kind = kind, .multiple = 1.5, .from = 3, .to = 1};
        expect_same_gradients(config, random_batch(config.shape, 5), 20);
      }
    }
  }
}

TEST(FusedGradients, AgreeForOtherNumbersThanTheDefaults) {
  for (const RuleVariant& variant : number_variants()) {
    for (EngineConfig config : {base_config(), decoder_config()}) {
      config.rule = variant.rule;
      config.rule_options = variant.options;
      expect_same_gradients(config, random_batch(config.shape, 5), 20);
    }
  }
}

TEST(FusedGradients, AgreeUnderMasks) {
  for (const RuleVariant& variant : rule_variants()) {
    for (EngineConfig config : {base_config(), decoder_config(), everywhere_config()}) {
      for (const bool biased : {false, true}) {
        config.rule = variant.rule;
        config.rule_options = variant.options;
        config.model_options["qkv_bias"] = biased;
        expect_same_gradients(config, random_batch(config.shape, 6, {.masked = true, .asked_share = 0.5}), 3);
      }
    }
  }
}

TEST(FusedGradients, AgreeWithHeadsThatAreScaledOrFixed) {
  for (const RuleVariant& variant : rule_variants()) {
    std::uint64_t step = 0;
    for (const HeadInterventions& change : head_interventions()) {
      // Every model, scale and mask with every rule; not all with every change.
      EngineConfig config = step % 4 == 0   ? base_config()
                            : step % 4 == 1 ? decoder_config()
                            : step % 4 == 2 ? everywhere_config()
                                            : vit_config();
      config.rule = variant.rule;
      config.rule_options = variant.options;
      config.scale.kind = step % 2 == 0 ? ScaleKind::fixed : ScaleKind::learned;
      config.model_options["qkv_bias"] = step % 3 == 0;
      config.interventions = change;
      const bool masked = config.model != "vit" && step % 5 < 2;
      expect_same_gradients(config, batch_with_keys(config, 6, {.masked = masked, .step = ++step}), 3);
    }
  }
}

TEST(FusedGradients, AgreeForEveryKindOfBlock) {
  Agreement total;
  std::size_t turn = 0;
  for (EngineConfig config : block_variants())
    for (int again = 0; again < 3; ++again, ++turn) {
      const RuleVariant& variant = rule_variants()[turn % rule_variants().size()];
      config.rule = variant.rule;
      config.rule_options = variant.options;
      config.scale.kind = turn % 2 == 0 ? ScaleKind::fixed : ScaleKind::learned;
      config.model_options["qkv_bias"] = turn % 3 == 0;
      config.model_options["dropout"] = turn % 5 == 0 ? 0.2 : 0.0;
      config.threads = 1 + static_cast<int>(turn % 2);
      const BatchOptions options{.masked = turn % 4 == 1, .asked_share = turn % 2 == 0 ? 1 : 0.4, .step = turn};
      total += expect_same_gradients(config, random_batch(config.shape, 9, options), 3);
    }
  expect_as_exact_as_autograd(total, 5e-7);
}

TEST(FusedGradients, AgreeForEveryLoss) {
  for (EngineConfig config : {base_config(), decoder_config(), vit_config(), mlp_config(), resnet_config()}) {
    for (const LossKind loss : {LossKind::cross_entropy, LossKind::squared}) {
      for (const std::int64_t classes : {1, 2, 17}) {
        if (loss == LossKind::cross_entropy && classes == 1) continue;
        config.shape.loss = loss;
        config.shape.classes = classes;
        for (const double smoothing : {0.0, 0.3}) {
          config.label_smoothing = smoothing;
          expect_same_gradients(config, random_batch(config.shape, 8, {.asked_share = 0.4}), 3);
        }
      }
    }
  }
}

TEST(FusedGradients, AgreeForPerceptronsOfManySizes) {
  std::uint64_t step = 0;
  for (const std::int64_t hidden : {1, 5, 16, 130})
    for (const std::int64_t layers : {1, 3})
      for (const TaskShape& shape : {TaskShape{.tokens = 5, .dimension = 7, .classes = 3},
                                     TaskShape{.classes = 19, .image = {9, 4, 3}, .loss = LossKind::squared}})
        for (const int threads : {1, 2}) {
          EngineConfig config = mlp_config();
          config.shape = shape;
          config.model_options = {{"hidden", hidden}, {"layers", layers}};
          config.threads = threads;
          expect_same_gradients(config, random_batch(shape, threads == 1 ? 3 : 230, {.step = ++step}), 0);
        }
}

TEST(FusedGradients, AgreeForResNets) {
  Agreement total;
  std::uint64_t step = 0;
  for (const char* model : {"resnet9", "resnet18"})
    for (const char* stem : {"small", "imagenet"})
      for (const std::int64_t width : {1, 5, 16})
        for (const ImageShape& image : {ImageShape{8, 8, 1}, ImageShape{17, 30, 3}}) {
          EngineConfig config = resnet_config(model);
          config.shape.image = image;
          config.model_options = {{"width", width}, {"stem", std::string(stem)}};
          config.threads = 1 + static_cast<int>(step % 2);
          total += expect_same_gradients(config, random_batch(config.shape, width == 16 ? 40 : 7, {.step = ++step}), 0);
        }
  expect_as_exact_as_autograd(total, 2e-6);
}

TEST(FusedGradients, AgreeOverRandomConfigs) {
  Agreement total;
  for (const std::uint64_t grid : {1, 2, 3, 4}) {
    RandomStream random(grid, "fused random configs");
    const auto pick = [&](auto... choices) {
      const std::array options{choices...};
      return options[random.below(static_cast<std::uint32_t>(options.size()))];
    };
    for (int trial = 0; trial < 40; ++trial) {
      EngineConfig config = pick(0, 1, 2) == 0 ? base_config() : pick(0, 1) == 0 ? decoder_config() : vit_config();
      const RuleVariant& variant = rule_variants()[random.below(static_cast<std::uint32_t>(rule_variants().size()))];
      config.rule = variant.rule;
      config.rule_options = variant.options;
      config.scale.kind = static_cast<ScaleKind>(random.below(5));
      config.scale.from = 4;
      TaskShape& shape = config.shape;
      shape.classes = pick(2, 10, 19);
      if (shape.input() == InputKind::image) {
        shape.image = {pick(4, 8, 20), pick(4, 12), pick(1, 3)};
        config.model_options["patch"] = std::int64_t{pick(1, 2, 4)};
      } else {
        shape.tokens = pick(1, 2, 3, 5, 16, 17, 31);
        shape.vocabulary = pick(0, 7, 30);
        shape.dimension = shape.vocabulary > 0 ? 0 : pick(1, 3, 16, 37);
      }
      shape.loss = pick(LossKind::cross_entropy, LossKind::cross_entropy, LossKind::squared);
      const std::int64_t heads = pick(1, 2, 3, 4), head_width = pick(3, 5, 8, 16, 20);
      config.model_options["heads"] = heads;
      config.model_options["width"] = heads * head_width;
      config.model_options["depth"] = std::int64_t{pick(1, 2, 3)};
      config.model_options["mlp_ratio"] = pick(0.7, 1.0, 2.0, 4.0);
      // Equal ids without positions are equal tokens: rows of equal logits, of which NormSoftmax makes rounding errors
      // divided by its epsilon.
      config.model_options["positions"] =
          std::string(shape.vocabulary > 0 ? pick("learned", "sinusoidal") : pick("learned", "sinusoidal", "none"));
      config.model_options["qkv_bias"] = pick(true, false);
      config.model_options["dropout"] = pick(0.0, 0.0, 0.2);
      config.model_options["stochastic_depth"] = pick(0.0, 0.0, 0.3);
      config.label_smoothing = pick(0.0, 0.1);
      config.threads = pick(1, 2);
      const BatchOptions options{.masked = shape.input() != InputKind::image && pick(true, false, false),
                                 .asked_share = pick(1.0, 0.5),
                                 .step = static_cast<std::uint64_t>(trial)};
      total += expect_same_gradients(config, random_batch(shape, pick(1, 7, 40), options), trial);
    }
  }
  expect_as_exact_as_autograd(total, 5e-7);
}

}  // namespace
}  // namespace eureka
