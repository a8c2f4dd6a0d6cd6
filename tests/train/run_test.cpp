// The loop, its directory and branches of it when what they stand on fails: the engine throws, the loss is NaN, the
// disk is full. Whatever happened, a resumed run ends with the bytes of one that nothing happened to.
#include "train/run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/fake_engine.h"
#include "support/run_files.h"
#include "train/branch.h"
#include "train/failing_runs.h"

namespace eureka {
namespace {

using testing::HasSubstr;

TEST_F(RunTest, TakesItsTaskAndEngineFromOutside) {
  const RunOutcome outcome = train(of("a"));
  ASSERT_TRUE(outcome.summary);
  EXPECT_EQ(outcome.summary->steps, 40);
  EXPECT_EQ(outcome.summary->parameters, 1);
  EXPECT_EQ(read_meta(of("a")).engine, "fake");
  EXPECT_EQ(read_metrics(of("a")).size(), 15U);
  EXPECT_EQ(list_checkpoints(of("a")), (std::vector<std::int64_t>{10, 20, 30, 40}));
}

TEST_F(RunTest, AnEngineThatThrowsLeavesARunThatSaysSoAndCanBeResumed) {
  for (const std::int64_t step : {0, 9, 10, 11, 39}) {
    const fs::path run = of("run" + std::to_string(step));
    EXPECT_THROW(train(run, fake_parts({step, Fault::Kind::error})), Error);
    EXPECT_EQ(read_meta(run).status, RunStatus::failed);
    EXPECT_EQ(read_meta(run).updates_done, step);
    EXPECT_FALSE(read_summary(run));
    expect_resumable(run);
  }
}

TEST_F(RunTest, SoDoesOneThatThrowsWhatIsNoErrorOfOurs) {
  EXPECT_THROW(train(of("run"), fake_parts({15, Fault::Kind::foreign_exception})), std::runtime_error);
  EXPECT_EQ(read_meta(of("run")).status, RunStatus::failed);
  expect_resumable(of("run"));
}

TEST_F(RunTest, ALossThatIsNotANumberEndsTheRunAsDiverged) {
  for (const auto& [kind, quantity, steps] :
       {std::tuple{Fault::Kind::nan_loss, "train_loss", 16}, std::tuple{Fault::Kind::nan_evaluation, "val_loss", 15}}) {
    const fs::path run = of(quantity);
    const RunOutcome outcome = train(run, fake_parts({15, kind}));
    EXPECT_EQ(outcome.status, RunStatus::diverged);
    EXPECT_EQ(outcome.summary->steps, steps);
    EXPECT_EQ(read_meta(run).status, RunStatus::diverged);
    EXPECT_EQ(read_summary(run)->status, RunStatus::diverged);
    const RunEvent last = read_events(run).back();
    EXPECT_EQ(last.step, steps);
    EXPECT_EQ(std::get<Divergence>(last.what).quantity, quantity);
    EXPECT_EQ(std::get<Divergence>(last.what).value, "nan");
    EXPECT_EQ(read_metrics(run).back().step, kind == Fault::Kind::nan_loss ? 15 : 12);
    EXPECT_EQ(train(run, fake_parts(), true).status, RunStatus::diverged) << "it has ended";
  }
}

TEST_F(RunTest, AFullDiskLosesNothingThatWasCheckpointed) {
  std::size_t refused = 0;
  for (const rlim_t bytes : {100, 1300, 1600, 2000, 2400, 2800, 3200}) {
    const fs::path run = of("run" + std::to_string(bytes));
    try {
      const FullDisk disk(bytes);
      train(run);
    } catch (const Error& error) {
      ++refused;
      EXPECT_THAT(error.what(), HasSubstr("File too large")) << bytes;
      EXPECT_FALSE(fs::exists(run / "summary.json"));
    }
    expect_resumable(run);
  }
  EXPECT_GE(refused, 5U) << "the limits are larger than the files of this run";
}

// Does something after a certain step.
class After : public RunObserver {
 public:
  After(std::int64_t step, std::function<void()> what) : step_(step), what_(std::move(what)) {}
  void on_step(std::int64_t updates_done) override {
    if (updates_done == step_) what_();
  }

 private:
  std::int64_t step_;
  std::function<void()> what_;
};

class StoppedRun : public RunTest {
 protected:
  // One after the other, from wherever the one before was stopped; then to the end.
  RunStatus train_with_stops(const fs::path& run, const std::vector<std::int64_t>& steps,
                             const MakeParts& make = fake_parts()) {
    for (const std::int64_t step : steps) {
      After observer(step, [&] { stop_ = true; });
      const RunRequest request{.directory = run, .resume = true, .resume_step = {}};
      const RunOutcome outcome = run_training(config_, request, observer, stop_, make);
      stop_ = false;
      EXPECT_EQ(outcome.status, RunStatus::interrupted);
      EXPECT_FALSE(outcome.summary);
      EXPECT_EQ(list_checkpoints(run).back(), step);
      EXPECT_EQ(read_meta(run).status, RunStatus::interrupted);
    }
    return train(run, make, true).status;
  }
};

TEST_F(StoppedRun, LeavesTheFilesOfOneThatWasNot) {
  train(of("whole"));
  EXPECT_EQ(train_with_stops(of("run"), {1, 7, 8, 17, 20, 23, 39}), RunStatus::finished);
  expect_same_run(of("run"), of("whole"));
  EXPECT_EQ(list_checkpoints(of("run")), (std::vector<std::int64_t>{10, 20, 30, 40}));
}

TEST_F(StoppedRun, KeepsAsManyCheckpointsAsOneThatWasNot) {
  for (const char* keep : {"1", "2"}) {
    config_ = short_config(std::string("run.checkpoint_every = 9\nrun.keep_checkpoints = ") + keep);
    const std::string whole = std::string("whole") + keep, run = std::string("run") + keep;
    train(of(whole));
    train_with_stops(of(run), {5, 13, 14, 29, 38});
    expect_same_run(of(run), of(whole));
  }
}

TEST_F(StoppedRun, ThatKeepsItsSummaryOnlyHasTheSameRowsAndNothingElse) {
  train(of("all"));
  config_ = short_config("run.keep = 'summary'");
  train(of("whole"));
  train_with_stops(of("run"), {1, 7, 20, 39});
  expect_same_run(of("run"), of("whole"));
  for (const char* same : {"metrics.jsonl", "summary.json"})
    EXPECT_EQ(read_file(of("whole") / same), read_file(of("all") / same)) << same;
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(of("run"))) names.push_back(entry.path().filename().string());
  EXPECT_THAT(names, testing::UnorderedElementsAre(".lock", "config.toml", "meta.json", "metrics.jsonl", "events.jsonl",
                                                   "summary.json"));
}

TEST_F(RunTest, ThatKeepsItsSummaryOnlyHasOneCheckpointOnTheWayAndSeldom) {
  train(of("all"));
  for (const std::int64_t seconds : {0, 3600}) {
    config_ = short_config("run.keep = 'summary'");
    const fs::path run = of("run" + std::to_string(seconds));
    std::vector<std::int64_t> on_the_way;
    After look(25, [&] { on_the_way = list_checkpoints(run); });
    const RunRequest request{.directory = run, .resume = true, .most_to_lose = std::chrono::seconds(seconds)};
    EXPECT_THROW(run_training(config_, request, look, stop_, fake_parts({28, Fault::Kind::error})), Error);
    EXPECT_EQ(on_the_way, seconds == 0 ? std::vector<std::int64_t>{20} : std::vector<std::int64_t>{});
    EXPECT_EQ(list_checkpoints(run), on_the_way);
    train(run, fake_parts(), true);
    for (const char* same : {"metrics.jsonl", "summary.json"})
      EXPECT_EQ(read_file(run / same), read_file(of("all") / same)) << same;
    EXPECT_FALSE(fs::exists(run / "checkpoints"));
  }
  EXPECT_EQ(read_file(of("run0") / "events.jsonl"), read_file(of("run3600") / "events.jsonl"));
}

TEST_F(StoppedRun, AndThenDivergedLeavesTheFilesOfOneThatWasNotStopped) {
  const MakeParts diverging = fake_parts({25, Fault::Kind::nan_loss});
  train(of("whole"), diverging);
  EXPECT_EQ(train_with_stops(of("run"), {17, 22}, diverging), RunStatus::diverged);
  expect_same_run(of("run"), of("whole"));
}

TEST_F(StoppedRun, KilledBeforeItTidiedUpIsTidiedByTheNextOne) {
  train(of("whole"));
  train_with_stops(of("run"), {17});
  fs::remove(of("run") / "summary.json");
  // As a process killed between its checkpoint and the removal of the one before would leave it.
  Checkpoint stale = read_checkpoint(of("run"), 10);
  stale.loop.step = 13;
  stale.loop.temporary = true;
  write_checkpoint(of("run"), stale);
  atomic_write(of("run") / "checkpoints" / ".step-20.tmp", "half");
  replace_file(of("run") / "summary.json.4711.tmp", "half");
  expect_resumable(of("run"));
}

class RewoundRun : public RunTest {
 protected:
  void SetUp() override {
    train(of("whole"));
    fs::copy(of("whole"), of("run"), fs::copy_options::recursive);
  }
  RunOutcome rewind(std::int64_t step, const MakeParts& make = fake_parts()) {
    return run_training(config_, {.directory = of("run"), .resume = true, .resume_step = step}, nobody_, stop_, make);
  }
};

TEST_F(RewoundRun, ThatDiesHasNotEndedAndIsResumedToTheSameBytes) {
  for (const std::int64_t step : {0, 10, 20, 30}) {
    EXPECT_THROW(rewind(step, fake_parts({step + 4, Fault::Kind::error})), Error);
    EXPECT_FALSE(read_summary(of("run"))) << "it has not ended any more";
    for (const std::int64_t saved : list_checkpoints(of("run"))) EXPECT_LE(saved, step);
    expect_resumable(of("run"));
  }
}

TEST_F(RewoundRun, CutShortAnywhereIsResumedToTheSameBytes) {
  const fs::path run = of("run");
  const std::uint64_t metrics = read_checkpoint(run, 20).loop.metrics_bytes;
  const std::vector<std::function<void()>> parts = {[&] { fs::remove(run / "summary.json"); },
                                                    [&] { fs::remove_all(run / "checkpoints" / "step-40"); },
                                                    [&] { fs::remove_all(run / "checkpoints" / "step-30"); },
                                                    [&] { fs::resize_file(run / "metrics.jsonl", metrics); }};
  for (std::size_t done = 1; done <= parts.size(); ++done) {
    for (std::size_t i = 0; i < done; ++i) parts[i]();
    expect_resumable(run);
  }
}

TEST_F(RewoundRun, ChecksEveryLogBeforeItTouchesAnything) {
  fs::resize_file(of("run") / "events.jsonl", 5);
  auto before = repeatable_files(of("run"));
  EXPECT_THROW(rewind(20), Error);
  EXPECT_EQ(repeatable_files(of("run")), before);
}

// As long as before, but of zeros, as some file systems leave what they lost; or with other ends of lines.
TEST_F(RewoundRun, DoesNotLoseTheRowsOfADamagedLog) {
  const std::string metrics = read_file(of("run") / "metrics.jsonl");
  std::string with_returns;
  for (const char letter : metrics) with_returns += letter == '\n' ? "\r\n" : std::string(1, letter);
  for (const std::string& damaged : {std::string(metrics.size(), '\0'), with_returns}) {
    replace_file(of("run") / "metrics.jsonl", damaged);
    const auto before = repeatable_files(of("run"));
    try {
      rewind(20);
      ADD_FAILURE() << "resumed";
    } catch (const Error& error) {
      EXPECT_THAT(error.message(), HasSubstr("has no end of a line"));
    }
    EXPECT_EQ(repeatable_files(of("run")), before);
  }
}

TEST_F(RewoundRun, ToAStepThatIsNotThereIsLeftAsItWas) {
  EXPECT_THROW(rewind(15), Error);
  expect_same_run(of("run"), of("whole"));
}

TEST_F(RunTest, WhoseDirectoryIsRemovedEndsWithAnErrorAndNotWithARun) {
  for (const std::int64_t step : {2, 10, 20, 39, 40}) {
    const fs::path run = of("run");
    After observer(step, [&] { fs::remove_all(run); });
    try {
      run_training(config_, {.directory = run}, observer, stop_, fake_parts());
      ADD_FAILURE() << "finished after " << step;
    } catch (const Error& error) {
      EXPECT_EQ(error.exit_code(), 1);
      EXPECT_THAT(error.message(), HasSubstr("was removed while it was in use"));
    }
    EXPECT_FALSE(fs::exists(run));
  }
}

TEST_F(RunTest, APartThatCannotBeMadeLeavesNothingBehind) {
  const auto broken = [](const RunConfig&) -> RunParts { throw Error(ErrorKind::config, "no such engine"); };
  EXPECT_THROW(train(of("run"), broken), Error);
  EXPECT_FALSE(fs::exists(of("run")));
  train(of("run"));
  EXPECT_EQ(train(of("run"), broken, true).status, RunStatus::finished) << "a finished run needs no parts";
}

TEST_F(RunTest, OfAnotherConfigIsNotResumed) {
  train(of("run"), fake_parts());
  config_ = short_config("train.lr = 0.5");
  try {
    train(of("run"), fake_parts(), true);
    ADD_FAILURE() << "resumed";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("this run has train.lr = 0.001, not 0.5"));
  }
}

TEST_F(RunTest, ThatDiedBeforeItsFirstCheckpointBeginsAgain) {
  EXPECT_THROW(train(of("run"), fake_parts({5, Fault::Kind::error})), Error);
  EXPECT_TRUE(list_checkpoints(of("run")).empty());
  expect_resumable(of("run"));
}

TEST_F(BranchOfRun, WithoutAChangeIsTheRun) {
  const Branch branch = create_branch(request(), catalog(), fake_parts());
  EXPECT_TRUE(branch.new_parameters.empty());
  expect_resumable(of("branch"));
}

TEST_F(BranchOfRun, OnAFullDiskIsMadeAgain) {
  for (const rlim_t bytes : {50, 150, 400, 1000}) {
    const FullDisk disk(bytes);
    EXPECT_THROW(create_branch(request(), catalog(), fake_parts()), Error) << bytes;
    EXPECT_FALSE(fs::exists(of("branch") / "config.toml")) << "a directory without a config holds no run yet";
  }
  create_branch(request(), catalog(), fake_parts());
  expect_resumable(of("branch"));
}

TEST_F(BranchOfRun, WhoseEngineCannotBeMadeLeavesNothingBehind) {
  const auto broken = [](const RunConfig&) -> RunParts { throw Error(ErrorKind::config, "no such engine"); };
  EXPECT_THROW(create_branch(request(), catalog(), broken), Error);
  EXPECT_FALSE(fs::exists(of("branch")));
}

TEST_F(BranchOfRun, IsToldFromAnotherByWhatItMeansNotByHowItWasPut) {
  create_branch(request(), catalog(), fake_parts());
  BranchRequest same = request(true);
  same.change = read_toml("train.clip = 0", "the default, in words");
  EXPECT_NO_THROW(create_branch(same, catalog(), fake_parts()));
  same.change = read_toml("train.clip = 1", "another");
  EXPECT_THROW(create_branch(same, catalog(), fake_parts()), Error);
  same = request(true);
  same.step = 10;
  EXPECT_THROW(create_branch(same, catalog(), fake_parts()), Error);
}

TEST_F(BranchOfRun, MovedTogetherWithItsRunIsContinued) {
  create_branch(request(), catalog(), fake_parts());
  make_directories(of("elsewhere"));
  for (const char* name : {"whole", "branch"}) fs::rename(of(name), of("elsewhere") / name);
  BranchRequest moved = request(true);
  moved.run = of("elsewhere") / "whole";
  moved.out = of("elsewhere") / "branch";
  EXPECT_NO_THROW(create_branch(moved, catalog(), fake_parts()));
  fs::rename(moved.run, of("other"));
  moved.run = of("other");
  EXPECT_THROW(create_branch(moved, catalog(), fake_parts()), Error) << "another run";
}

TEST_F(BranchOfRun, MadeAndTrainedByAnotherProcessMeanwhileIsNotMadeAgain) {
  bool is_first = true;
  const MakeParts meanwhile = [&](const RunConfig& config) {
    if (std::exchange(is_first, false)) {
      create_branch(request(), catalog(), fake_parts());
      EXPECT_THROW(train(of("branch"), fake_parts({35, Fault::Kind::error}), true), Error);
    }
    return fake_parts()(config);
  };
  create_branch(request(true), catalog(), meanwhile);
  expect_resumable(of("branch"));
}

TEST_F(BranchOfRun, HasNoPastToGoBackToBeforeItsBeginning) {
  create_branch(request(), catalog(), fake_parts());
  const RunRequest start{.directory = of("branch"), .resume = true, .resume_step = 0};
  EXPECT_THROW(run_training(config_, start, nobody_, stop_, fake_parts()), Error);
  fs::remove_all(of("branch") / "checkpoints" / "step-20");
  EXPECT_THROW(train(of("branch"), fake_parts(), true), Error) << "it would begin as another run";
}

TEST_F(BranchOfRun, FromWhereARunWasStoppedBeginsWithACheckpointThatStays) {
  After observer(17, [&] { stop_ = true; });
  run_training(config_, {.directory = of("stopped")}, observer, stop_, fake_parts());
  stop_ = false;
  BranchRequest from_stop = request();
  from_stop.run = of("stopped");
  from_stop.step = 17;
  create_branch(from_stop, catalog(), fake_parts());
  train(of("branch"), fake_parts(), true);
  EXPECT_EQ(list_checkpoints(of("branch")), (std::vector<std::int64_t>{17, 20, 30, 40}));
}

}  // namespace
}  // namespace eureka
