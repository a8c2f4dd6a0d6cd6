// The attention diagnostic against reference.py, which is slow and obvious and wrote vectors.json.
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "base/files.h"
#include "diagnostics/diagnostic.h"
#include "diagnostics/diagnostic_set.h"
#include "engine/fused_engine.h"
#include "io/json.h"

namespace eureka {
namespace {

// A samples x heads x rows x columns array of the file, in float32.
struct Array {
  explicit Array(const Json& json) {
    for (const Json& sample : json)
      for (const Json& head : sample)
        for (const Json& row : head)
          for (const Json& value : row) values.push_back(value.get<float>());
    sizes = {static_cast<std::int64_t>(json.size()), static_cast<std::int64_t>(json[0].size()),
             static_cast<std::int64_t>(json[0][0].size()), static_cast<std::int64_t>(json[0][0][0].size())};
  }
  TensorView view(std::int64_t first, std::int64_t samples) const {
    const std::int64_t head = sizes[2] * sizes[3];
    return {values.data() + first * sizes[1] * head,
            {samples, sizes[1], sizes[2], sizes[3]},
            {sizes[1] * head, head, sizes[3]}};
  }
  std::vector<float> values;
  std::array<std::int64_t, 4> sizes;
};

// q.k of every pair, before the scale.
Json products(const Json& q, const Json& k) {
  Json all = Json::array();
  for (std::size_t s = 0; s < q.size(); ++s) {
    all.push_back(Json::array());
    for (std::size_t h = 0; h < q[s].size(); ++h) {
      Json rows = Json::array();
      for (const Json& query : q[s][h]) {
        Json row = Json::array();
        for (const Json& key : k[s][h]) {
          double sum = 0;
          for (std::size_t i = 0; i < key.size(); ++i) sum += query[i].get<double>() * key[i].get<double>();
          row.push_back(sum);
        }
        rows.push_back(row);
      }
      all.back().push_back(rows);
    }
  }
  return all;
}

// What the diagnostic says of a case, shown in views of `at_once` samples.
std::map<std::string, double> numbers_of(const Json& one, std::int64_t at_once) {
  const Json& given = one.at("given");
  const Array q(given.at("q")), k(given.at("k")), v(given.at("v")), weights(one.at("tensors").at("weights")),
      logits(products(given.at("q"), given.at("k")));
  const auto scale = given.at("scale").get<std::vector<float>>();
  const std::int64_t samples = q.sizes[0], tokens = q.sizes[2];
  std::vector<std::uint8_t> mask;
  for (std::int64_t s = 0; s < samples; ++s)
    for (std::int64_t query = 0; query < tokens; ++query)
      for (std::int64_t key = 0; key < tokens; ++key) {
        const auto sample = static_cast<std::size_t>(s), index = static_cast<std::size_t>(key);
        const bool shown = given.at("visible").is_null() || given.at("visible")[sample][index].get<int>() != 0;
        mask.push_back(shown && (!given.at("causal").get<bool>() || key <= query) ? 1 : 0);
      }
  const auto diagnostic = Registry<Diagnostic>::instance().make("attention");
  for (std::int64_t first = 0; first < samples; first += at_once) {
    ObservationView view;
    view.samples = std::min(at_once, samples - first);
    for (const auto& [point, array] : {std::pair{Point::q, &q},
                                       {Point::k, &k},
                                       {Point::v, &v},
                                       {Point::logits, &logits},
                                       {Point::weights, &weights}})
      view.values[static_cast<std::size_t>(point)] = array->view(first, view.samples);
    view.mask = {mask.data() + first * tokens * tokens, tokens * tokens, tokens};
    view.scale = scale;
    diagnostic->see(view);
  }
  NamedNumbers numbers;
  NumberRow row("attention", numbers);
  diagnostic->report(row);
  return {numbers.begin(), numbers.end()};
}

TEST(AttentionDiagnostic, AgreesWithTheReferenceOnItsTestVectors) {
  const Json cases = Json::parse(read_file(EUREKA_TESTS "/diagnostics/vectors.json"));
  std::size_t compared = 0;
  for (const Json& one : cases) {
    if (!one.contains("heads")) continue;
    SCOPED_TRACE(one.at("name").get<std::string>());
    const auto at_once = numbers_of(one, 100), singly = numbers_of(one, 1);
    EXPECT_EQ(at_once, singly);
    for (std::size_t head = 0; head < one.at("heads").size(); ++head)
      for (const auto& [name, expected] : one.at("heads")[head].at("attention").items()) {
        const std::string full = "attention/" + name + "/layer0/head" + std::to_string(head);
        ASSERT_TRUE(at_once.contains(full)) << full;
        EXPECT_NEAR(at_once.at(full), expected.get<double>(), 1e-6 * std::max(1.0, expected.get<double>())) << full;
        ++compared;
      }
  }
  EXPECT_EQ(compared, 6U * 7);
}

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
