// A run that somebody else trains leaves what a run of ours leaves.
#include "train/watched_run.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/error.h"
#include "support/temporary_directory.h"
#include "train/catalog.h"
#include "train/records/run_event.h"
#include "train/run_directory.h"

namespace eureka {
namespace {

const WatchedRunFacts kFacts{.program = "PyTorch 2.13.0", .model = "Encoder", .attention = "softmax"};

double stuck(int row) { return 0.55 + 0.45 / (1 + std::exp(-(row - 40.0))); }

TEST(WatchedRun, ReadsBackWithItsMoment) {
  const TemporaryDirectory place;
  const fs::path run = place.path() / "run";
  {
    WatchedRun watched(run, kFacts);
    watched.describe({{"watch.layers.layer0", std::string("encoder.layers.0")}});
    for (int row = 1; row <= 80; ++row)
      watched.log({.step = 25 * row, .numbers = {{"val_accuracy", stuck(row)}, {"val_loss", 2 - stuck(row)}}});
    watched.log({.step = 2025, .numbers = {{"attention/entropy/layer0", 0.5}}});
    EXPECT_EQ(watched.findings().moments.size(), 1U);
    EXPECT_EQ(read_meta(run).status, RunStatus::running);
    watched.end(RunStatus::finished, 2030);
  }
  EXPECT_EQ(read_metrics(run).size(), 81U);
  EXPECT_EQ(read_meta(run).status, RunStatus::finished);
  const auto summary = read_summary(run);
  ASSERT_TRUE(summary && summary->moment);
  EXPECT_NEAR(summary->moment->step, 1000, 30);
  EXPECT_EQ(summary->steps, 2030);
  EXPECT_DOUBLE_EQ(*summary->final_validation_metric, stuck(80));
  EXPECT_EQ(summary->diagnostics->numbers.front().first, "attention/entropy/layer0");
  bool told = false;
  for (const RunEvent& event : read_events(run)) told = told || std::holds_alternative<MomentConfirmed>(event.what);
  EXPECT_TRUE(told);
  const ConfigEntries entries = read_toml(read_file(run / "config.toml"), "config.toml");
  EXPECT_EQ(std::get<std::string>(entries.at("watch.layers.layer0").value), "encoder.layers.0");
  EXPECT_EQ(read_tfevents(run / "tb").size(), 3U);
}

TEST(WatchedRun, ANumberThatIsNoneEndsTheCurveAndNotTheRun) {
  const TemporaryDirectory place;
  WatchedRun watched(place.path(), kFacts);
  watched.log({.step = 1, .numbers = {{"val_loss", 2.0}}});
  watched.log({.step = 2, .numbers = {{"val_loss", std::numeric_limits<double>::quiet_NaN()}}});
  watched.end(RunStatus::diverged, 2);
  EXPECT_EQ(read_summary(place.path())->status, RunStatus::diverged);
  EXPECT_FALSE(read_summary(place.path())->final_validation_loss.has_value());
}

TEST(WatchedRun, RefusesAPlaceThatHoldsARunAndStepsThatGoBack) {
  const TemporaryDirectory place;
  {
    WatchedRun watched(place.path(), kFacts);
    watched.log({.step = 5, .numbers = {{"train_loss", 2.0}}});
    EXPECT_THROW(watched.log({.step = 5, .numbers = {{"train_loss", 2.0}}}), Error);
  }
  EXPECT_THROW(WatchedRun(place.path(), kFacts), Error);
}

TEST(WatchedRun, IsJudgedByTheValidationAsSoonAsThereIsOne) {
  const TemporaryDirectory place;
  WatchedRun watched(place.path(), kFacts);
  watched.log({.step = 1, .numbers = {{"train_loss", 2.0}}});
  for (int row = 1; row <= 80; ++row) watched.log({.step = 25 * row, .numbers = {{"val_accuracy", stuck(row)}}});
  watched.end(RunStatus::finished, 2000);
  EXPECT_EQ(read_summary(place.path())->metric, "accuracy");
  EXPECT_TRUE(read_summary(place.path())->moment.has_value());
}

TEST(WatchedRun, CannotBeTrainedOnAndTheErrorSaysWhy) {
  const TemporaryDirectory place;
  { const WatchedRun watched(place.path(), kFacts); }
  try {
    read_run_config(place.path(), Catalog("[]"));
    FAIL() << "took it for a run of its own";
  } catch (const Error& error) {
    EXPECT_NE(error.message().find("watched in another program"), std::string::npos) << error.message();
  }
}

}  // namespace
}  // namespace eureka
