// The attention diagnostic where rows have nothing to choose, or weights are no shares.
#include <gtest/gtest.h>

#include <map>

#include "diagnostics/diagnostic.h"

namespace eureka {
namespace {

// Rows of equal logits, of one key, and of weights that are no shares.
TEST(AttentionDiagnostic, KnowsTheLimits) {
  const auto numbers = [](std::vector<float> weights, std::vector<float> logits) {
    const auto keys = static_cast<std::int64_t>(weights.size());
    const std::vector<float> scale = {2};
    ObservationView view;
    view.samples = 1;
    for (const auto& [point, from] : {std::pair{Point::q, &logits},
                                      {Point::k, &logits},
                                      {Point::v, &logits},
                                      {Point::logits, &logits},
                                      {Point::weights, &weights}})
      view.values[static_cast<std::size_t>(point)] = {from->data(), {1, 1, 1, keys}, {keys, keys, keys}};
    view.scale = scale;
    const auto diagnostic = Registry<Diagnostic>::instance().make("attention");
    diagnostic->see(view);
    NamedNumbers all;
    NumberRow row("attention", all);
    diagnostic->report(row);
    return std::map<std::string, double>(all.begin(), all.end());
  };
  const auto flat = numbers({0.25F, 0.25F, 0.25F, 0.25F}, {3, 3, 3, 3});
  EXPECT_NEAR(flat.at("attention/entropy/layer0"), 1, 1e-12);
  EXPECT_EQ(flat.at("attention/logit_deviation/layer0"), 0);
  EXPECT_EQ(flat.at("attention/logit_max/layer0"), 6);
  const auto sharp = numbers({0, 1, 0}, {-1, 200, 0});
  EXPECT_EQ(sharp.at("attention/entropy/layer0"), 0);
  EXPECT_EQ(sharp.at("attention/largest_weight/layer0"), 1);
  EXPECT_FALSE(numbers({-1, 2}, {-1, 2}).contains("attention/entropy/layer0"));
  // One key: nothing to choose, so no rows to take means of.
  const auto lonely = numbers({1}, {1});
  EXPECT_FALSE(lonely.contains("attention/entropy/layer0"));
  EXPECT_TRUE(lonely.contains("attention/q_norm/layer0"));
}

}  // namespace
}  // namespace eureka
