// A run on a task whose metric is no accuracy: the records name it, the detector follows its direction.
#include <gtest/gtest.h>

#include "base/embedded.h"
#include "base/files.h"
#include "io/json.h"
#include "support/example_tasks.h"
#include "support/temporary_directory.h"
#include "train/detection.h"
#include "train/run.h"

namespace eureka {
namespace {

RunConfig config_of(const std::string& task, std::int64_t steps) {
  static const Catalog catalog{declarations::files().front().text};
  ConfigEntries entries = read_toml(
      "model = {name = 'decoder', init.weights = 0.2}\n[train]\nbatch = 32\nlr = 3e-3\neval_every = 10\n"
      "validation_samples = 100\nlabel_smoothing = 0\n[run]\ncheckpoint_every = 20\n",
      "example");
  entries["task.name"] = {task, "example"};
  entries["train.steps"] = {steps, "example"};
  return resolve_config(entries, catalog);
}

Json run(const RunConfig& config, const fs::path& directory, bool resume = false) {
  RunObserver nobody;
  const std::atomic<bool> stop = false;
  return Json::parse(to_text(*run_training(config, {.directory = directory, .resume = resume}, nobody, stop).summary));
}

std::vector<Json> rows_of(const fs::path& directory) {
  std::vector<Json> rows;
  const std::string text = read_file(directory / "metrics.jsonl");
  for (std::size_t begin = 0, end; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1)
    rows.push_back(Json::parse(text.substr(begin, end - begin)));
  return rows;
}

TEST(RunMetric, ExplainedVarianceHasItsOwnKeysAndMayBeNegative) {
  const TemporaryDirectory scratch;
  const Json summary = run(config_of("example-regression", 40), scratch.path() / "a");
  EXPECT_EQ(summary.at("metric"), "explained_variance");
  EXPECT_EQ(summary.at("task_plateau_explained_variance"), 0.0);
  EXPECT_TRUE(summary.at("final_validation_explained_variance").is_number());
  EXPECT_FALSE(summary.contains("final_validation_accuracy"));
  const std::vector<Json> rows = rows_of(scratch.path() / "a");
  ASSERT_EQ(rows.size(), 5U);
  EXPECT_LT(rows[0].at("val_explained_variance").get<double>(), 0) << "an untrained model is worse than none";
  EXPECT_TRUE(rows[1].contains("train_explained_variance"));
  EXPECT_FALSE(rows[1].contains("val_accuracy"));
}

TEST(RunMetric, ResumedRunReadsItsOwnMetricAgain) {
  const TemporaryDirectory scratch;
  const RunConfig config = config_of("example-regression", 40);
  run(config, scratch.path() / "a");
  run(config, scratch.path() / "b");
  fs::remove(scratch.path() / "b" / "summary.json");
  fs::remove_all(scratch.path() / "b" / "checkpoints" / "step-40");
  run(config, scratch.path() / "b", true);
  for (const char* file : {"metrics.jsonl", "summary.json"})
    EXPECT_EQ(read_file(scratch.path() / "a" / file), read_file(scratch.path() / "b" / file));
}

TEST(RunMetric, BitsAreTheLossInBitsAndFall) {
  const TemporaryDirectory scratch;
  const RunConfig config = config_of("example-text", 200);
  const Json summary = run(config, scratch.path() / "a");
  const double bits = summary.at("final_validation_bits_per_character").get<double>();
  EXPECT_NEAR(bits, summary.at("final_validation_loss").get<double>() / std::log(2.0), 1e-12);
  EXPECT_NEAR(bits, 1.55, 0.1);
  const auto task = Registry<Task>::instance().make("example-text");
  EXPECT_EQ(detector_options(*task, config).direction, Direction::down);
  EXPECT_EQ(detector_options(*task, config).plateau_level, 2.0);
}

}  // namespace
}  // namespace eureka
