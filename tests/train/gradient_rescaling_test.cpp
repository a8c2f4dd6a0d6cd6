// Gradients of queries, keys and values brought to one size: numbers worked out by hand.
#include "train/gradient_rescaling.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace eureka {
namespace {

using testing::ElementsAre;

// One block of width 2 with two heads of one row each, rows four floats apart, and a parameter that is none of ours.
class Rescaling : public testing::Test {
 protected:
  Rescaling() {
    const auto add = [&](const std::string& name, std::vector<std::vector<float>> rows) {
      specs_.push_back({name, {static_cast<std::int64_t>(rows.size()), 2}, ParameterGroup::query_key, {}, true});
      parts_.push_back({numbers_.size(), rows.size(), 2, 4});
      for (std::vector<float>& row : rows) {
        row.resize(4);
        numbers_.insert(numbers_.end(), row.begin(), row.end());
      }
    };
    add("blocks.0.attn.q.weight", {{1, -3}, {0, 0}});  // mean size 1; heads 2 and 0
    add("blocks.0.attn.k.weight", {{2, 2}, {-2, 2}});  // 2; 2 and 2
    add("blocks.0.attn.v.weight", {{8, -8}, {1, 3}});  // 5; 8 and 2
    add("blocks.0.attn.proj.weight", {{7, 7}, {7, 7}});
  }

  std::vector<float> after(Rescale how) {
    const FlatGradient gradient{.data = numbers_.data(), .numbers = numbers_.size(), .parts = parts_};
    rescale_gradients(gradient, specs_, how, 2);
    return numbers_;
  }

  std::vector<ParameterSpec> specs_;
  std::vector<ParameterPart> parts_;
  std::vector<float> numbers_;
};

TEST_F(Rescaling, ToTheMeanOfTheBlock) {
  // (1 + 2 + 5) / 3 = 8/3: factors 8/3, 4/3 and 8/15.
  const float q = 8.0F / 3, k = 4.0F / 3, v = 8.0F / 15;
  const std::vector<float> expected = {q,     -3 * q, 0, 0, 0, 0,     0, 0, 2 * k, 2 * k, 0, 0, -2 * k, 2 * k, 0, 0,
                                       8 * v, -8 * v, 0, 0, v, 3 * v, 0, 0, 7,     7,     0, 0, 7,      7,     0, 0};
  EXPECT_THAT(after(Rescale::block_mean), testing::Pointwise(testing::FloatEq(), expected));
}

TEST_F(Rescaling, OfEveryHeadToItsValues) {
  // Head 0: q by 8/2, k by 8/2. Head 1: a gradient of zero stays, k by 2/2.
  EXPECT_THAT(after(Rescale::heads_to_value), ElementsAre(4, -12, 0, 0, 0, 0, 0, 0,  //
                                                          8, 8, 0, 0, -2, 2, 0, 0,   //
                                                          8, -8, 0, 0, 1, 3, 0, 0,   //
                                                          7, 7, 0, 0, 7, 7, 0, 0));
}

TEST_F(Rescaling, NormIsThatOfAllNumbers) {
  numbers_ = {3, 0, 4, 0};
  EXPECT_DOUBLE_EQ(norm_of({.data = numbers_.data(), .numbers = 4, .parts = {}}), 5);
}

}  // namespace
}  // namespace eureka
