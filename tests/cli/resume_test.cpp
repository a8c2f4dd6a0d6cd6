// Kill a run anywhere, resume it, and get the same bytes.
#include <gtest/gtest.h>

#include "base/random.h"
#include "support/command.h"

namespace eureka {
namespace {

using namespace std::chrono_literals;

std::vector<std::string> train(const fs::path& out, const std::string& rule, bool resume = false) {
  std::vector<std::string> words = {"train",  "two-step",           "--seed", "4",
                                    "--out",  out.string(),         "--set",  "train.steps=150",
                                    "--set",  "train.eval_every=7", "--set",  "run.checkpoint_every=20",
                                    "--set",  "model.dropout=0.1",  "--set",  "attention.rule=" + rule,
                                    "--quiet"};
  if (resume) words.emplace_back("--resume");
  return words;
}

void expect_same_bytes(const fs::path& a, const fs::path& b) {
  for (const char* name : {"summary.json", "metrics.jsonl", "events.jsonl", "config.toml",
                           "checkpoints/step-150/model.safetensors", "checkpoints/step-150/optimizer.safetensors"})
    EXPECT_EQ(read_file(a / name), read_file(b / name)) << name;
}

std::size_t checkpoints_in(const fs::path& run) {
  std::error_code ignored;
  std::size_t count = 0;
  for (const auto& entry : fs::directory_iterator(run / "checkpoints", ignored))
    count += fs::exists(entry.path() / "DONE", ignored) ? 1 : 0;
  return count;
}

TEST(Resume, IsByteIdenticalAfterKillAtAnyStep) {
  for (const std::string rule : {"softmax", "qk_norm"}) {
    const TemporaryDirectory directory;
    const fs::path whole = directory.path() / "whole", torn = directory.path() / "torn";
    ASSERT_EQ(eureka_command(train(whole, rule)).exit_code, 0);
    RandomStream random(static_cast<std::uint64_t>(::getpid()), "kills");
    int kills = 0;
    for (int attempt = 0; attempt < 60; ++attempt) {
      Command run(train(torn, rule, true));
      // Past the loading of torch, then anywhere: also while a checkpoint is being written.
      std::this_thread::sleep_for(600ms + std::chrono::milliseconds(random.below(700)));
      run.send(SIGKILL);
      const CommandResult result = run.wait();
      if (result.exit_code == 0) break;
      ASSERT_EQ(result.exit_code, 128 + SIGKILL) << result.err;
      ++kills;
    }
    EXPECT_GE(kills, 1);
    ASSERT_EQ(eureka_command(train(torn, rule, true)).exit_code, 0);
    expect_same_bytes(whole, torn);
  }
}

TEST(Resume, SigtermFinishesTheStepCheckpointsAndExitsWith4) {
  const TemporaryDirectory directory;
  const fs::path whole = directory.path() / "whole", stopped = directory.path() / "stopped";
  ASSERT_EQ(eureka_command(train(whole, "softmax")).exit_code, 0);
  for (const int signal_number : {SIGTERM, SIGINT}) {
    const std::size_t before = checkpoints_in(stopped);
    Command run(train(stopped, "softmax", true));
    while (checkpoints_in(stopped) == before) std::this_thread::sleep_for(5ms);
    run.send(signal_number);
    const CommandResult result = run.wait();
    ASSERT_EQ(result.exit_code, 4) << result.err;
    EXPECT_NE(result.err.find("checkpoint saved"), std::string::npos) << result.err;
    EXPECT_NE(read_file(stopped / "meta.json").find("interrupted"), std::string::npos);
  }
  // The short form: the run knows its own config.
  ASSERT_EQ(eureka_command({"train", "--out", stopped.string(), "--resume", "--quiet"}).exit_code, 0);
  for (const char* name : {"summary.json", "metrics.jsonl", "checkpoints/step-150/model.safetensors"})
    EXPECT_EQ(read_file(whole / name), read_file(stopped / name)) << name;
}

TEST(Resume, OfAFinishedRunChangesNothing) {
  const TemporaryDirectory directory;
  const fs::path run = directory.path() / "run";
  ASSERT_EQ(eureka_command(train(run, "softmax")).exit_code, 0);
  const std::string before = read_file(run / "metrics.jsonl");
  EXPECT_EQ(eureka_command(train(run, "softmax", true)).exit_code, 0);
  EXPECT_EQ(read_file(run / "metrics.jsonl"), before);
}

TEST(Resume, BetweenTheLastCheckpointAndTheSummaryRepeatsNothing) {
  const TemporaryDirectory directory;
  const fs::path run = directory.path() / "run";
  ASSERT_EQ(eureka_command(train(run, "softmax")).exit_code, 0);
  const std::string summary = read_file(run / "summary.json"), metrics = read_file(run / "metrics.jsonl");
  fs::remove(run / "summary.json");
  const CommandResult again = eureka_command(train(run, "softmax", true));
  ASSERT_EQ(again.exit_code, 0) << again.err;
  EXPECT_EQ(read_file(run / "summary.json"), summary);
  EXPECT_EQ(read_file(run / "metrics.jsonl"), metrics);
}

TEST(Resume, FromAnEarlierCheckpointRepeatsTheRest) {
  const TemporaryDirectory directory;
  const fs::path run = directory.path() / "run";
  ASSERT_EQ(eureka_command(train(run, "softmax")).exit_code, 0);
  const std::string summary = read_file(run / "summary.json"), metrics = read_file(run / "metrics.jsonl");
  const CommandResult again = eureka_command({"train", "--out", run.string(), "--resume", "--step", "60", "--quiet"});
  ASSERT_EQ(again.exit_code, 0) << again.err;
  EXPECT_EQ(read_file(run / "summary.json"), summary);
  EXPECT_EQ(read_file(run / "metrics.jsonl"), metrics);
}

}  // namespace
}  // namespace eureka
