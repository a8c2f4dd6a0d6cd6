// What diagnostics leave in a run's records, and what they must not change.
#include "train/diagnosis.h"
#include "io/json.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/embedded.h"
#include "support/temporary_directory.h"
#include "train/run.h"

namespace eureka {
namespace {

const Catalog& catalog() {
  static const Catalog instance{declarations::files().front().text};
  return instance;
}

constexpr const char* kShort = R"(
task.name = "two-step"
model.dropout = 0.1
train = {steps = 50, batch = 24, eval_every = 10, validation_samples = 50}
run = {seed = 3, checkpoint_every = 15}
)";

RunConfig config_with(const std::string& changes) {
  return resolve_config(read_toml(kShort + changes, "short"), catalog());
}

void run(const RunConfig& config, const fs::path& directory, bool resume = false) {
  RunObserver observer;
  const std::atomic<bool> stop{false};
  EXPECT_EQ(run_training(config, {.directory = directory, .resume = resume}, observer, stop).status,
            RunStatus::finished);
}

// Ends as interrupted behind the first checkpoint after `step`.
void run_until(std::int64_t step, const RunConfig& config, const fs::path& directory) {
  struct Stopper final : RunObserver {
    std::atomic<bool> stop{false};
    std::int64_t at = 0;
    void on_step(std::int64_t done) override { stop = done >= at; }
  } stopper;
  stopper.at = step;
  EXPECT_EQ(run_training(config, {.directory = directory}, stopper, stopper.stop).status, RunStatus::interrupted);
}

std::vector<Json> rows_of(const fs::path& directory) {
  std::vector<Json> rows;
  std::istringstream lines(read_file(directory / "metrics.jsonl"));
  for (std::string line; std::getline(lines, line);) rows.push_back(Json::parse(line));
  return rows;
}

TEST(Diagnosis, AddsNumbersToRowsAndChangesNothingElse) {
  const TemporaryDirectory scratch;
  const fs::path seen = scratch.path() / "seen", alone = scratch.path() / "alone";
  run(config_with("diagnose = {names = ['attention'], every = 20}"), seen);
  run(config_with(""), alone);
  const std::vector<Json> with = rows_of(seen), without = rows_of(alone);
  ASSERT_EQ(with.size(), 6U);
  ASSERT_EQ(without.size(), 6U);
  Json last;
  for (std::size_t i = 0; i < with.size(); ++i) {
    const std::int64_t step = with[i].at("step").get<std::int64_t>();
    // At every twentieth step, and at the end.
    EXPECT_EQ(with[i].contains("attention/entropy/layer1/head0"), step % 20 == 0 || step == 50) << step;
    Json rest;
    last = {{"step", step}};
    for (const auto& [name, value] : with[i].items()) (name.starts_with("attention/") ? last : rest)[name] = value;
    EXPECT_EQ(rest.dump(), without[i].dump());
  }
  for (const char* file : {"model.safetensors", "optimizer.safetensors"})
    EXPECT_EQ(read_file(seen / "checkpoints/step-50" / file), read_file(alone / "checkpoints/step-50" / file)) << file;
  Json summary = Json::parse(read_file(seen / "summary.json"));
  EXPECT_EQ(summary.at("diagnostics").dump(), last.dump());
  summary.erase("diagnostics");
  EXPECT_EQ(summary.dump(2) + "\n", read_file(alone / "summary.json"));
}

TEST(Diagnosis, IsByteIdenticalAfterAResume) {
  const TemporaryDirectory scratch;
  const RunConfig config = config_with("diagnose.names = 'attention'");
  const fs::path whole = scratch.path() / "whole";
  run(config, whole);
  // 30: stopped at a step that has a row, and is looked at only by the run that continues.
  for (const std::int64_t step : {1, 30, 37, 49}) {
    const fs::path torn = scratch.path() / std::to_string(step);
    run_until(step, config, torn);
    run(config, torn, true);
    for (const char* file : {"metrics.jsonl", "summary.json", "checkpoints/step-50/model.safetensors"})
      EXPECT_EQ(read_file(torn / file), read_file(whole / file)) << step << " " << file;
  }
}

// A run killed between its last checkpoint and its summary takes its last numbers from the rows.
TEST(Diagnosis, SummaryIsTheSameWhenItAloneIsMissing) {
  const TemporaryDirectory scratch;
  const RunConfig config = config_with("diagnose.names = 'attention'");
  const fs::path directory = scratch.path() / "run";
  run(config, directory);
  const std::string summary = read_file(directory / "summary.json");
  fs::remove(directory / "summary.json");
  run(config, directory, true);
  EXPECT_EQ(read_file(directory / "summary.json"), summary);
}

// A run that turns NaN has readable numbers up to its last finite step, and none that are not.
TEST(Diagnosis, OfARunThatDivergesIsReadableUpToItsEnd) {
  const TemporaryDirectory scratch;
  const RunConfig config = resolve_config(read_toml(fmt::format(R"(
task.name = "two-step"
model.init.weights = 5.0
train = {{steps = 50, batch = 24, eval_every = 1, validation_samples = 50, lr = 900.0, warmup = 0, optimizer = "sgd"}}
diagnose.names = "{}, representation, maps, probes"
)",
                                                                kDefaultDiagnostics),
                                                    "divergent"),
                                          catalog());
  RunObserver observer;
  const std::atomic<bool> stop{false};
  const RunOutcome outcome = run_training(config, {.directory = scratch.path() / "run"}, observer, stop);
  EXPECT_EQ(outcome.status, RunStatus::diverged);
  ASSERT_TRUE(outcome.summary->diagnostics);
  const std::vector<Json> rows = rows_of(scratch.path() / "run");
  ASSERT_GE(rows.size(), 1U);
  EXPECT_TRUE(rows.front().contains("gradients/qk_to_v/layer0"));
  for (const Json& row : rows)
    for (const auto& [name, value] : row.items()) EXPECT_TRUE(value.is_number()) << name;
  EXPECT_EQ(outcome.summary->diagnostics->step, rows.back().at("step").get<std::int64_t>());
}

std::string refusal(const std::string& changes) {
  try {
    config_with(changes);
  } catch (const Error& error) {
    return error.message();
  }
  return "accepted";
}

TEST(Diagnosis, IsChosenByAListOrATextAndReadsBackTheSame) {
  EXPECT_TRUE(config_with("").diagnostics.empty());
  EXPECT_TRUE(config_with("diagnose.names = []").diagnostics.empty());
  const auto task = Registry<Task>::instance().make("two-step");
  EXPECT_FALSE(Diagnosis(config_with(""), *task).seen().has_value());
  EXPECT_FALSE(Diagnosis(config_with(""), *task).due(0));
  for (const char* names : {"['attention']", "'attention'", "' attention ,'"}) {
    const RunConfig config = config_with(std::string("diagnose.names = ") + names);
    ASSERT_EQ(config.diagnostics.size(), 1U) << names;
    EXPECT_EQ(config.diagnostics[0].name, "attention");
    EXPECT_EQ(to_toml(resolve_config(read_toml(to_toml(config), "again"), catalog())), to_toml(config));
  }
  const auto [key, entry] = parse_assignment("diagnose.names=[\"attention\", \"other\"]");
  EXPECT_EQ(std::get<std::string>(entry.value), "attention, other");
}

TEST(Diagnosis, NamesWhatIsWrong) {
  EXPECT_THAT(refusal("diagnose.names = ['attentoin']"),
              testing::HasSubstr("unknown diagnostic 'attentoin'\n  did you mean 'attention'?"));
  EXPECT_THAT(refusal("diagnose.names = 'attention, attention'"), testing::HasSubstr("names 'attention' twice"));
  EXPECT_THAT(refusal("diagnose = {names = 'attention', every = 15}"),
              testing::HasSubstr("'diagnose.every' must be a multiple of train.eval_every = 10, not 15"));
  EXPECT_THAT(refusal("diagnose.names = [1]"), testing::HasSubstr("is a list"));
  EXPECT_EQ(refusal("diagnose.every = 15"), "accepted");
}

}  // namespace
}  // namespace eureka
