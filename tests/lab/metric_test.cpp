// A study of a task whose metric is no accuracy: values below 0 are results like any other.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "io/json.h"
#include "lab/study_report.h"
#include "support/example_tasks.h"
#include "support/temporary_directory.h"
#include "train/records/run_summary.h"

namespace eureka {
namespace {

// Runs of 30 steps that go from -0.5 to `last` and have no moment.
void write_run(const fs::path& directory, const std::string& metric, double last) {
  fs::create_directories(directory);
  std::string rows;
  for (const std::int64_t step : {10, 20, 30}) {
    MetricsRow row{.step = step, .numbers = {}};
    row.add("val_" + metric, -0.5 + static_cast<double>(step - 10) / 20 * (last + 0.5));
    row.add(kValidationLoss, 1);
    rows += to_text(row) + "\n";
  }
  atomic_write(directory / "metrics.jsonl", rows);
  RunSummary summary;
  summary.steps = 30;
  summary.metric = metric;
  summary.final_validation_metric = last;
  atomic_write(directory / "summary.json", to_text(summary));
}

StudyReport report_of(const std::string& task, const std::vector<std::vector<double>>& last, const fs::path& out) {
  Study study;
  study.name = "metric";
  study.points.emplace_back();
  std::vector<Trial> trials;
  const Metric metric = Registry<Task>::instance().make(task)->metric();
  for (std::size_t arm = 0; arm < last.size(); ++arm) {
    study.arms.push_back({std::string(1, static_cast<char>('a' + arm)), {}});
    for (std::size_t seed = 0; seed < last[arm].size(); ++seed) {
      Trial trial;
      trial.arm = arm;
      trial.seed = static_cast<std::int64_t>(seed);
      trial.directory = out / study.arms[arm].name / std::to_string(seed);
      trial.config.task = {task, {}};
      trial.config.train.steps = 30;
      write_run(trial.directory, metric.key(), last[arm][seed]);
      trials.push_back(trial);
    }
  }
  return report_study(study, trials, out);
}

TEST(StudyMetric, NegativeExplainedVarianceIsAResult) {
  const TemporaryDirectory scratch;
  const StudyReport report = report_of("example-regression", {{-0.2, -0.1, -0.3}, {0.8, 0.9, 0.7}}, scratch.path());
  const PointReport& point = report.points.at(0);
  const auto final_of = [&](std::size_t arm) { return *point.arms[arm].statistics.summary.final_accuracy; };
  EXPECT_DOUBLE_EQ(final_of(0).median, -0.2);
  EXPECT_NEAR(final_of(0).mean, -0.2, 1e-12);
  EXPECT_LT(final_of(0).mean_interval->low, -0.3) << "no cut at 0";
  EXPECT_LE(final_of(1).mean_interval->high, 1);
  // The baseline stays below the plateau at 0, so the target is 95% of the way from there to the other arm's 0.8.
  EXPECT_DOUBLE_EQ(point.target_accuracy.value(), 0.76);
  EXPECT_EQ(point.target_arm, "b");
  EXPECT_EQ(report.trials[3].steps_to_level, 30.0);
  EXPECT_FALSE(report.trials[0].steps_to_level);
  const Json json = Json::parse(study_json(report));
  EXPECT_EQ(json.at("points").at(0).at("metric"), "explained_variance");
}

TEST(StudyMetric, FewerBitsAreBetter) {
  const TemporaryDirectory scratch;
  const StudyReport report = report_of("example-text", {{2.0, 2.0, 2.0}, {1.6, 1.5, 1.7}}, scratch.path());
  const PointReport& point = report.points.at(0);
  EXPECT_EQ(point.target_arm, "b");
  EXPECT_DOUBLE_EQ(point.target_accuracy.value(), 2 - 0.95 * 0.4);
}

}  // namespace
}  // namespace eureka
