// Kill a run anywhere, resume it, and get the same bytes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include "base/random.h"
#include "support/command.h"
#include "support/run_files.h"

namespace eureka {
namespace {

using namespace std::chrono_literals;
using testing::ContainsRegex;
using testing::HasSubstr;

// One rule of each engine, and how long its run is.
struct Engine {
  std::string name;
  std::string rule;
  std::string steps;
  double soonest;  // it is killed, as a share of the time of a whole run
};
// Long enough to be hit, which with sanitizers fewer steps are. The reference engine has to load torch before its first
// step.
const Engine kFused{"fused", "qk_norm", EUREKA_PATIENCE > 1 ? "120" : "1500", 0.05};
const Engine kShort{"fused", "qk_norm", EUREKA_PATIENCE > 1 ? "120" : "300", 0};
const Engine kReference{"reference", "softmax", EUREKA_PATIENCE > 1 ? "60" : "150", 0.4};

std::vector<std::string> train(const fs::path& out, const Engine& engine, bool resume = false) {
  std::vector<std::string> words = {"train", "two-step", "--seed", "4", "--out", out.string(), "--quiet"};
  for (const std::string& assignment :
       {"train.steps=" + engine.steps, std::string("train.eval_every=7"), std::string("run.checkpoint_every=20"),
        std::string("model.dropout=0.1"), "attention.rule=" + engine.rule, "run.engine=" + engine.name})
    words.insert(words.end(), {"--set", assignment});
  if (resume) words.emplace_back("--resume");
  return words;
}

std::size_t checkpoints_in(const fs::path& run) {
  std::error_code ignored;
  std::size_t count = 0;
  for (const auto& entry : fs::directory_iterator(run / "checkpoints", ignored))
    count += fs::exists(entry.path() / "DONE", ignored) ? 1 : 0;
  return count;
}

std::vector<Engine> engines_of_this_build() {
  if (EUREKA_BUILT_WITH_TORCH) return {kFused, kReference};
  return {kFused};
}

TEST(Resume, IsByteIdenticalAfterKillAtAnyStep) {
  for (const Engine& engine : engines_of_this_build()) {
    const TemporaryDirectory directory;
    const fs::path whole = directory.path() / "whole", torn = directory.path() / "torn";
    const auto start = std::chrono::steady_clock::now();
    ASSERT_EQ(eureka_command(train(whole, engine)).exit_code, 0);
    const std::chrono::duration<double> duration = std::chrono::steady_clock::now() - start;
    RandomStream random(static_cast<std::uint64_t>(::getpid()), "kills");
    int kills = 0;
    for (int attempt = 0; attempt < 60; ++attempt) {
      Command run(train(torn, engine, true));
      // Anywhere: also while a checkpoint is being written.
      const double share = engine.soonest + (0.9 - engine.soonest) * random.uniform();
      if (kills > 0) std::this_thread::sleep_for(duration * share);
      // The first one hits, however much sooner this run ends than the whole one did.
      if (kills == 0) run.wait_until([&] { return checkpoints_in(torn) > 0; });
      run.send(SIGKILL);
      const CommandResult result = run.wait();
      if (result.exit_code == 0) break;
      ASSERT_EQ(result.exit_code, 128 + SIGKILL) << result.err;
      ++kills;
    }
    EXPECT_GE(kills, 1) << engine.name;
    ASSERT_EQ(eureka_command(train(torn, engine, true)).exit_code, 0);
    EXPECT_EQ(repeatable_files(whole), repeatable_files(torn));
  }
}

TEST(Resume, SigtermFinishesTheStepCheckpointsAndExitsWith4) {
  const TemporaryDirectory directory;
  const fs::path whole = directory.path() / "whole", stopped = directory.path() / "stopped";
  ASSERT_EQ(eureka_command(train(whole, kFused)).exit_code, 0);
  for (const int signal_number : {SIGTERM, SIGINT}) {
    CommandResult result;
    // On a busy machine it may end before the signal comes: then from the beginning.
    do {
      if (fs::exists(stopped / "summary.json")) fs::remove_all(stopped);
      const std::size_t before = checkpoints_in(stopped);
      Command run(train(stopped, kFused, true));
      run.wait_until([&] { return checkpoints_in(stopped) > before; });
      run.send(signal_number);
      result = run.wait();
    } while (result.exit_code == 0);
    ASSERT_EQ(result.exit_code, 4) << result.err;
    EXPECT_NE(result.err.find("checkpoint saved"), std::string::npos) << result.err;
    EXPECT_NE(read_file(stopped / "meta.json").find("interrupted"), std::string::npos);
  }
  // The short form: the run knows its own config.
  ASSERT_EQ(eureka_command({"train", "--out", stopped.string(), "--resume", "--quiet"}).exit_code, 0);
  EXPECT_EQ(repeatable_files(whole), repeatable_files(stopped));
}

TEST(Resume, OfAFinishedRunChangesNothing) {
  const TemporaryDirectory directory;
  const fs::path run = directory.path() / "run";
  ASSERT_EQ(eureka_command(train(run, kFused)).exit_code, 0);
  const std::string before = read_file(run / "metrics.jsonl");
  EXPECT_EQ(eureka_command(train(run, kFused, true)).exit_code, 0);
  EXPECT_EQ(read_file(run / "metrics.jsonl"), before);
}

TEST(Resume, BetweenTheLastCheckpointAndTheSummaryRepeatsNothing) {
  const TemporaryDirectory directory;
  const fs::path run = directory.path() / "run";
  ASSERT_EQ(eureka_command(train(run, kFused)).exit_code, 0);
  const std::string summary = read_file(run / "summary.json"), metrics = read_file(run / "metrics.jsonl");
  fs::remove(run / "summary.json");
  const CommandResult again = eureka_command(train(run, kFused, true));
  ASSERT_EQ(again.exit_code, 0) << again.err;
  EXPECT_EQ(read_file(run / "summary.json"), summary);
  EXPECT_EQ(read_file(run / "metrics.jsonl"), metrics);
}

TEST(Resume, FromAnEarlierCheckpointRepeatsTheRest) {
  const TemporaryDirectory directory;
  const fs::path run = directory.path() / "run";
  ASSERT_EQ(eureka_command(train(run, kFused)).exit_code, 0);
  const std::string summary = read_file(run / "summary.json"), metrics = read_file(run / "metrics.jsonl");
  const CommandResult again = eureka_command({"train", "--out", run.string(), "--resume", "--step", "60", "--quiet"});
  ASSERT_EQ(again.exit_code, 0) << again.err;
  EXPECT_EQ(read_file(run / "summary.json"), summary);
  EXPECT_EQ(read_file(run / "metrics.jsonl"), metrics);
}

TEST(Resume, InterruptedOnItsWayBackToAStepIsNotTakenForFinished) {
  const TemporaryDirectory directory;
  const fs::path run = directory.path() / "run";
  ASSERT_EQ(eureka_command(train(run, kShort)).exit_code, 0);
  const auto files = repeatable_files(run);
  for (const int signal_number : {SIGKILL, SIGTERM}) {
    // On a busy machine it may have its summary again before the signal comes: then once more.
    do {
      Command back({"train", "--out", run.string(), "--resume", "--step", "60", "--quiet"});
      back.wait_until([&] { return !fs::exists(run / "summary.json"); });
      back.send(signal_number);
      back.wait();
    } while (fs::exists(run / "summary.json"));
    const CommandResult ended = eureka_command({"train", "--out", run.string(), "--resume", "--quiet"});
    ASSERT_EQ(ended.exit_code, 0) << ended.err;
    EXPECT_EQ(repeatable_files(run), files);
  }
}

TEST(Stop, SaysHowLongTheStepMayTakeAndThatASecondSignalEndsIt) {
  const TemporaryDirectory directory;
  const fs::path out = directory.path() / "run";
  const Engine long_run{"fused", "qk_norm", "1000000", 0};
  Command run(train(out, long_run));
  ASSERT_TRUE(run.wait_until([&] { return checkpoints_in(out) > 0; }));
  // A step during which the machine was busy with something else for more than a second.
  run.send(SIGSTOP);
  std::this_thread::sleep_for(1100ms);
  run.send(SIGCONT);
  const std::size_t before = checkpoints_in(out);
  ASSERT_TRUE(run.wait_until([&] { return checkpoints_in(out) > before; }));
  run.send(SIGTERM);
  const CommandResult stopped = run.wait();
  EXPECT_EQ(stopped.exit_code, 4);
  // Where the machine is busy with more than this, longer.
  EXPECT_THAT(stopped.err, ContainsRegex("eureka: finishing the step \\(up to ([2-9]|[1-9][0-9]+) s\\); "
                                         "a second signal stops at once\n"));
}

TEST(Stop, ASecondSignalEndsALongStepAndLeavesTheLastCheckpoint) {
  const TemporaryDirectory directory;
  const fs::path out = directory.path() / "run";
  std::vector<std::string> words = train(out, kFused);
  // Minutes for one step.
  words.insert(words.end(), {"--set", "train.batch=1000000", "--set", "model.width=256", "--set", "model.depth=8"});
  Command run(words);
  ASSERT_TRUE(run.wait_until([&] { return fs::exists(out / "meta.json"); }));
  run.send(SIGTERM);
  ASSERT_TRUE(run.wait_until([&] { return run.has_said("a second signal"); }));
  run.send(SIGINT);
  const CommandResult stopped = run.wait();
  EXPECT_EQ(stopped.exit_code, 128 + SIGINT) << stopped.err;
  EXPECT_THAT(stopped.err, HasSubstr("finishing the step; a second signal stops at once"));
  EXPECT_THAT(read_file(out / "meta.json"), HasSubstr("running"));
}

TEST(RunDirectoryInUse, RemovedWhileTrainingEndsWithExitCode1AndASentence) {
  const TemporaryDirectory directory;
  const fs::path out = directory.path() / "run";
  const Engine long_run{"fused", "qk_norm", "1000000", 0};
  Command run(train(out, long_run));
  ASSERT_TRUE(run.wait_until([&] { return checkpoints_in(out) > 0; }));
  fs::rename(out, directory.path() / "gone");
  const CommandResult ended = run.wait();
  EXPECT_EQ(ended.exit_code, 1) << ended.err;
  EXPECT_THAT(ended.err, HasSubstr("was removed while it was in use"));
  EXPECT_FALSE(fs::exists(out));
}

TEST(FileSizeLimit, IsAnErrorThatNamesTheLimitAndTheRunGoesOnWithoutIt) {
  const TemporaryDirectory directory;
  const fs::path whole = directory.path() / "whole", out = directory.path() / "run";
  ASSERT_EQ(eureka_command(train(whole, kShort)).exit_code, 0);
  rlimit before{};
  ::getrlimit(RLIMIT_FSIZE, &before);
  const rlimit limit{10'000, before.rlim_max};
  ::setrlimit(RLIMIT_FSIZE, &limit);
  Command run(train(out, kShort));
  ::setrlimit(RLIMIT_FSIZE, &before);
  const CommandResult ended = run.wait();
  EXPECT_EQ(ended.exit_code, 1) << ended.err;
  EXPECT_THAT(ended.err, HasSubstr("ulimit -f"));
  ASSERT_EQ(eureka_command(train(out, kShort, true)).exit_code, 0);
  EXPECT_EQ(repeatable_files(whole), repeatable_files(out));
}

}  // namespace
}  // namespace eureka
