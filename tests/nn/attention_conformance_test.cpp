// What every registered attention rule promises, checked over the whole registry and over each choice of each option: a
// new rule is tested without a new test.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cctype>
#include <cmath>

#include "nn/attention_rule.h"

namespace eureka {
namespace {

struct RuleCase {
  std::string rule;
  OptionValues options;
  std::string name;

  friend void PrintTo(const RuleCase& one, std::ostream* out) { *out << one.name; }
};

// Defaults, and every other value of every option that has a finite number of them.
std::vector<RuleCase> all_cases() {
  std::vector<RuleCase> cases;
  for (const PluginInfo& info : Registry<AttentionRule>::instance().infos()) {
    cases.push_back({info.name, {}, info.name});
    for (const OptionInfo& option : info.options) {
      std::vector<OptionValue> values;
      for (const std::string& choice : option.choices) values.emplace_back(choice);
      if (option.type == OptionType::boolean) values = {true, false};
      for (const OptionValue& value : values) {
        if (value == option.default_value) continue;
        std::string name = fmt::format("{}_{}_{}", info.name, option.name, to_toml(value));
        std::erase_if(
            name, [](char letter) { return std::isalnum(static_cast<unsigned char>(letter)) == 0 && letter != '_'; });
        cases.push_back({info.name, {{option.name, value}}, name});
      }
    }
  }
  return cases;
}

constexpr std::int64_t kHeads = 2;
constexpr std::int64_t kWidth = 6;

class RuleConformance : public testing::TestWithParam<RuleCase> {
 protected:
  void SetUp() override {
    at::manual_seed(11);
    at::set_num_threads(1);
    rule_ = Registry<AttentionRule>::instance().make(GetParam().rule, GetParam().options);
    double value = 0.8;
    for (const ParameterSpec& spec : rule_->parameters({kHeads, kWidth}))
      parameters_.push_back(at::full(spec.shape, value += 0.1, at::kDouble));
  }

  AttentionContext context(const at::Tensor& mask = {}, at::ScalarType dtype = at::kDouble) const {
    AttentionContext context;
    context.scale = {1.3, 1 / std::sqrt(static_cast<double>(kWidth)), {}};
    context.mask = mask;
    for (const at::Tensor& parameter : parameters_) context.parameters.push_back(parameter.to(dtype));
    return context;
  }

  at::Tensor weights(at::Tensor q, at::Tensor k, const AttentionContext& context) const {
    rule_->prepare(q, k, context);
    return rule_->weights(at::matmul(q, k.transpose(-2, -1)), context);
  }

  static at::Tensor vectors(std::int64_t tokens, double size = 1.5) {
    return size * at::randn({3, kHeads, tokens, kWidth}, at::kDouble);
  }

  static at::Tensor causal(std::int64_t tokens) { return at::ones({tokens, tokens}, at::kBool).tril(); }

  std::unique_ptr<AttentionRule> rule_;
  std::vector<at::Tensor> parameters_;
};

bool all_finite(const at::Tensor& x) { return at::isfinite(x).all().item<bool>(); }
double largest(const at::Tensor& x) { return x.abs().max().item<double>(); }

TEST_P(RuleConformance, RowsSumToWhatIsPromised) {
  for (const at::Tensor& mask : {at::Tensor(), causal(5)}) {
    const at::Tensor rows = weights(vectors(5), vectors(5), context(mask));
    const at::Tensor sums = rows.sum(-1);
    if (rule_->row_sum() == RowSum::one) {
      EXPECT_LT(largest(sums - 1), 1e-12);
    }
    if (rule_->row_sum() == RowSum::at_most_one) {
      EXPECT_LE(sums.max().item<double>(), 1 + 1e-12);
    }
    if (rule_->row_sum() != RowSum::any) {
      EXPECT_GE(rows.min().item<double>(), 0);
    }
    EXPECT_TRUE(all_finite(rows));
  }
}

TEST_P(RuleConformance, HiddenKeysGetNothingAndChangeNothing) {
  const at::Tensor q = vectors(5);
  at::Tensor k = vectors(5).requires_grad_(true);
  const at::Tensor rows = weights(q, k, context(causal(5)));
  EXPECT_EQ(largest(rows.masked_select(~causal(5).expand_as(rows))), 0);
  // The first query sees key 0 only: nothing it does may depend on the others.
  rows.select(-2, 0).square().sum().backward();
  EXPECT_EQ(largest(k.grad().narrow(2, 1, 4)), 0);
  const at::Tensor other = at::cat({k.detach().narrow(2, 0, 3), 50 * vectors(2)}, 2);
  EXPECT_LT(largest((weights(q, other, context(causal(5))) - rows).narrow(2, 0, 3)), 1e-12);
}

TEST_P(RuleConformance, AMaskEqualsLeavingTheKeysOut) {
  const at::Tensor q = vectors(4), k = vectors(6);
  at::Tensor mask = at::ones({4, 6}, at::kBool);
  mask.narrow(1, 4, 2).fill_(false);
  const at::Tensor hidden = weights(q, k, context(mask)).narrow(-1, 0, 4);
  EXPECT_LT(largest(hidden - weights(q, k.narrow(2, 0, 4), context())), 1e-12);
}

TEST_P(RuleConformance, PermutedKeysGivePermutedWeights) {
  const at::Tensor q = vectors(5), k = vectors(5);
  const at::Tensor order = at::tensor(std::vector<std::int64_t>{3, 0, 4, 1, 2});
  const at::Tensor expected = weights(q, k, context()).index_select(-1, order);
  EXPECT_LT(largest(weights(q, k.index_select(2, order), context()) - expected), 1e-12);
}

TEST_P(RuleConformance, OneTokenWorks) {
  at::Tensor q = vectors(1).requires_grad_(true);
  const at::Tensor rows = weights(q, vectors(1), context());
  rows.square().sum().backward();
  EXPECT_TRUE(all_finite(rows) && all_finite(q.grad()));
}

TEST_P(RuleConformance, EqualLogitsAndEmptyRowsStayFinite) {
  at::Tensor q = vectors(4).requires_grad_(true);
  at::Tensor k = vectors(1).expand({3, kHeads, 4, kWidth}).clone().requires_grad_(true);
  at::Tensor mask = causal(4);
  mask[2].fill_(false);  // a query that sees nothing
  const at::Tensor rows = weights(q, k, context(mask));
  EXPECT_EQ(largest(rows.select(-2, 2)), 0);
  const auto gradients = torch::autograd::grad({(rows * at::randn_like(rows)).sum()}, {q, k}, {}, true, true);
  EXPECT_TRUE(all_finite(rows) && all_finite(gradients[0]) && all_finite(gradients[1]));
  const auto second = torch::autograd::grad({gradients[0].square().sum() + gradients[1].square().sum()}, {q, k});
  EXPECT_TRUE(all_finite(second[0]) && all_finite(second[1]));
}

TEST_P(RuleConformance, FloatAgreesWithDouble) {
  const at::Tensor q = vectors(7), k = vectors(7);
  for (const at::Tensor& mask : {at::Tensor(), causal(7)}) {
    const at::Tensor exact = weights(q, k, context(mask));
    const at::Tensor single = weights(q.to(at::kFloat), k.to(at::kFloat), context(mask, at::kFloat));
    EXPECT_LT(largest(single.to(at::kDouble) - exact), 2e-5 * std::max(1.0, largest(exact)));
  }
}

TEST_P(RuleConformance, ALearnedScaleActsLikeTheFixedOne) {
  const at::Tensor q = vectors(5), k = vectors(5);
  AttentionContext learned = context();
  learned.scale.learned_multiple = at::full({kHeads, 1, 1}, learned.scale.multiple, at::kDouble);
  learned.scale.multiple = 99;
  EXPECT_LT(largest(weights(q, k, learned) - weights(q, k, context())), 1e-12);
}

// The scalar that the derivative checks differentiate.
class RuleDerivatives : public RuleConformance {
 protected:
  at::Tensor loss(const at::Tensor& q, const at::Tensor& k, const at::Tensor& target) const {
    return (weights(q, k, context(causal(5))) * target).sum();
  }
};

TEST_P(RuleDerivatives, GradientMatchesFiniteDifferences) {
  at::Tensor q = vectors(5, 0.7).requires_grad_(true);
  at::Tensor k = vectors(5, 0.7).requires_grad_(true);
  const at::Tensor target = at::randn({3, kHeads, 5, 5}, at::kDouble);
  const auto gradients = torch::autograd::grad({loss(q, k, target)}, {q, k});
  const at::NoGradGuard no_grad;
  constexpr double kStep = 1e-5;
  for (int trial = 0; trial < 6; ++trial) {
    const at::Tensor dq = at::randn_like(q), dk = at::randn_like(k);
    const double measured =
        (loss(q + kStep * dq, k + kStep * dk, target) - loss(q - kStep * dq, k - kStep * dk, target)).item<double>() /
        (2 * kStep);
    const double predicted = ((gradients[0] * dq).sum() + (gradients[1] * dk).sum()).item<double>();
    EXPECT_NEAR(measured, predicted, 1e-6 * std::max(1.0, std::abs(predicted)));
  }
}

TEST_P(RuleDerivatives, DoubleBackwardMatchesDifferencesOfTheGradient) {
  at::Tensor q = vectors(5, 0.7).requires_grad_(true);
  at::Tensor k = vectors(5, 0.7).requires_grad_(true);
  const at::Tensor target = at::randn({3, kHeads, 5, 5}, at::kDouble);
  const at::Tensor dq = at::randn_like(q), dk = at::randn_like(k);
  const auto gradient_at = [&](double t, bool graph) {
    at::Tensor moved_q = (q + t * dq).detach().requires_grad_(true),
               moved_k = (k + t * dk).detach().requires_grad_(true);
    auto gradients = torch::autograd::grad({loss(moved_q, moved_k, target)}, {moved_q, moved_k}, {}, graph, graph);
    return std::tuple{gradients, moved_q, moved_k};
  };
  auto [gradients, at_q, at_k] = gradient_at(0, true);
  const at::Tensor directional = (gradients[0] * dq).sum() + (gradients[1] * dk).sum();
  const auto product = torch::autograd::grad({directional}, {at_q, at_k});
  constexpr double kStep = 1e-5;
  const auto plus = std::get<0>(gradient_at(kStep, false)), minus = std::get<0>(gradient_at(-kStep, false));
  for (int i = 0; i < 2; ++i) {
    const at::Tensor measured = (plus[i] - minus[i]) / (2 * kStep);
    EXPECT_LT(largest(measured - product[i]), 1e-5 * std::max(1.0, largest(product[i])));
  }
}

const auto kName = [](const auto& parameter) { return parameter.param.name; };
INSTANTIATE_TEST_SUITE_P(Registry, RuleConformance, testing::ValuesIn(all_cases()), kName);
INSTANTIATE_TEST_SUITE_P(Registry, RuleDerivatives, testing::ValuesIn(all_cases()), kName);

}  // namespace
}  // namespace eureka
