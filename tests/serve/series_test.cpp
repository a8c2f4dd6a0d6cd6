// Points of a chart are rows of the file, and none that matters is lost.
#include "serve/series.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "serve/long_metrics.h"
#include "support/drawn_study.h"
#include "support/temporary_directory.h"

namespace eureka::serve {
namespace {

using testing::ElementsAre;

double value_at(std::int64_t step) {
  return std::sin(static_cast<double>(step) / 1000) + static_cast<double>(step % 7) / 10;
}

class SeriesOf : public testing::Test {
 protected:
  OpenFile file(const std::string& text) const {
    write_text(directory_.path() / "run" / "metrics.jsonl", text);
    return open();
  }
  OpenFile open() const { return std::move(*ServedTree(directory_.path()).open("run")->open("metrics.jsonl")); }
  static std::string rows(std::int64_t count, std::int64_t from = 0) {
    std::string text;
    for (std::int64_t step = from; step < from + count; ++step)
      text += fmt::format("{{\"step\":{},\"val_accuracy\":{}{}}}\n", step, value_at(step),
                          step % 50 == 0 ? fmt::format(",\"attention/entropy\":{}", step) : "");
    return text;
  }
  static void expect_rows_of_the_file(const Series& series) {
    ASSERT_EQ(series.steps.size(), series.columns[0].size());
    for (std::size_t i = 0; i < series.steps.size(); ++i)
      EXPECT_EQ(series.columns[0][i], value_at(static_cast<std::int64_t>(series.steps[i])));
  }

  TemporaryDirectory directory_;
};

TEST_F(SeriesOf, AFewRowsHasThemAll) {
  const OpenFile metrics = file("{\"step\":0,\"a\":1,\"b\":2}\n{\"step\":5,\"a\":null}\n{\"step\":9,\"b\":4}\n");
  const Series series = read_series(metrics, {.columns = {"a", "b", "c"}});
  EXPECT_THAT(series.steps, ElementsAre(0, 5, 9));
  EXPECT_THAT(series.columns[0], ElementsAre(1, testing::IsNan(), testing::IsNan()));
  EXPECT_THAT(series.columns[1], ElementsAre(2, testing::IsNan(), 4));
  EXPECT_THAT(series.columns[2], testing::Each(testing::IsNan()));
  // Rows in which none of the columns is are not there.
  EXPECT_THAT(read_series(metrics, {.columns = {"b"}}).steps, ElementsAre(0, 9));
}

TEST_F(SeriesOf, ATornLineEndsBeforeIt) {
  const std::string whole = rows(3);
  EXPECT_EQ(read_series(file(whole + "{\"step\":3,\"val_acc"), {.columns = {"val_accuracy"}}).steps.size(), 3U);
  EXPECT_EQ(read_series(open(), {.columns = {"val_accuracy"}}).offset, whole.size());
}

TEST_F(SeriesOf, WhatIsNoRowIsPassedOver) {
  const OpenFile metrics = file("nonsense\n" + rows(2) + "{\"step\":1,\"val_accuracy\":9}\n[]\n\n" + rows(1, 2));
  EXPECT_THAT(read_series(metrics, {.columns = {"val_accuracy"}}).steps, ElementsAre(0, 1, 2));
}

TEST_F(SeriesOf, ManyRowsKeepsExtremesAndEveryRowOfAnExactStretch) {
  std::string text = rows(20'000);
  text += "{\"step\":20000,\"val_accuracy\":99}\n" + rows(20'000, 20'001);
  const Series series = read_series(file(text), {.columns = {"val_accuracy"}, .points = 400, .exact = {{7000, 7100}}});
  EXPECT_LT(series.steps.size(), 1000U);
  EXPECT_EQ(*std::max_element(series.columns[0].begin(), series.columns[0].end()), 99);
  EXPECT_EQ(std::count_if(series.steps.begin(), series.steps.end(), [](double s) { return s >= 7000 && s <= 7100; }),
            101);
  EXPECT_EQ(series.steps.front(), 0);
  EXPECT_EQ(series.steps.back(), 40'000);
}

TEST_F(SeriesOf, ARangeIsOnlyThat) {
  const Series series = read_series(file(rows(1000)), {.columns = {"val_accuracy"}, .from = 100, .to = 110});
  EXPECT_THAT(series.steps, ElementsAre(100, 101, 102, 103, 104, 105, 106, 107, 108, 109, 110));
}

TEST_F(SeriesOf, ALongFileHasItsOwnRowsAndReadsOn) {
  const OpenFile metrics = file(rows(300'000));
  ASSERT_GT(metrics.stamp().bytes, kReadDirectly);
  LongMetrics known;
  known.read_on(metrics);
  EXPECT_EQ(known.rows(), 300'000U);
  EXPECT_THAT(known.columns(), ElementsAre("val_accuracy", "attention/entropy"));
  SeriesQuery whole{.columns = {"val_accuracy"}, .points = 300};
  whole.exact = {{150'000, 150'100}};
  const Series overview = known.answer(metrics, whole);
  EXPECT_LT(overview.steps.size(), 2000U);
  expect_rows_of_the_file(overview);
  EXPECT_EQ(overview.steps.back(), 299'999);
  EXPECT_GE(std::count_if(overview.steps.begin(), overview.steps.end(),
                          [](double s) { return s >= 150'000 && s <= 150'100; }),
            101);
  // A short stretch is read from the file, like a short file.
  const SeriesQuery part{
      .columns = {"val_accuracy", "attention/entropy"}, .points = 300, .from = 123'456, .to = 124'000};
  const Series near = known.answer(metrics, part);
  expect_rows_of_the_file(near);
  EXPECT_EQ(near.steps.front(), 123'456);
  EXPECT_EQ(near.steps.back(), 124'000);

  std::ofstream(directory_.path() / "run" / "metrics.jsonl", std::ios::app) << rows(10, 300'000) + "{\"step\":";
  known.read_on(metrics);
  EXPECT_EQ(known.rows(), 300'010U);
  EXPECT_EQ(known.answer(metrics, {.columns = {"val_accuracy"}, .from = 299'999}).steps.size(), 11U);
  // Cut back, as by a run that was resumed from a checkpoint: read anew.
  file(rows(5));
  known.read_on(open());
  EXPECT_EQ(known.rows(), 5U);
}

}  // namespace
}  // namespace eureka::serve
