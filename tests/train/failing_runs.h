// Short runs by an engine of one weight, and ways in which they fail.
#pragma once

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>

#include <atomic>
#include <string>

#include "base/embedded.h"
#include "support/fake_engine.h"
#include "support/run_files.h"
#include "support/temporary_directory.h"
#include "train/branch.h"

namespace eureka {

inline const Catalog& catalog() {
  static const Catalog instance{declarations::files().front().text};
  return instance;
}

inline RunConfig short_config(const std::string& more = "") {
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

  static void expect_same_run(const fs::path& a, const fs::path& b) {
    EXPECT_EQ(repeatable_files(a), repeatable_files(b)) << a << " and " << b;
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

class BranchOfRun : public RunTest {
 protected:
  void SetUp() override { train(of("whole")); }
  // But for where it comes from, and the past it has no checkpoints of.
  void expect_resumable(const fs::path& run) {
    EXPECT_EQ(train(run, fake_parts(), true).status, RunStatus::finished);
    auto files = repeatable_files(run), whole = repeatable_files(of("whole"));
    EXPECT_EQ(files.erase("origin.json"), 1U);
    std::erase_if(whole, [](const auto& file) { return file.first.starts_with("checkpoints/step-10/"); });
    EXPECT_EQ(files, whole);
  }
  BranchRequest request(bool resume = false) const {
    return {.run = of("whole"), .step = 20, .out = of("branch"), .change = {}, .resume = resume};
  }
};

}  // namespace eureka
