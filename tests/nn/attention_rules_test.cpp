// Values of single rules, worked out by hand or from their definition.
#include <gtest/gtest.h>

#include <cmath>

#include "nn/attention_rule.h"

namespace eureka {
namespace {

at::Tensor row_of(const std::string& rule, const OptionValues& options, const std::vector<double>& logits, double width,
                  double multiple = 1, const std::vector<at::Tensor>& parameters = {}) {
  AttentionContext context;
  context.scale = {multiple, 1 / std::sqrt(width), {}};
  context.parameters = parameters;
  const at::Tensor row = at::tensor(logits, at::kDouble).view({1, 1, 1, -1});
  return Registry<AttentionRule>::instance().make(rule, options)->weights(row, context).flatten();
}

void expect_row(const at::Tensor& row, const std::vector<double>& expected, double tolerance = 1e-9) {
  ASSERT_EQ(row.numel(), static_cast<std::int64_t>(expected.size()));
  for (std::size_t i = 0; i < expected.size(); ++i)
    EXPECT_NEAR(row[static_cast<std::int64_t>(i)].item<double>(), expected[i], tolerance);
}

std::vector<double> softmax_of(std::vector<double> x) {
  double sum = 0;
  for (double& value : x) sum += (value = std::exp(value));
  for (double& value : x) value /= sum;
  return x;
}

TEST(Softmax, DividesByTheRootOfTheWidth) {
  expect_row(row_of("softmax", {}, {2, 0, -2}, 4), softmax_of({1, 0, -1}));
  expect_row(row_of("softmax", {}, {2, 0, -2}, 4, 3), softmax_of({3, 0, -3}));
}

TEST(NormSoftmax, DividesByTheDeviationUpToTheRootOfTheWidth) {
  const double deviation = std::sqrt(2.0 / 3.0);  // of {1, 0, -1}, over n
  expect_row(row_of("norm_softmax", {}, {1, 0, -1}, 16), softmax_of({1 / deviation, 0, -1 / deviation}), 1e-5);
  // Deviation above sqrt(16) = 4: plain softmax.
  expect_row(row_of("norm_softmax", {}, {30, 0, -30}, 16), softmax_of({7.5, 0, -7.5}));
}

TEST(NormSoftmax, VarianceFormDividesByTheVariance) {
  expect_row(row_of("norm_softmax", {{"deviation", std::string("variance")}}, {1, 0, -1}, 16),
             softmax_of({1.5, 0, -1.5}), 1e-5);
}

TEST(NormSoftmax, SampleDeviationIsByOneKeyLess) {
  expect_row(row_of("norm_softmax", {{"deviation", std::string("sample-std")}}, {1, 0, -1}, 16), softmax_of({1, 0, -1}),
             1e-5);
}

TEST(NormSoftmax, TheScaleMovesWhatItsCapSays) {
  const OptionValues published = {{"cap", std::string("inverse-scale")}};
  const double deviation = std::sqrt(2.0 / 3.0);
  // The deviation lies below sqrt(16) / 2: today's scale sharpens, the published one does nothing.
  expect_row(row_of("norm_softmax", {}, {1, 0, -1}, 16, 2), softmax_of({2 / deviation, 0, -2 / deviation}), 1e-5);
  expect_row(row_of("norm_softmax", published, {1, 0, -1}, 16, 2), softmax_of({1 / deviation, 0, -1 / deviation}),
             1e-5);
  // Between sqrt(16) / 2 and sqrt(16): the published cap leaves plain softmax at that scale, ours still divides.
  const double wide = 3 * deviation;
  expect_row(row_of("norm_softmax", published, {3, 0, -3}, 16, 2), softmax_of({1.5, 0, -1.5}));
  expect_row(row_of("norm_softmax", {}, {3, 0, -3}, 16, 2), softmax_of({6 / wide, 0, -6 / wide}), 1e-5);
  // Above both: softmax at that scale under either.
  for (const OptionValues& options : {OptionValues{}, published})
    expect_row(row_of("norm_softmax", options, {30, 0, -30}, 16, 2), softmax_of({15, 0, -15}));
}

// The published norm_softmax_std, in the words of its paper, with libtorch's own standard deviation.
TEST(NormSoftmax, PublishedOptionsAreThePublishedFormula) {
  constexpr double width = 9;
  const OptionValues published = {
      {"deviation", std::string("sample-std")}, {"cap", std::string("inverse-scale")}, {"epsilon", 1e-12}};
  const auto rule = Registry<AttentionRule>::instance().make("norm_softmax", published);
  at::manual_seed(1);
  for (const double multiple : {0.5, 1.0, 3.0})
    for (const double size : {0.3, 2.0, 8.0}) {
      AttentionContext context;
      context.scale = {multiple, 1 / std::sqrt(width), {}};
      const at::Tensor logits = size * at::randn({2, 3, 5, 7}, at::kDouble);
      const at::Tensor most = at::full({1}, std::sqrt(width) / multiple, at::kDouble);
      const at::Tensor expected = at::softmax(logits / at::minimum(at::std(logits, -1, true, true), most), -1);
      EXPECT_LT((rule->weights(logits, context) - expected).abs().max().item<double>(), 1e-9);
    }
}

// A deviation counts the keys that a query sees, under every form: hidden keys might as well not be there.
TEST(NormSoftmax, CountsVisibleKeysOnly) {
  const std::vector<std::vector<std::int64_t>> visible = {{0, 2, 3}, {1, 4}, {3}, {0, 1, 2, 3, 4}};
  at::manual_seed(2);
  const at::Tensor logits = at::randn({1, 1, 1, 5}, at::kDouble);
  for (const std::string deviation : {"std", "sample-std", "variance"})
    for (const std::string cap : {"root-width", "inverse-scale"})
      for (const std::vector<std::int64_t>& keys : visible) {
        SCOPED_TRACE(deviation + " " + cap + " keys " + std::to_string(keys.size()));
        const auto rule =
            Registry<AttentionRule>::instance().make("norm_softmax", {{"deviation", deviation}, {"cap", cap}});
        AttentionContext all, some;
        all.scale = some.scale = {1.5, 0.5, {}};
        const at::Tensor chosen = at::tensor(keys);
        some.mask = at::zeros({1, 1, 1, 5}, at::kBool).index_fill_(-1, chosen, true);
        at::Tensor masked = logits.clone().set_requires_grad(true), alone = logits.index_select(-1, chosen);
        alone.set_requires_grad(true);
        const at::Tensor weights = rule->weights(masked, some), expected = rule->weights(alone, all);
        EXPECT_LT((weights.index_select(-1, chosen) - expected).abs().max().item<double>(), 1e-12);
        (weights.index_select(-1, chosen).square().sum()).backward();
        expected.square().sum().backward();
        EXPECT_LT((masked.grad().index_select(-1, chosen) - alone.grad()).abs().max().item<double>(), 1e-12);
        EXPECT_TRUE(masked.grad().isfinite().all().item<bool>());
      }
}

TEST(SpreadSoftmax, WidensNarrowRowsOnly) {
  const double deviation = std::sqrt(2.0 / 3.0);
  expect_row(row_of("spread_softmax", {}, {1, 0, -1}, 16), softmax_of({0.5 / deviation, 0, -0.5 / deviation}), 1e-5);
  // 3 / sqrt(16) spreads them wider than half a deviation already: plain softmax.
  expect_row(row_of("spread_softmax", {}, {3, 0, -3}, 16), softmax_of({0.75, 0, -0.75}));
  expect_row(row_of("spread_softmax", {{"spread", 1.0}}, {1, 0, -1}, 16),
             softmax_of({1 / deviation, 0, -1 / deviation}), 1e-5);
}

TEST(SoftmaxOne, LeavesRoomForNothing) {
  const double sum = 1 + std::exp(1.0) + 1 + std::exp(-1.0);
  expect_row(row_of("softmax_one", {}, {1, 0, -1}, 1), {std::exp(1.0) / sum, 1 / sum, std::exp(-1.0) / sum});
}

TEST(Sigmoid, CountsTheKeysInItsBias) {
  const auto sigmoid = [](double x) { return 1 / (1 + std::exp(-x)); };
  expect_row(row_of("sigmoid", {}, {2, 0}, 4), {sigmoid(1 - std::log(2.0)), sigmoid(-std::log(2.0))});
  expect_row(row_of("sigmoid", {{"bias", std::string("none")}}, {2, 0}, 4), {sigmoid(1), 0.5});
}

TEST(Linear, IsTheScaledLogitItself) {
  expect_row(row_of("linear", {}, {2, -4}, 4), {0.5, -1});
  expect_row(row_of("linear", {{"mean", false}}, {2, -4}, 4), {1, -2});
}

TEST(Entmax15, SolvesItsDefinition) {
  // p_i = max(0, s_i/2 - tau)^2 with sum 1: for {0, 0} tau = -sqrt(1/2).
  expect_row(row_of("entmax15", {}, {0, 0}, 1), {0.5, 0.5});
  // Far apart: all on one key, exactly zero elsewhere.
  expect_row(row_of("entmax15", {}, {5, 0, -1}, 1), {1, 0, 0}, 1e-12);
  // Against bisection for tau.
  const std::vector<double> logits = {0.9, 0.4, -0.2, -1.7, 1.1};
  double low = -10, high = 10;
  for (int i = 0; i < 200; ++i) {
    const double tau = (low + high) / 2;
    double sum = 0;
    for (const double s : logits) sum += std::pow(std::max(0.0, s / 2 - tau), 2);
    (sum > 1 ? low : high) = tau;
  }
  std::vector<double> expected;
  for (const double s : logits) expected.push_back(std::pow(std::max(0.0, s / 2 - low), 2));
  expect_row(row_of("entmax15", {}, logits, 1), expected, 1e-9);
}

TEST(ScalableSoftmax, GrowsWithTheLogarithmOfTheKeys) {
  const double factor = 0.5 * std::log(3.0);
  expect_row(row_of("scalable_softmax", {{"learnable", false}, {"strength", 0.5}}, {2, 0, -2}, 4),
             softmax_of({factor, 0, -factor}));
  expect_row(row_of("scalable_softmax", {}, {2, 0, -2}, 4, 1, {at::tensor({0.5}, at::kDouble)}),
             softmax_of({factor, 0, -factor}));
}

TEST(QkNorm, EveryFormMakesVectorsOfNormRootWidth) {
  for (const std::string norm : {"layer", "rms", "l2"}) {
    const auto rule = Registry<AttentionRule>::instance().make("qk_norm", {{"norm", norm}, {"learnable", false}});
    at::Tensor q = 5 * at::randn({2, 2, 3, 8}, at::kDouble) + 1, k = 0.1 * at::randn({2, 2, 3, 8}, at::kDouble);
    rule->prepare(q, k, {});
    EXPECT_LT((q.norm(2, -1) - std::sqrt(8.0)).abs().max().item<double>(), 1e-3) << norm;
    EXPECT_LT((k.norm(2, -1) - std::sqrt(8.0)).abs().max().item<double>(), 1e-2) << norm;
    if (norm == "layer") {
      EXPECT_LT(q.mean(-1).abs().max().item<double>(), 1e-12);
    }
  }
}

}  // namespace
}  // namespace eureka
