// The algorithmic sequence tasks and recall, worked out again by brute force from the tokens alone.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "support/drawn_tasks.h"
#include "tasks/commonest_share.h"

namespace eureka {
namespace {

using Row = std::vector<std::int64_t>;

// Source and outputs of every sample; checks separator, teacher forcing and what is asked for on the way.
void each_sample(const Task& task, std::int64_t source, const std::function<void(const Row& x, const Row& y)>& check) {
  const Batch batch = draw(task, 300);
  const std::int64_t tokens = task.shape().tokens;
  ASSERT_EQ(task.oracle(batch).size(), batch.labels.size());
  for (std::int64_t first = 0; first < static_cast<std::int64_t>(batch.ids.size()); first += tokens) {
    const auto at = [&](std::int64_t i) { return static_cast<std::size_t>(first + i); };
    Row x, y;
    for (std::int64_t i = 0; i < source; ++i) {
      EXPECT_FALSE(batch.asks(at(i)));
      EXPECT_LT(batch.ids[at(i)], task.shape().vocabulary - 1);
      x.push_back(batch.ids[at(i)]);
    }
    EXPECT_EQ(batch.ids[at(source)], task.shape().vocabulary - 1);
    for (std::int64_t i = source; i < tokens; ++i) {
      EXPECT_TRUE(batch.asks(at(i)));
      if (i > source) {
        EXPECT_EQ(batch.ids[at(i)], y.back());
      }
      y.push_back(batch.labels[at(i)]);
    }
    check(x, y);
  }
}

TEST(PrefixSum, IsTheSumOfAllSoFar) {
  each_sample(*make("prefix-sum"), 16, [](const Row& x, const Row& y) {
    for (std::size_t i = 0; i < 16; ++i) {
      std::int64_t sum = 0;
      for (std::size_t k = 0; k <= i; ++k) sum += x[k];
      EXPECT_GE(x[i], 1);
      EXPECT_EQ(y[i], sum % 17);
    }
  });
}

TEST(WindowSum, IsTheSumOfTheWindow) {
  for (const std::int64_t window : {2, 3, 20})
    each_sample(*make("window-sum", {{"window", whole(window)}}), 16, [&](const Row& x, const Row& y) {
      for (std::int64_t i = 0; i < 16; ++i) {
        std::int64_t sum = 0;
        for (std::int64_t k = 0; k < 16; ++k) sum += k <= i && i - k < window ? x[static_cast<std::size_t>(k)] : 0;
        EXPECT_EQ(y[static_cast<std::size_t>(i)], sum % 17);
      }
    });
  EXPECT_DOUBLE_EQ(*make("window-sum")->metric().plateau, (1 + 15.0 / 16) / 16);
}

// Every sum of a window of numbers, and the best guess of it by somebody who sees the newest number.
TEST(WindowSum, PlateauIsThatOfAllSequences) {
  constexpr int kModulus = 5, kLength = 4, kWindow = 3;
  std::map<std::array<int, 3>, int> seen;  // place, newest, sum
  std::array<int, kLength> x{};
  for (int code = 0; code < 256; ++code) {
    for (int i = 0, rest = code; i < kLength; ++i, rest /= kModulus - 1) x[static_cast<std::size_t>(i)] = 1 + rest % 4;
    for (int i = 0; i < kLength; ++i) {
      int sum = 0;
      for (int k = std::max(0, i - kWindow + 1); k <= i; ++k) sum += x[static_cast<std::size_t>(k)];
      ++seen[{i, x[static_cast<std::size_t>(i)], sum % kModulus}];
    }
  }
  std::map<std::pair<int, int>, int> best;
  for (const auto& [what, count] : seen) best[{what[0], what[1]}] = std::max(best[{what[0], what[1]}], count);
  double right = 0;
  for (const auto& [what, count] : best) right += count;
  const auto task =
      make("window-sum", {{"modulus", whole(kModulus)}, {"length", whole(kLength)}, {"window", whole(3)}});
  EXPECT_DOUBLE_EQ(*task->metric().plateau, right / (256 * kLength));
}

TEST(Histogram, CountsEveryValue) {
  each_sample(*make("histogram"), 16, [](const Row& x, const Row& y) {
    std::map<std::int64_t, std::int64_t> counts;
    for (const std::int64_t value : x) ++counts[value];
    for (std::size_t i = 0; i < 16; ++i) EXPECT_EQ(y[i], counts[x[i]]);
  });
}

// All sequences of four values out of three; the best guess of a count by the one before.
TEST(Histogram, PlateauIsThatOfAllSequences) {
  std::map<std::pair<int, int>, std::map<int, int>> seen;
  for (int code = 0; code < 81; ++code) {
    const std::array<int, 4> x = {code % 3, code / 3 % 3, code / 9 % 3, code / 27};
    int before = 0;
    for (const int value : x) {
      const auto count = static_cast<int>(std::count(x.begin(), x.end(), value));
      ++seen[{before == 0 ? 0 : 1, before}][count];
      before = count;
    }
  }
  double right = 0;
  for (const auto& [what, counts] : seen) {
    int most = 0;
    for (const auto& [count, times] : counts) most = std::max(most, times);
    right += most;
  }
  const auto task = make("histogram", {{"length", whole(4)}, {"values", whole(3)}});
  EXPECT_NEAR(*task->metric().plateau, right / (81 * 4), 1e-12);
}

TEST(Permutation, IsOneOrderForAllSamples) {
  std::set<std::vector<std::int64_t>> orders;
  for (const std::int64_t order : {0, 1}) {
    const auto task = make("permutation", {{"order", whole(order)}});
    const Batch batch = draw(*task, 1);
    Row places;
    for (std::int64_t i = 16; i < 32; ++i) places.push_back(task->keys_of_answer(batch, i).at(0));
    orders.insert(places);
    each_sample(*task, 16, [&](const Row& x, const Row& y) {
      for (std::size_t i = 0; i < 16; ++i) EXPECT_EQ(y[i], x[static_cast<std::size_t>(places[i])]);
    });
    std::sort(places.begin(), places.end());
    for (std::int64_t i = 0; i < 16; ++i) EXPECT_EQ(places[static_cast<std::size_t>(i)], i);
  }
  EXPECT_EQ(orders.size(), 2U);
}

TEST(ReversedAddition, IsTheSumFromItsLastDigit) {
  each_sample(*make("reversed-addition"), 8, [](const Row& x, const Row& y) {
    std::int64_t a = 0, b = 0, c = 0;
    for (std::size_t i = 0; i < 4; ++i) a = 10 * a + x[i], b = 10 * b + x[4 + i];
    for (std::size_t i = 5; i-- > 0;) c = 10 * c + y[i];
    EXPECT_EQ(a + b, c);
  });
}

// All sums of two digits: the best guess of each digit by the one before.
TEST(ReversedAddition, PlateauIsThatOfAllSums) {
  std::map<std::array<int, 2>, std::map<int, int>> seen;  // place and digit before
  for (int a = 0; a < 100; ++a)
    for (int b = 0; b < 100; ++b) {
      int before = -1;
      for (int place = 0, rest = a + b; place < 3; ++place, rest /= 10) {
        ++seen[{place, before}][rest % 10];
        before = rest % 10;
      }
    }
  double right = 0;
  for (const auto& [what, digits] : seen) {
    int most = 0;
    for (const auto& [digit, times] : digits) most = std::max(most, times);
    right += most;
  }
  EXPECT_NEAR(*make("reversed-addition", {{"digits", whole(2)}})->metric().plateau, right / 30'000, 1e-12);
}

TEST(ModularAddition, SidesHoldBothOrdersOfAPairAndTheirShare) {
  const auto task = make("modular-addition", {{"modulus", whole(11)}});
  std::map<std::string, std::set<std::pair<int, int>>> sides;
  for (const std::string stream : {"train", "validation"}) {
    const Batch batch = draw(*task, 5000, stream);
    for (std::size_t i = 0; i < batch.ids.size(); i += 3) {
      sides[stream].insert({batch.ids[i], batch.ids[i + 1]});
      EXPECT_EQ(batch.labels[i + 2], (batch.ids[i] + batch.ids[i + 1]) % 11);
    }
  }
  for (const auto& [stream, pairs] : sides)
    for (const auto& [a, b] : pairs) EXPECT_TRUE(pairs.contains({b, a}));
  EXPECT_EQ(sides["train"].size() + sides["validation"].size(), 121U);
  const auto unordered = std::count_if(sides["train"].begin(), sides["train"].end(),
                                       [](const auto& pair) { return pair.first <= pair.second; });
  EXPECT_EQ(unordered, 39) << "0.6 of 66";
}

TEST(Recall, AnswersAreTheValuesOfTheKeys) {
  const auto task = make("recall");
  ASSERT_EQ(task->shape().tokens, 31);
  const Batch batch = draw(*task, 300);
  for (std::size_t first = 0; first < batch.ids.size(); first += 31) {
    std::map<int, int> value_of;
    for (std::size_t i = 0; i < 16; i += 2) value_of[batch.ids[first + i]] = batch.ids[first + i + 1];
    EXPECT_EQ(value_of.size(), 8U) << "a key twice";
    for (std::size_t i = 0; i < 31; ++i) {
      const bool query = i >= 16 && i % 2 == 0;
      EXPECT_EQ(batch.asks(first + i), query);
      if (!query) continue;
      const int value = value_of.at(batch.ids[first + i]);
      EXPECT_GE(value, 16);
      EXPECT_EQ(batch.labels[first + i], value);
      const auto keys = task->keys_of_answer(batch, static_cast<std::int64_t>(first + i));
      ASSERT_EQ(keys.size(), 1U);
      EXPECT_EQ(batch.ids[first + static_cast<std::size_t>(keys[0])], value);
      if (i < 30) {
        EXPECT_EQ(batch.ids[first + i + 1], value);
      }
      value_of.erase(batch.ids[first + i]);
    }
    EXPECT_TRUE(value_of.empty()) << "a key nobody asked for";
  }
}

TEST(Recall, RefusesMorePairsThanKeys) {
  EXPECT_THROW(make("recall", {{"pairs", whole(9)}, {"keys", whole(8)}}), Error);
}

TEST(CommonestShare, IsThatOfAllDraws) {
  for (const auto& [draws, values] : {std::pair{5, 4}, {6, 2}, {4, 7}, {3, 1}}) {
    std::int64_t sum = 0, all = 1;
    for (int i = 0; i < draws; ++i) all *= values;
    for (std::int64_t code = 0; code < all; ++code) {
      std::vector<int> counts(static_cast<std::size_t>(values));
      std::int64_t rest = code;
      for (int i = 0; i < draws; ++i, rest /= values) ++counts[static_cast<std::size_t>(rest % values)];
      sum += *std::max_element(counts.begin(), counts.end());
    }
    EXPECT_NEAR(commonest_share(draws, values), static_cast<double>(sum) / static_cast<double>(all * draws), 1e-12);
  }
  EXPECT_NEAR(commonest_share(256, 65536), 1.0 / 256, 0.01);  // stays finite
}

}  // namespace
}  // namespace eureka
