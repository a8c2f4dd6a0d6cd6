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

// However long it takes: what hangs is for CTest to end.
void wait_for_end(TrialProcess& child) {
  while (child.listen()) std::this_thread::sleep_for(10ms);
}

TEST(TrialProcess, EndsWithTheStatusOfItsProgramAndItsWordsInTheLog) {
  const TemporaryDirectory directory;
  TrialProcess child = shell("echo said; exit 3", directory.path() / "log");
  wait_for_end(child);
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
      "1000",
      directory.path() / "log");
  while (child.steps() == 0) {
    ASSERT_TRUE(child.listen());
    std::this_thread::sleep_for(10ms);
  }
  EXPECT_EQ(child.steps(), 300);
  child.send(SIGKILL);
  wait_for_end(child);
  EXPECT_EQ(WTERMSIG(child.wait()), SIGKILL);
}

TEST(TrialProcess, DiesWithAParentThatIsKilled) {
  const TemporaryDirectory directory;
  const fs::path pid_file = directory.path() / "pid";
  const pid_t study = ::fork();
  if (study == 0) {
    TrialProcess child = shell(fmt::format("echo $$ > {0}.new; mv {0}.new {0}; exec sleep 1000", pid_file.string()),
                               directory.path() / "log");
    ::pause();
  }
  while (!fs::exists(pid_file)) std::this_thread::sleep_for(10ms);
  const pid_t child = std::stoi(read_file(pid_file));
  ASSERT_EQ(::kill(child, 0), 0);
  ::kill(study, SIGKILL);
  ::waitpid(study, nullptr, 0);
  // Not our child: init reaps it, or it stays a zombie where there is none that does.
  std::error_code failure;
  while (::kill(child, 0) == 0 && !fs::read_symlink(fmt::format("/proc/{}/exe", child), failure).empty())
    std::this_thread::sleep_for(10ms);
}

}  // namespace
}  // namespace eureka
