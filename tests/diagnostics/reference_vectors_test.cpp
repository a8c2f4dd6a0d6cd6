// Diagnostics of attention against reference.py, which is slow and obvious and wrote vectors.json.
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "base/files.h"
#include "diagnostics/diagnostic.h"
#include "io/json.h"
#include "kernels/fused_rules.h"
#include "support/reference_array.h"

namespace eureka {
namespace {

ReferenceArray times(ReferenceArray array, const std::vector<float>& factor_of_head) {
  const auto per_head = static_cast<std::size_t>(array.sizes[2] * array.sizes[3]);
  for (std::size_t i = 0; i < array.values.size(); ++i)
    array.values[i] *= factor_of_head[i / per_head % factor_of_head.size()];
  return array;
}

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

// One case of the file, as an engine would show it.
class Case {
 public:
  explicit Case(const Json& one)
      : scale_(one.at("given").at("scale").get<std::vector<float>>()),
        strength_(scale_.size(), 1.0F),
        rule_(make_fused_rule("softmax")) {
    const Json &given = one.at("given"), &tensors = one.at("tensors");
    const ReferenceArray d_scaled_logits(tensors.at("d_scaled_logits"));
    values_ = {{Point::q, ReferenceArray(given.at("q"))},
               {Point::k, ReferenceArray(given.at("k"))},
               {Point::v, ReferenceArray(given.at("v"))},
               {Point::logits, ReferenceArray(products(given.at("q"), given.at("k")))},
               {Point::weights, ReferenceArray(tensors.at("weights"))}};
    gradients_ = {{Point::q, ReferenceArray(tensors.at("d_q"))},
                  {Point::k, ReferenceArray(tensors.at("d_k"))},
                  {Point::v, ReferenceArray(tensors.at("d_v"))},
                  {Point::logits, times(d_scaled_logits, scale_)},
                  {Point::weights, ReferenceArray(tensors.at("d_weights"))}};
    make_mask(given);
  }

  // What a diagnostic says, shown views of `at_once` samples.
  std::map<std::string, double> numbers(const std::string& name, std::int64_t at_once) const {
    const auto diagnostic = Registry<Diagnostic>::instance().make(name);
    const std::int64_t tokens = values_.at(Point::q).sizes[2], samples = values_.at(Point::q).sizes[0];
    for (std::int64_t first = 0; first < samples; first += at_once) {
      ObservationView view;
      view.samples = std::min(at_once, samples - first);
      for (const auto& [point, array] : values_)
        view.values[static_cast<std::size_t>(point)] = array.view(first, view.samples);
      for (const auto& [point, array] : gradients_)
        view.gradients[static_cast<std::size_t>(point)] = array.view(first, view.samples);
      view.mask = {mask_.data() + first * tokens * tokens, tokens * tokens, tokens};
      view.scale = scale_;
      view.strength = strength_;
      view.inverse_root_width = 1 / std::sqrt(static_cast<float>(values_.at(Point::q).sizes[3]));
      view.rule = &rule_;
      diagnostic->see(view);
    }
    NamedNumbers all;
    NumberRow row(name, all);
    diagnostic->report(row);
    return {all.begin(), all.end()};
  }

 private:
  void make_mask(const Json& given) {
    const std::int64_t tokens = values_.at(Point::q).sizes[2];
    for (std::int64_t s = 0; s < values_.at(Point::q).sizes[0]; ++s)
      for (std::int64_t query = 0; query < tokens; ++query)
        for (std::int64_t key = 0; key < tokens; ++key) {
          const auto sample = static_cast<std::size_t>(s), index = static_cast<std::size_t>(key);
          const bool shown = given.at("visible").is_null() || given.at("visible")[sample][index].get<int>() != 0;
          mask_.push_back(shown && (!given.at("causal").get<bool>() || key <= query) ? 1 : 0);
        }
  }

  std::map<Point, ReferenceArray> values_, gradients_;
  std::vector<float> scale_, strength_;
  std::vector<std::uint8_t> mask_;
  FusedRule rule_;
};

TEST(DiagnosticVectors, EveryNumberOfTheReferenceIsReproduced) {
  const Json cases = Json::parse(read_file(EUREKA_TESTS "/diagnostics/vectors.json"));
  std::size_t compared = 0;
  for (const Json& one : cases) {
    if (!one.contains("heads")) continue;
    const Case shown(one);
    for (const char* diagnostic : {"attention", "jacobian", "attenuation"}) {
      SCOPED_TRACE(one.at("name").get<std::string>() + " " + diagnostic);
      const auto at_once = shown.numbers(diagnostic, 100), singly = shown.numbers(diagnostic, 1);
      EXPECT_EQ(at_once, singly);
      for (std::size_t head = 0; head < one.at("heads").size(); ++head)
        for (const auto& [name, expected] : one.at("heads")[head].at(diagnostic).items()) {
          const std::string full = std::string(diagnostic) + "/" + name + "/layer0/head" + std::to_string(head);
          ASSERT_TRUE(at_once.contains(full)) << full;
          // The arrays are given in float32.
          EXPECT_NEAR(at_once.at(full), expected.get<double>(), 3e-6 * std::max(1.0, expected.get<double>())) << full;
          ++compared;
        }
    }
  }
  EXPECT_EQ(compared, 6U * (7 + 6 + 10));
}

TEST(DiagnosticVectors, ResidualStreamIsThatOfTheReference) {
  const Json cases = Json::parse(read_file(EUREKA_TESTS "/diagnostics/vectors.json"));
  bool compared = false;
  for (const Json& one : cases) {
    if (one.at("name").get<std::string>() != "residual") continue;
    std::vector<float> values;
    const Json& x = one.at("given").at("x");
    for (const Json& sample : x)
      for (const Json& token : sample)
        for (const Json& value : token) values.push_back(value.get<float>());
    const auto samples = static_cast<std::int64_t>(x.size()), tokens = static_cast<std::int64_t>(x[0].size()),
               width = static_cast<std::int64_t>(x[0][0].size());
    ObservationView view{.layer = 2, .samples = samples};
    view.values[static_cast<std::size_t>(Point::residual)] = {
        values.data(), {samples, 1, tokens, width}, {tokens * width, 0, width}};
    const auto diagnostic = Registry<Diagnostic>::instance().make("representation");
    diagnostic->see(view);
    NamedNumbers all;
    NumberRow row("representation", all);
    diagnostic->report(row);
    const std::map<std::string, double> numbers(all.begin(), all.end());
    EXPECT_NEAR(numbers.at("representation/cosine/layer2"), one.at("mean_pairwise_cosine").get<double>(), 1e-6);
    EXPECT_NEAR(numbers.at("representation/effective_rank/layer2"), one.at("effective_rank").get<double>(), 1e-6);
    compared = true;
  }
  EXPECT_TRUE(compared);
}

}  // namespace
}  // namespace eureka
