// The language tasks beyond what conformance asks: next tokens, hidden ones, parts of the text, bits per character.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <set>

#include "base/error.h"
#include "support/temporary_directory.h"
#include "tasks/text_windows.h"

namespace eureka {
namespace {

using testing::HasSubstr;

class LanguageTasks : public testing::Test {
 protected:
  std::string write(const std::string& text) const {
    std::ofstream(directory_.path() / "text", std::ios::binary) << text;
    return (directory_.path() / "text").string();
  }
  static std::unique_ptr<Task> make(const std::string& name, OptionValues options) {
    return Registry<Task>::instance().make(name, options);
  }
  static Batch draw(const Task& task, const std::string& stream, std::int64_t samples = 200) {
    Batch batch;
    task.sample({.seed = 3, .stream = stream, .step = 1, .samples = samples}, batch);
    return batch;
  }

  TemporaryDirectory directory_;
};

// Training sees a and b, validation c and d: no window has both.
TEST_F(LanguageTasks, PartsOfTheTextNeverMeet) {
  std::string text;
  for (int i = 0; i < 900; ++i) text += i % 3 == 0 ? 'a' : 'b';
  const auto task = make("language", {{"text", write(text + std::string(100, 'c'))}, {"context", std::int64_t{16}}});
  EXPECT_EQ(task->shape().vocabulary, 3) << "unknown, a and b";
  const Batch train = draw(*task, "train", 2000), validation = draw(*task, "validation");
  for (const std::int32_t id : train.ids) ASSERT_NE(id, 0);
  for (const std::int64_t label : train.labels) ASSERT_NE(label, 0);
  for (const std::int32_t id : validation.ids) ASSERT_EQ(id, 0);
}

TEST_F(LanguageTasks, LabelsAreTheNextTokensAndEveryPlaceIsDrawn) {
  std::string text;  // characters in an order of their own: each tells the next
  for (int i = 0; i < 60; ++i) text += static_cast<char>('0' + i);
  const auto task = make("language", {{"text", write(text)}, {"context", std::int64_t{4}}});
  const Batch batch = draw(*task, "train", 2000);
  std::set<std::int32_t> firsts;
  for (std::size_t i = 0; i < batch.ids.size(); ++i) {
    ASSERT_EQ(batch.labels[i], batch.ids[i] + 1) << "all as common: ids by their bytes";
    if (i % 4 == 0) firsts.insert(batch.ids[i]);
  }
  EXPECT_EQ(firsts.size(), 50U) << "54 characters, windows of 5";
}

TEST_F(LanguageTasks, InductionRepeatsRandomTokensAndAsksForWhatCanBeKnown) {
  const auto task = make("language", {{"context", std::int64_t{11}}});
  const Batch second = draw(*task, "induction"), first = draw(*task, "induction first half");
  EXPECT_EQ(second.ids, first.ids);
  for (std::size_t sample = 0; sample < 200; ++sample)
    for (std::size_t i = 0; i < 11; ++i) {
      const std::size_t at = sample * 11 + i;
      ASSERT_NE(second.ids[at], 0);
      ASSERT_TRUE(i < 5 || second.ids[at] == second.ids[at - 5]);
      ASSERT_EQ(second.asked[at], i >= 5 && i < 9);
      ASSERT_EQ(first.asked[at], i < 4);
      ASSERT_TRUE(second.asked[at] == 0 || second.labels[at] == second.ids[at + 1 - 5]);
    }
}

// 64 tokens: 10 of them asked, 8 in 10 masked, 1 swapped, 1 kept; the rest is seen as it is.
TEST_F(LanguageTasks, FifteenInHundredAreHiddenAsInBert) {
  const auto task = make("masked-language", {});
  const TaskShape shape = task->shape();
  EXPECT_EQ(shape.vocabulary, shape.classes + 1);
  const Batch batch = draw(*task, "train", 2000);
  std::array<double, 4> counts{};
  for (std::size_t i = 0; i < batch.ids.size(); ++i) {
    ++counts[batch.roles[i]];
    ASSERT_EQ(batch.asked[i] != 0, batch.roles[i] != 0);
    ASSERT_TRUE(batch.roles[i] == 1 || batch.roles[i] == 2 || batch.ids[i] == batch.labels[i]);
    ASSERT_EQ(batch.ids[i] == shape.classes, batch.roles[i] == 1);
  }
  EXPECT_EQ(counts[1] + counts[2] + counts[3], 20'000);
  EXPECT_NEAR(counts[1], 16'000, 5 * std::sqrt(3200.0));
  EXPECT_NEAR(counts[2], 2000, 5 * std::sqrt(1800.0));
}

// The last tenth, ten characters, is "he is. he ": he, is, ., he and a space, five tokens. A token of ln 4 nats has 2
// bits: 10 bits to ten characters.
TEST_F(LanguageTasks, BitsAreToldPerCharacterWhateverATokenIs) {
  std::string text;
  while (text.size() < 100) text += "he is. ";
  text.resize(90);
  text += "he is. he ";
  const std::string path = write(text);
  const auto words = make("language", {{"text", path}, {"tokens", std::string("words")}, {"context", std::int64_t{4}}});
  EXPECT_NEAR(words->metric().value(std::log(4.0), 0), 1, 1e-12);
  const auto characters = make("language", {{"text", path}, {"context", std::int64_t{4}}});
  EXPECT_NEAR(characters->metric().value(std::log(4.0), 0), 2, 1e-12);
  EXPECT_EQ(words->metric().key(), "bits_per_character");
}

TEST_F(LanguageTasks, ATextShorterThanTheContextIsToldFromANormalOne) {
  const auto refusal = [&](const std::string& name, std::int64_t context) {
    try {
      make(name, {{"text", write(std::string(100, 'x'))}, {"context", context}});
    } catch (const Error& error) {
      EXPECT_EQ(error.exit_code(), 2);
      return error.message();
    }
    return std::string("accepted");
  };
  EXPECT_THAT(refusal("language", 100), HasSubstr("too short: its training part has 90 tokens, a sample takes 101"));
  EXPECT_THAT(refusal("language", 10), HasSubstr("its validation part has 10 tokens, a sample takes 11\n"));
  EXPECT_EQ(refusal("language", 9), "accepted");
  EXPECT_EQ(refusal("masked-language", 10), "accepted");
}

TEST_F(LanguageTasks, EveryKindOfTokenMakesATask) {
  for (const char* name : {"language", "masked-language"})
    for (const char* tokens : {"characters", "words", "byte-pairs"}) {
      const auto task = make(name, {{"tokens", std::string(tokens)}, {"context", std::int64_t{1024}}});
      const Batch batch = draw(*task, "validation", 4), again = draw(*task, "validation", 4);
      EXPECT_EQ(batch.ids, again.ids);
      EXPECT_EQ(batch.ids.size(), 4096U);
      EXPECT_TRUE(std::isfinite(task->metric().value(1, 0)));
    }
}

// Whoever looks at the place alone: a table of what stood behind each thing that is shown, of many answers.
TEST_F(LanguageTasks, ThePlateauOfHiddenTokensIsThatOfThePlaceAlone) {
  const auto task = make("masked-language", {{"context", std::int64_t{64}}});
  const auto ids = static_cast<std::size_t>(task->shape().vocabulary);
  std::vector<std::vector<double>> table(ids, std::vector<double>(ids, 0.02));
  std::vector<double> shown(ids, 0.02 * static_cast<double>(ids));
  Batch batch = draw(*task, "train", 60'000);
  for (std::size_t i = 0; i < batch.ids.size(); ++i)
    if (batch.asks(i)) {
      ++table[static_cast<std::size_t>(batch.ids[i])][static_cast<std::size_t>(batch.labels[i])];
      ++shown[static_cast<std::size_t>(batch.ids[i])];
    }
  double bits = 0, answers = 0;
  batch = draw(*task, "validation", 20'000);
  for (std::size_t i = 0; i < batch.ids.size(); ++i)
    if (batch.asks(i)) {
      const auto id = static_cast<std::size_t>(batch.ids[i]);
      bits -= std::log2(table[id][static_cast<std::size_t>(batch.labels[i])] / shown[id]);
      ++answers;
    }
  ASSERT_TRUE(task->metric().plateau);
  EXPECT_NEAR(bits / answers, *task->metric().plateau, 0.01);
  EXPECT_FALSE(make("language", {})->metric().plateau) << "text is learned smoothly";
}

}  // namespace
}  // namespace eureka
