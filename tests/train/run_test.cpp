// The loop, its directory and branches of it when what they stand on fails: the engine throws, the loss is NaN, the
// disk is full. Whatever happened, a resumed run ends with the bytes of one that nothing happened to.
#include "train/run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>

#include "base/embedded.h"
#include "support/fake_engine.h"
#include "support/temporary_directory.h"
#include "train/branch.h"

namespace eureka {
namespace {

using testing::HasSubstr;

const Catalog& catalog() {
  static const Catalog instance{declarations::files().front().text};
  return instance;
}

RunConfig short_config(const std::string& more = "") {
  ConfigEntries entries = read_toml(
      "task.name = 'two-step'\n[train]\nsteps = 40\nbatch = 2\neval_every = 3\nvalidation_samples = 4\n"
      "[run]\nseed = 5\ncheckpoint_every = 10\n",
      "short");
  return resolve_config(merge_entries(entries, read_toml(more, "more")), catalog());
}

// No file may grow beyond `bytes`, as on a disk that is full.
class FullDisk {
 public:
  explicit FullDisk(rlim_t bytes) : handler_(::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FullDisk() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    ::signal(SIGXFSZ, handler_);
  }
  FullDisk(const FullDisk&) = delete;
  FullDisk& operator=(const FullDisk&) = delete;

 private:
  rlimit before_{};
  sighandler_t handler_;
};

class RunTest : public testing::Test {
 protected:
  fs::path of(const std::string& name) const { return directory_.path() / name; }

  RunOutcome train(const fs::path& run, const MakeParts& make = fake_parts(), bool resume = false) {
    return run_training(config_, {.directory = run, .resume = resume, .resume_step = {}}, nobody_, stop_, make);
  }

  void expect_same_run(const fs::path& a, const fs::path& b) const {
    for (const char* name :
         {"config.toml", "metrics.jsonl", "events.jsonl", "summary.json", "checkpoints/step-40/state.json",
          "checkpoints/step-40/model.safetensors", "checkpoints/step-40/optimizer.safetensors"})
      EXPECT_EQ(read_file(a / name), read_file(b / name)) << name;
  }

  // Resumes `run`, which failed, and compares it with one that did not.
  void expect_resumable(const fs::path& run) {
    if (!fs::exists(of("whole"))) train(of("whole"));
    const RunOutcome outcome = train(run, fake_parts(), true);
    EXPECT_EQ(outcome.status, RunStatus::finished);
    expect_same_run(run, of("whole"));
  }

  RunConfig config_ = short_config();
  RunObserver nobody_;
  std::atomic<bool> stop_ = false;
  TemporaryDirectory directory_;
};

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

TEST_F(RunTest, StopsAfterTheStepAndGoesOnToTheSameBytes) {
  class StopAt : public RunObserver {
   public:
    explicit StopAt(std::atomic<bool>& stop) : stop_(stop) {}
    void on_step(std::int64_t updates_done) override { stop_ = updates_done == 17; }

   private:
    std::atomic<bool>& stop_;
  } observer(stop_);
  const RunOutcome outcome = run_training(config_, {.directory = of("run")}, observer, stop_, fake_parts());
  EXPECT_EQ(outcome.status, RunStatus::interrupted);
  EXPECT_FALSE(outcome.summary);
  EXPECT_EQ(list_checkpoints(of("run")).back(), 17);
  stop_ = false;
  EXPECT_EQ(train(of("run"), fake_parts(), true).status, RunStatus::finished);
  EXPECT_EQ(read_file(of("run") / "metrics.jsonl"), (train(of("whole")), read_file(of("whole") / "metrics.jsonl")));
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

class BranchOfRun : public RunTest {
 protected:
  void SetUp() override { train(of("whole")); }
  BranchRequest request(bool resume = false) const {
    return {.run = of("whole"), .step = 20, .out = of("branch"), .change = {}, .resume = resume};
  }
};

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

}  // namespace
}  // namespace eureka
