// Why a trial ended without a result, in words: its signal or its silence, and what it said last.
#include "lab/local_processes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/temporary_directory.h"

namespace eureka {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

class LocalProcessesTest : public testing::Test {
 protected:
  // How one trial ended whose program is this shell script.
  std::string complaint_of(const std::string& script, double timeout_seconds = 60) const {
    const fs::path program = directory_.path() / "program";
    replace_file(program, "#!/bin/sh\n" + script + "\n");
    fs::permissions(program, fs::perms::owner_all);
    LocalProcesses executor({.jobs = 1, .timeout_seconds = timeout_seconds, .program = program});
    Trial trial;
    trial.directory = directory_.path() / "trial";
    trial.origin = TrialOrigin{directory_.path() / "run", 10, {}};
    executor.start(trial);
    for (int i = 0; i < 300; ++i)
      for (const TrialState& state : executor.poll(100ms))
        if (state.ended) return state.complaint;
    return "did not end";
  }

  TemporaryDirectory directory_;
};

TEST_F(LocalProcessesTest, OneThatHangsIsNamedWithItsLastLines) {
  EXPECT_EQ(complaint_of("echo one; echo two; echo; echo three; echo four; exec sleep 100", 0.5),
            "hung: no step for 0.5 seconds; its last words: two | three | four");
  EXPECT_EQ(complaint_of("exec sleep 100", 0.5), "hung: no step for 0.5 seconds");
}

TEST_F(LocalProcessesTest, SoIsOneThatIsKilled) {
  EXPECT_EQ(complaint_of("echo loading; kill -9 $$"), "killed by signal 9; its last words: loading");
  EXPECT_EQ(complaint_of("kill -11 $$"), "killed by signal 11");
}

TEST_F(LocalProcessesTest, OneThatComplainedIsQuoted) {
  EXPECT_EQ(complaint_of("echo 'eureka: a/b: no such thing' >&2; echo '  look elsewhere' >&2; exit 2"),
            "a/b: no such thing");
  EXPECT_EQ(complaint_of("exit 3"), "exit code 3");
  EXPECT_EQ(complaint_of("echo aborting; exit 3"), "exit code 3; its last words: aborting");
}

}  // namespace
}  // namespace eureka
