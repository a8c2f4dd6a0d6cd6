// The diagnostics on plain arrays, against reference.py, which is slow and obvious and wrote vectors.json.
#include "diagnostics/array_attention.h"

#include <gtest/gtest.h>

#include <map>

#include "base/files.h"
#include "io/json.h"
#include "support/reference_array.h"

namespace eureka {
namespace {

TEST(ArrayAttention, EveryNumberAndTensorOfTheReferenceIsReproduced) {
  std::size_t compared = 0;
  for (const Json& one : Json::parse(read_file(EUREKA_TESTS "/diagnostics/vectors.json"))) {
    if (!one.contains("heads")) continue;
    SCOPED_TRACE(one.at("name").get<std::string>());
    const Json& given = one.at("given");
    const ReferenceArray q(given.at("q")), k(given.at("k")), v(given.at("v")), d_out(given.at("d_out"));
    ArrayAttention arrays{.q = q.view(), .k = k.view(), .v = v.view(), .d_out = d_out.view()};
    arrays.scale = given.at("scale").get<std::vector<float>>();
    arrays.causal = given.at("causal").get<bool>();
    std::vector<std::uint8_t> visible;
    if (!given.at("visible").is_null()) {
      for (const Json& sample : given.at("visible"))
        for (const Json& key : sample) visible.push_back(static_cast<std::uint8_t>(key.get<int>()));
      arrays.visible = {visible.data(), k.sizes[2], 0, 0};
    }
    const ArrayLook look = look_at_arrays(arrays, make_fused_rule("softmax"), 5);
    const std::map<std::string, double> numbers(look.numbers.begin(), look.numbers.end());
    for (std::size_t head = 0; head < one.at("heads").size(); ++head)
      for (const char* diagnostic : {"attention", "jacobian", "attenuation"})
        for (const auto& [name, expected] : one.at("heads")[head].at(diagnostic).items()) {
          const std::string full = std::string(diagnostic) + "/" + name + "/layer5/head" + std::to_string(head);
          ASSERT_TRUE(numbers.contains(full)) << full;
          EXPECT_NEAR(numbers.at(full), expected.get<double>(), 1e-5 * std::max(1.0, expected.get<double>())) << full;
          ++compared;
        }
    const ReferenceArray d_q(one.at("tensors").at("d_q"));
    ASSERT_EQ(look.tensors.d_q.size(), d_q.values.size());
    for (std::size_t i = 0; i < d_q.values.size(); ++i) EXPECT_NEAR(look.tensors.d_q[i], d_q.values[i], 1e-5);
  }
  EXPECT_EQ(compared, 6U * (7 + 6 + 10));
}

TEST(ArrayAttention, WhatDoesNotFitIsRefused) {
  const std::vector<float> values(2 * 3 * 4, 1.0F);
  const TensorView fits{values.data(), {1, 2, 3, 4}, {24, 12, 4}}, narrow{values.data(), {1, 2, 3, 2}, {24, 12, 4}};
  const FusedRule softmax = make_fused_rule("softmax");
  EXPECT_THROW(look_at_arrays({.q = fits, .k = narrow, .v = fits, .scale = {1, 1}}, softmax, 0), Error);
  EXPECT_THROW(look_at_arrays({.q = fits, .k = fits, .v = fits, .scale = {1}}, softmax, 0), Error);
  EXPECT_THROW(look_at_arrays({.q = fits, .k = fits, .v = fits, .scale = {1, 1}}, make_fused_rule("linear"), 0), Error);
  EXPECT_NO_THROW(look_at_arrays({.q = fits, .k = fits, .v = fits, .scale = {1, 1}}, softmax, 0));
}

}  // namespace
}  // namespace eureka
