// The scheduling of trials, over an executor that runs nothing.
#include "lab/run_trials.h"
#include "io/json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "lab/study_log.h"
#include "support/temporary_directory.h"

namespace eureka {
namespace {

using testing::ElementsAre;

const char* const kSummary =
    R"({"status": "finished", "steps": 300, "seed": 1, "task": "two-step", "model": "transformer",
        "attention": "softmax", "parameters": 18026, "task_plateau_accuracy": 0.55,
        "final_validation_accuracy": 0.573, "final_validation_loss": 0.74,
        "moment": {"found": false, "step": null, "plateau_level": 0.571, "level_after": null}})";

// Every trial ends at the first poll: with a summary, or with the complaints it was given, one for each attempt.
class FakeExecutor final : public TrialExecutor {
 public:
  std::size_t slots() const override { return 2; }
  void start(const Trial& trial) override { running.push_back(&trial); }
  std::vector<TrialState> poll(std::chrono::milliseconds) override {
    most_at_a_time = std::max(most_at_a_time, running.size());
    std::vector<TrialState> states;
    for (const Trial* trial : std::exchange(running, {})) {
      std::vector<std::string>& left = complaints[trial->seed];
      if (left.empty()) {
        make_directories(trial->directory);
        atomic_write(trial->directory / "summary.json", kSummary);
        states.push_back({trial, 300, 1, true, {}});
      } else {
        states.push_back({trial, 7, 1, true, left.front()});
        left.erase(left.begin());
      }
    }
    return states;
  }
  void stop() override { stopped = true; }

  std::map<std::int64_t, std::vector<std::string>> complaints;  // by seed
  std::vector<const Trial*> running;
  std::size_t most_at_a_time = 0;
  bool stopped = false;
};

// Events as short words: "started 1", "retried 1: killed".
class Words final : public StudyObserver {
 public:
  void on_event(const StudyEvent& event) override {
    const auto add = [&](const char* word, const Trial& trial, const std::string& more = {}) {
      said.push_back(std::string(word) + " " + std::to_string(trial.seed) + (more.empty() ? "" : ": " + more));
    };
    if (const auto* e = std::get_if<TrialStarted>(&event)) add("started", e->trial);
    if (const auto* e = std::get_if<TrialEnded>(&event))
      add("ended", e->trial, std::string(status_name(e->row.status)));
    if (const auto* e = std::get_if<TrialRetried>(&event)) add("retried", e->trial, e->reason);
    if (const auto* e = std::get_if<TrialFailed>(&event)) add("failed", e->trial, e->reason);
    if (const auto* e = std::get_if<TrialDamaged>(&event)) add("damaged", e->trial);
  }
  std::vector<std::string> said;
};

class RunTrials : public testing::Test {
 protected:
  RunTrials() {
    for (std::int64_t seed = 1; seed <= 3; ++seed)
      trials_.push_back({0, 0, seed, directory_.path() / ("seed-" + std::to_string(seed)), {}, {}});
  }
  std::vector<TrialFailure> run() {
    return run_trials(trials_, {}, executor_, StudyObservers({&words_, &log_}), stop_);
  }
  std::vector<Json> lines() const {
    std::vector<Json> found;
    std::istringstream text(read_file(directory_.path() / "events.jsonl"));
    for (std::string line; std::getline(text, line);) found.push_back(Json::parse(line));
    return found;
  }

  TemporaryDirectory directory_;
  std::vector<Trial> trials_;
  FakeExecutor executor_;
  Words words_;
  StudyLog log_{directory_.path()};
  std::atomic<bool> stop_ = false;
};

TEST_F(RunTrials, FillsTheSlotsAndRunsOnlyWhatIsMissing) {
  EXPECT_TRUE(run().empty());
  EXPECT_EQ(executor_.most_at_a_time, 2U);
  EXPECT_THAT(words_.said, ElementsAre("started 1", "started 2", "ended 1: finished", "ended 2: finished", "started 3",
                                       "ended 3: finished"));
  words_.said.clear();
  fs::remove(trials_[1].directory / "summary.json");
  EXPECT_TRUE(run().empty());
  EXPECT_THAT(words_.said, ElementsAre("ended 1: finished", "ended 3: finished", "started 2", "ended 2: finished"));
}

TEST_F(RunTrials, TriesOnceMoreAndThenReports) {
  executor_.complaints = {{1, {"killed"}}, {2, {"killed", "disk full"}}};
  const std::vector<TrialFailure> failures = run();
  ASSERT_EQ(failures.size(), 1U);
  EXPECT_EQ(failures[0].directory, trials_[1].directory);
  EXPECT_EQ(failures[0].reason, "failed twice: disk full");
  EXPECT_THAT(words_.said, testing::IsSupersetOf({"retried 1: killed", "ended 1: finished", "retried 2: killed",
                                                  "failed 2: failed twice: disk full", "ended 3: finished"}));
}

TEST_F(RunTrials, ASummaryThatCannotBeReadIsToldAndTheTrialRunsAgain) {
  make_directories(trials_[0].directory);
  atomic_write(trials_[0].directory / "summary.json", "{\"status\": ");
  EXPECT_TRUE(run().empty());
  EXPECT_EQ(words_.said.front(), "damaged 1");
  EXPECT_THAT(words_.said, testing::Contains("ended 1: finished"));
}

TEST_F(RunTrials, StopsTheExecutorWhenAskedTo) {
  stop_ = true;
  EXPECT_TRUE(run().empty());
  EXPECT_TRUE(executor_.stopped);
  EXPECT_TRUE(words_.said.empty());
}

TEST_F(RunTrials, WritesItsEventsAsLinesBehindThoseOfAnEarlierProcess) {
  executor_.complaints = {{2, {"killed"}}};
  run();
  const std::size_t before = lines().size();
  EXPECT_EQ(lines()[0].at("event"), "trial-started");
  EXPECT_EQ(lines()[0].at("trial"), "seed-1");
  EXPECT_EQ(lines()[0].at("attempt"), 1);
  EXPECT_THAT(lines()[0].at("time").get<std::string>(), testing::MatchesRegex("....-..-..T..:..:..Z"));
  const auto is_retry = [](const Json& line) {
    return line.at("event") == "trial-retried" && line.at("reason") == "killed";
  };
  const std::vector<Json> all = lines();
  for (const Json& line : all) {
    const Json* status = line.find("status");
    EXPECT_TRUE(status == nullptr || *status == "finished");
  }
  EXPECT_EQ(std::count_if(all.begin(), all.end(), is_retry), 1);

  AppendFile(directory_.path() / "events.jsonl").append("{\"time\": torn");
  StudyLog next(directory_.path());
  next.on_event(StudyFinished{StudyEnd::complete});
  ASSERT_EQ(lines().size(), before + 1);
  EXPECT_EQ(lines().back().at("end"), "complete");
}

}  // namespace
}  // namespace eureka
