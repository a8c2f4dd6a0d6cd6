// NormSoftmax without a matrix of queries by keys is NormSoftmax: values, gradients, rounding, memory.
#include <gtest/gtest.h>
#include <malloc.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/copying_sink.h"
#include "nn/attention_rule.h"
#include "nn/reference_engine.h"

namespace eureka {
namespace {

struct Result {
  at::Tensor output;
  std::vector<at::Tensor> gradients;  // by q, k, v and the multiple of each head
};

struct Case {
  std::string rule = "norm_softmax";
  OptionValues options;
  bool causal = false;
  double offset = 0;  // what all keys have in common
};

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (const bool causal : {false, true}) {
    for (const char* deviation : {"std", "sample-std", "variance"})
      for (const char* cap : {"root-width", "inverse-scale"})
        cases.push_back(
            {.options = {{"deviation", std::string(deviation)}, {"cap", std::string(cap)}}, .causal = causal});
    cases.push_back({.rule = "spread_softmax", .causal = causal});
  }
  return cases;
}

// Entries small enough that most rows are divided by their deviation, and some by its bound.
std::vector<at::Tensor> random_heads(std::int64_t tokens, std::int64_t width, double offset) {
  at::manual_seed(7);
  const auto random = [&] { return at::randn({2, 2, tokens, width}, at::kDouble); };
  const at::Tensor strength = at::rand({2, 2, tokens, 1}, at::kDouble) * 1.5;
  return {random() * strength, random() + offset, random(), random()};
}

Result compute(const Case& one, const std::vector<at::Tensor>& heads, at::ScalarType type, bool by_weights) {
  std::vector<at::Tensor> leaves;
  for (std::size_t i = 0; i < 3; ++i) leaves.push_back(heads[i].to(type).detach().requires_grad_(true));
  leaves.push_back(at::tensor({0.7, 1.6}).to(type).view({2, 1, 1}).requires_grad_(true));
  const at::Tensor &q = leaves[0], &k = leaves[1], &v = leaves[2];
  AttentionContext context;
  context.scale = {1, 1 / std::sqrt(static_cast<double>(q.size(-1))), leaves[3]};
  const auto rule = Registry<AttentionRule>::instance().make(one.rule, one.options);
  Result result;
  if (by_weights) {
    if (one.causal) context.mask = at::ones({q.size(-2), q.size(-2)}, at::kBool).tril();
    result.output = at::matmul(rule->weights(at::matmul(q, k.transpose(-2, -1)), context), v);
  } else {
    result.output = rule->outputs({q, k, v, one.causal}, context);
  }
  result.gradients = torch::autograd::grad({(result.output * heads[3].to(type)).sum()}, leaves);
  return result;
}

// The largest difference over the largest entry.
double error(const at::Tensor& a, const at::Tensor& exact) {
  return ((a.to(at::kDouble) - exact).abs().max() / exact.abs().max()).item<double>();
}

double worst_gradient(const Result& a, const Result& exact) {
  double worst = 0;
  for (std::size_t i = 0; i < a.gradients.size(); ++i)
    worst = std::max(worst, error(a.gradients[i], exact.gradients[i]));
  return worst;
}

std::string described(const Case& one) {
  std::string text = one.rule + (one.causal ? ", causal" : "");
  for (const auto& [name, value] : one.options) text += ", " + std::get<std::string>(value);
  return text;
}

TEST(LongAttention, IsTheDefinitionInDouble) {
  for (const std::int64_t tokens : {50, 300})
    for (const Case& one : all_cases()) {
      SCOPED_TRACE(described(one));
      const std::vector<at::Tensor> heads = random_heads(tokens, 8, 0);
      const Result expected = compute(one, heads, at::kDouble, true), found = compute(one, heads, at::kDouble, false);
      EXPECT_LT(error(found.output, expected.output), 1e-12);
      EXPECT_LT(worst_gradient(found, expected), 1e-10);
    }
}

TEST(LongAttention, IsAsExactAsTheDefinitionInFloat) {
  for (const double offset : {0.0, 30.0})
    for (Case one : all_cases()) {
      one.offset = offset;
      SCOPED_TRACE(described(one));
      const std::vector<at::Tensor> heads = random_heads(700, 16, offset);
      const Result exact = compute(one, heads, at::kDouble, true);
      const Result matrix = compute(one, heads, at::kFloat, true), found = compute(one, heads, at::kFloat, false);
      EXPECT_LT(error(found.output, exact.output), 2 * error(matrix.output, exact.output) + 1e-6);
      EXPECT_LT(worst_gradient(found, exact), 2 * worst_gradient(matrix, exact) + 2e-6);
    }
}

// Megabytes that the process held at most while `work` went on, beyond what it held before; nothing where the kernel
// does not forget what was before.
std::optional<double> peak_megabytes_of(const std::function<void()>& work) {
  const auto peak = [] {
    std::ifstream status("/proc/self/status");
    double kilobytes = 0;
    for (std::string word; status >> word;)
      if (word == "VmHWM:") status >> kilobytes;
    return kilobytes / 1024;
  };
  ::malloc_trim(0);
  if (!(std::ofstream("/proc/self/clear_refs") << 5 << std::flush)) return std::nullopt;
  const double before = peak();
  work();
  return peak() - before;
}

TEST(LongAttention, NeedsNoMatrixOfQueriesByKeys) {
  constexpr std::int64_t kTokens = 8192;
  const double matrix = kTokens * kTokens * 4.0 / (1 << 20);
  const auto rule = Registry<AttentionRule>::instance().make("norm_softmax", {});
  AttentionContext context;
  context.scale = {1, 1 / std::sqrt(8.0), {}};
  for (const bool causal : {false, true}) {
    const auto work = [&](std::int64_t tokens) {
      std::vector<at::Tensor> heads;
      for (int i = 0; i < 3; ++i) heads.push_back(at::randn({1, 1, tokens, 8}).requires_grad_(true));
      torch::autograd::grad({rule->outputs({heads[0], heads[1], heads[2], causal}, context).sum()}, heads);
    };
    work(128);  // what libtorch takes once
    const std::optional<double> peak = peak_megabytes_of([&] { work(kTokens); });
    if (!peak) GTEST_SKIP() << "the kernel does not forget peaks";
    EXPECT_LT(*peak, matrix / 4) << "causal: " << causal;
  }
}

struct LongTask {
  std::unique_ptr<Task> task;
  EngineConfig config;

  LongTask(bool causal, std::int64_t tokens) {
    if (causal)
      task = Registry<Task>::instance().make("prefix-sum", {{"length", tokens / 2}});
    else
      task = Registry<Task>::instance().make("two-step", {{"distractors", tokens}});
    config.shape = task->shape();
    config.model = causal ? "decoder" : "transformer";
    config.model_options = {{"width", std::int64_t{8}}, {"depth", std::int64_t{2}}, {"heads", std::int64_t{1}}};
    config.rule = "norm_softmax";
    config.total_steps = 10;
  }

  Batch batch(std::int64_t samples) const {
    Batch drawn;
    task->sample({.seed = 1, .stream = "train", .step = 0, .samples = samples}, drawn);
    return drawn;
  }
};

TEST(LongAttention, AStepOfTheEngineHasNoSuchMatrixEither) {
  constexpr std::int64_t kTokens = 4096;
  const double matrix = kTokens * kTokens * 4.0 / (1 << 20);
  for (const bool causal : {false, true}) {
    const LongTask on(causal, kTokens);
    const Batch batch = on.batch(1);
    const LongTask small(causal, 20);
    ReferenceEngine(small.config).gradient(small.batch(1), 0);  // what libtorch takes once
    ReferenceEngine engine(on.config);
    const std::optional<double> peak = peak_megabytes_of([&] { engine.gradient(batch, 0); });
    if (!peak) GTEST_SKIP() << "the kernel does not forget peaks";
    EXPECT_LT(*peak, matrix) << "causal: " << causal;
  }
}

// Both forms in one: second derivatives go by the weights, the gradients whose differences confirm them do not.
TEST(LongAttention, SecondDerivativesAreThoseOfTheGradients) {
  for (const bool causal : {false, true}) {
    SCOPED_TRACE(causal);
    LongTask on(causal, 300);
    on.config.double_precision = true;
    const Batch batch = on.batch(2);
    ReferenceEngine engine(on.config);
    at::Tensor values = engine.parameter_set().values();
    at::manual_seed(3);
    const at::Tensor direction = at::randn_like(values);
    constexpr double kStep = 1e-5;
    const auto gradient_at = [&](double distance) {
      values.add_(direction, distance);
      engine.gradient(batch, 0);
      values.sub_(direction, distance);
      return engine.parameter_set().gradients().clone();
    };
    const at::Tensor measured =
        (8 * (gradient_at(kStep) - gradient_at(-kStep)) - (gradient_at(2 * kStep) - gradient_at(-2 * kStep))) /
        (12 * kStep);
    at::Tensor product = at::zeros_like(direction);
    engine.hessian_product(batch, 0)->perform_op(direction.data_ptr<double>(), product.data_ptr<double>());
    EXPECT_LT(error(product, measured), 1e-5);
  }
}

// A look goes by the weights, a step does not: their gradients are the same.
TEST(LongAttention, LooksSeeTheGradientsOfTheStep) {
  for (const bool causal : {false, true}) {
    SCOPED_TRACE(causal);
    LongTask on(causal, 300);
    on.config.double_precision = true;
    const Batch batch = on.batch(2);
    ReferenceEngine engine(on.config);
    engine.gradient(batch, 0);
    const ParameterSet& parameters = engine.parameter_set();
    CopyingSink sink;
    engine.observe(batch, 0, everything(), sink);
    for (std::size_t i = 0; i < parameters.specs().size(); ++i) {
      const std::string& name = parameters.specs()[i].name;
      const at::Tensor step = parameters.part(parameters.gradients(), i).flatten();
      const std::vector<float>& looked = sink.tensors.at("gradient by " + name);
      EXPECT_LT((at::tensor(looked).to(at::kDouble) - step).abs().max().item<double>(),
                1e-6 * parameters.gradients().abs().max().item<double>())
          << name;
    }
    EXPECT_TRUE(sink.tensors.contains("weights of layer 0"));
  }
}

}  // namespace
}  // namespace eureka
