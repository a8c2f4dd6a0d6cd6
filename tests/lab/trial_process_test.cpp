#include "lab/trial_process.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include "support/temporary_directory.h"

namespace eureka {
namespace {

using namespace std::chrono_literals;

TrialProcess shell(const std::string& script, const fs::path& log) {
  // The shell gets "--heartbeat FD" as $0 and $1.
  return TrialProcess("/bin/sh", {"-c", script}, log);
}

bool wait_for_end(TrialProcess& child) {
  for (int i = 0; i < 500; ++i) {
    if (!child.listen()) return true;
    std::this_thread::sleep_for(10ms);
  }
  return false;
}

TEST(TrialProcess, EndsWithTheStatusOfItsProgramAndItsWordsInTheLog) {
  const TemporaryDirectory directory;
  TrialProcess child = shell("echo said; exit 3", directory.path() / "log");
  ASSERT_TRUE(wait_for_end(child));
  const int status = child.wait();
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 3);
  EXPECT_EQ(read_file(directory.path() / "log"), "said\n");
}

TEST(TrialProcess, HearsHowFarTheChildIs) {
  const TemporaryDirectory directory;
  // 7 and then 300 as 64-bit counts, little end first.
  TrialProcess child = shell(
      "eval \"printf '\\007\\000\\000\\000\\000\\000\\000\\000\\054\\001\\000\\000\\000\\000\\000\\000' >&$1\"; sleep "
      "20",
      directory.path() / "log");
  for (int i = 0; i < 500 && child.steps() == 0; ++i) {
    EXPECT_TRUE(child.listen());
    std::this_thread::sleep_for(10ms);
  }
  EXPECT_EQ(child.steps(), 300);
  child.send(SIGKILL);
  EXPECT_TRUE(wait_for_end(child));
  EXPECT_EQ(WTERMSIG(child.wait()), SIGKILL);
}

TEST(TrialProcess, DiesWithAParentThatIsKilled) {
  const TemporaryDirectory directory;
  const fs::path pid_file = directory.path() / "pid";
  const pid_t study = ::fork();
  if (study == 0) {
    TrialProcess child = shell(fmt::format("echo $$ > {0}.new; mv {0}.new {0}; exec sleep 100", pid_file.string()),
                               directory.path() / "log");
    ::pause();
  }
  for (int i = 0; i < 500 && !fs::exists(pid_file); ++i) std::this_thread::sleep_for(10ms);
  const pid_t child = std::stoi(read_file(pid_file));
  ASSERT_EQ(::kill(child, 0), 0);
  ::kill(study, SIGKILL);
  ::waitpid(study, nullptr, 0);
  bool gone = false;
  for (int i = 0; i < 500 && !gone; ++i) {
    // Not our child: init reaps it, or it stays a zombie where there is none that does.
    std::error_code failure;
    gone = ::kill(child, 0) != 0 || fs::read_symlink(fmt::format("/proc/{}/exe", child), failure).empty();
    std::this_thread::sleep_for(10ms);
  }
  EXPECT_TRUE(gone);
}

}  // namespace
}  // namespace eureka
