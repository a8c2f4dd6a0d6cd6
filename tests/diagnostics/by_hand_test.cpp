// Progress, probes, maps and gradients on numbers that can be worked out by hand.
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "diagnostics/diagnostic.h"
#include "diagnostics/linear_probe.h"
#include "io/safetensors.h"

namespace eureka {
namespace {

// Two tokens behind a cls token: a sign that matters and one that does not, and a hidden variable.
class ThreeTokens final : public Task {
 public:
  TaskShape shape() const override { return {.tokens = 2, .dimension = 1, .classes = 2}; }
  Metric metric() const override { return Metric::accuracy(0.5); }
  std::vector<Role> roles() const override { return {{"sign", "decides", true}, {"filler", "means nothing"}}; }
  std::vector<Latent> latents() const override { return {{"sign", 2, true}}; }
  void sample(const SampleRequest&, Batch&) const override {}
};

Batch batch_of(std::int64_t samples) {
  Batch batch;
  batch.resize(samples, ThreeTokens().shape(), 1);
  for (std::int64_t s = 0; s < samples; ++s) {
    batch.roles[static_cast<std::size_t>(2 * s)] = 0;
    batch.roles[static_cast<std::size_t>(2 * s + 1)] = 1;
    batch.latents[static_cast<std::size_t>(s)] = static_cast<int>(s % 2);
  }
  return batch;
}

std::map<std::string, double> reported(Diagnostic& diagnostic, const std::string& name) {
  NamedNumbers numbers;
  NumberRow row(name, numbers);
  diagnostic.report(row);
  return {numbers.begin(), numbers.end()};
}

TensorView view_of(const std::vector<float>& values, std::array<std::int64_t, 4> sizes) {
  return {values.data(), sizes, {sizes[1] * sizes[2] * sizes[3], sizes[2] * sizes[3], sizes[3]}};
}

TEST(ProgressByHand, OfThreeTokens) {
  const ThreeTokens task;
  const Batch batch = batch_of(1);
  const auto progress = Registry<Diagnostic>::instance().make("progress");
  progress->begin({.task = &task, .batch = &batch, .samples = 1});
  // cls, sign, filler look at cls, sign, filler.
  const std::vector<float> weights = {0.5F, 0.25F, 0.25F, 0.125F, 0.75F, 0.125F, 0.25F, 0.25F, 0.5F};
  ObservationView view{.samples = 1};
  view.values[static_cast<std::size_t>(Point::weights)] = view_of(weights, {1, 1, 3, 3});
  progress->see(view);
  const auto numbers = reported(*progress, "progress");
  EXPECT_EQ(numbers.at("progress/mass/cls-to-sign/layer0/head0"), 0.25);
  EXPECT_EQ(numbers.at("progress/by_share/cls-to-sign/layer0/head0"), 0.75);
  EXPECT_EQ(numbers.at("progress/mass/sign-to-sign/layer0"), 0.75);
  EXPECT_EQ(numbers.at("progress/by_share/filler-to-filler/layer0"), 1.5);
  // The answer is the cls token's, and depends on the sign.
  EXPECT_EQ(numbers.at("progress/answer_mass/layer0"), 0.25);
  EXPECT_EQ(numbers.at("progress/answer_by_share/layer0"), 0.75);
}

TEST(ProgressByHand, CountsVisibleKeysOnly) {
  const ThreeTokens task;
  const Batch batch = batch_of(1);
  const auto progress = Registry<Diagnostic>::instance().make("progress");
  progress->begin({.task = &task, .batch = &batch, .samples = 1});
  const std::vector<float> weights = {0.5F, 0.5F, 0, 0.5F, 0.5F, 0, 0.5F, 0.5F, 0};
  const std::vector<std::uint8_t> mask = {1, 1, 0};
  ObservationView view{.samples = 1};
  view.values[static_cast<std::size_t>(Point::weights)] = view_of(weights, {1, 1, 3, 3});
  view.mask = {mask.data(), 0, 0};
  progress->see(view);
  const auto numbers = reported(*progress, "progress");
  EXPECT_EQ(numbers.at("progress/by_share/cls-to-sign/layer0"), 1);
  EXPECT_FALSE(numbers.contains("progress/mass/cls-to-filler/layer0"));
}

// One token has the variable as its sign, the other has the same in every sample.
TEST(ProbesByHand, FindWhatIsThereAndNothingWhereNothingIs) {
  constexpr std::int64_t kSamples = 40;
  const ThreeTokens task;
  const Batch batch = batch_of(kSamples);
  std::vector<float> stream;
  for (std::int64_t s = 0; s < kSamples; ++s)
    for (const float value : {1.0F, s % 2 == 0 ? 2.0F : -3.0F, 5.0F}) stream.insert(stream.end(), {value, 0.5F});
  const auto probes = Registry<Diagnostic>::instance().make("probes");
  probes->begin({.task = &task, .batch = &batch, .samples = kSamples});
  ObservationView view{.layer = 1, .samples = kSamples};
  view.values[static_cast<std::size_t>(Point::residual)] = view_of(stream, {kSamples, 1, 3, 2});
  probes->see(view);
  const auto numbers = reported(*probes, "probes");
  EXPECT_EQ(numbers.at("probes/chance/sign"), 0.5);
  EXPECT_EQ(numbers.at("probes/accuracy/sign/residual/token1/layer1"), 1);
  EXPECT_EQ(numbers.at("probes/accuracy/sign/residual/mean/layer1"), 1);
  EXPECT_EQ(numbers.at("probes/accuracy/sign/residual/token0/layer1"), 0.5);
  EXPECT_EQ(numbers.at("probes/accuracy/sign/residual/token2/layer1"), 0.5);
}

// One feature: the slope of ridge regression is sum(xy) / (sum(x^2) + penalty), so it never changes the sign.
TEST(ProbesByHand, RidgeShrinksAndTheConstantIsTheShare) {
  SmallMatrix features(4, 1), others(2, 1);
  for (std::size_t i = 0; i < 4; ++i) features(i, 0) = static_cast<double>(i);
  others(0, 0) = -5;
  others(1, 0) = 9;
  const LinearProbe probe(features, 0.01), flat(features, 1e9);
  EXPECT_EQ(probe.accuracy({0, 0, 1, 1}, 2, others, {0, 1}), 1);
  // All that is left of the slope is nothing: the commoner class is said everywhere.
  EXPECT_EQ(flat.accuracy({0, 0, 0, 1}, 2, others, {0, 1}), 0.5);
}

TEST(MapsByHand, FileHoldsTheWeightsOfTheFirstSamples) {
  const Batch batch = batch_of(3);
  const auto maps = Registry<Diagnostic>::instance().make("maps", {{"shown", std::int64_t{2}}});
  maps->begin({.batch = &batch, .step = 7, .samples = 3});
  std::vector<float> weights;
  for (int i = 0; i < 3 * 4; ++i) weights.push_back(static_cast<float>(i) / 16);
  ObservationView view{.samples = 3};
  view.values[static_cast<std::size_t>(Point::weights)] = view_of(weights, {3, 1, 2, 2});
  maps->see(view);
  EXPECT_TRUE(reported(*maps, "maps").empty());
  const std::vector<LookFile> files = maps->take_files();
  ASSERT_EQ(files.size(), 2U);
  EXPECT_EQ(files[0].name, "attention.png");
  EXPECT_EQ(files[0].bytes.substr(1, 3), "PNG");
  const TensorFile tensors = parse_safetensors(files[1].bytes, "maps");
  EXPECT_EQ(tensors.metadata.at("step"), "7");
  EXPECT_EQ(tensors.at("layer0").shape, (std::vector<std::int64_t>{2, 1, 2, 2}));
  EXPECT_EQ(tensor_values<float>(tensors.at("layer0")), std::vector<float>(weights.begin(), weights.begin() + 8));
  EXPECT_TRUE(maps->take_files().empty());
}

TEST(GradientsByHand, HeadsAreRowsOfWqAndColumnsOfWo) {
  const auto gradients = Registry<Diagnostic>::instance().make("gradients");
  const std::vector<float> values = {1, 1, 1, 1}, update = {0.5F, 0, 0, 0};
  const auto show = [&](const std::string& name, ParameterGroup group, const std::vector<float>& gradient) {
    const ParameterSpec spec{.name = name, .shape = {2, 2}, .group = group, .init = {}};
    gradients->see_parameter({.spec = &spec,
                              .rows = 2,
                              .columns = 2,
                              .stride = 2,
                              .values = values.data(),
                              .gradient = gradient.data(),
                              .heads = 2,
                              .update = update.data()});
  };
  show("blocks.0.attn.q.weight", ParameterGroup::query_key, {1, -1, 3, 3});
  show("blocks.0.attn.k.weight", ParameterGroup::query_key, {1, 1, 1, 1});
  show("blocks.0.attn.v.weight", ParameterGroup::value, {4, 4, 4, 4});
  show("blocks.0.attn.proj.weight", ParameterGroup::projection, {3, 0, 4, 0});
  const auto numbers = reported(*gradients, "gradients");
  EXPECT_EQ(numbers.at("gradients/mean_abs/q/layer0"), 2);
  EXPECT_EQ(numbers.at("gradients/mean_abs/q/layer0/head0"), 1);
  EXPECT_EQ(numbers.at("gradients/mean_abs/q/layer0/head1"), 3);
  EXPECT_EQ(numbers.at("gradients/norm/o/layer0/head0"), 5);
  EXPECT_EQ(numbers.at("gradients/norm/o/layer0/head1"), 0);
  EXPECT_EQ(numbers.at("gradients/qk_to_v/layer0"), 1.5 / 4);
  EXPECT_EQ(numbers.at("gradients/qk_to_v/layer0/head1"), 2.0 / 4);
  EXPECT_EQ(numbers.at("gradients/update_to_weight/v/layer0"), 0.25);
}

}  // namespace
}  // namespace eureka
