// Runs the built program as a user would.
#pragma once

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/files.h"
#include "support/temporary_directory.h"

// For a test of what the reference engine does.
#define EUREKA_NEEDS_TORCH() \
  if (!EUREKA_BUILT_WITH_TORCH) GTEST_SKIP() << "this build has no torch library"

namespace eureka {

struct CommandResult {
  int exit_code = 0;  // 128 + signal when killed
  std::string out;
  std::string err;
};

// One eureka process with its output in files.
class Command {
 public:
  // In that directory, if one is given.
  explicit Command(const std::vector<std::string>& arguments, const fs::path& place = {}) {
    std::vector<std::string> words = {EUREKA_PROGRAM};
    words.insert(words.end(), arguments.begin(), arguments.end());
    // Before the child runs: it may be killed before it has made them.
    const int out = new_file("out"), err = new_file("err");
    child_ = ::fork();
    if (child_ != 0) {
      ::close(out);
      ::close(err);
      return;
    }
    ::dup2(out, STDOUT_FILENO);
    ::dup2(err, STDERR_FILENO);
    std::vector<char*> pointers;
    for (std::string& word : words) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    if (!place.empty() && ::chdir(place.c_str()) != 0) ::_exit(126);
    ::execv(pointers[0], pointers.data());
    ::_exit(127);
  }

  void send(int signal_number) const { ::kill(child_, signal_number); }
  pid_t pid() const { return child_; }

  bool ended() const {
    siginfo_t state{};
    ::waitid(P_PID, static_cast<id_t>(child_), &state, WEXITED | WNOHANG | WNOWAIT);
    return state.si_pid == child_;
  }
  // Until it is so, however slow the machine; false if the process ends without it.
  template <class Condition>
  bool wait_until(Condition condition) const {
    while (!condition()) {
      if (ended()) return condition();
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return true;
  }
  // On stderr, so far.
  bool has_said(std::string_view words) const { return has("err", words); }
  // On stdout, so far.
  bool has_printed(std::string_view words) const { return has("out", words); }
  std::string printed() const { return read_file(directory_.path() / "out"); }

  CommandResult wait() {
    int status = 0;
    ::waitpid(child_, &status, 0);
    const int code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    return {code, read_file(directory_.path() / "out"), read_file(directory_.path() / "err")};
  }

 private:
  bool has(const char* name, std::string_view words) const {
    const fs::path file = directory_.path() / name;
    return fs::exists(file) && read_file(file).find(words) != std::string::npos;
  }

  int new_file(const char* name) const {
    return ::open((directory_.path() / name).c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  }

  TemporaryDirectory directory_;
  pid_t child_ = -1;
};

inline CommandResult eureka_command(const std::vector<std::string>& arguments, const fs::path& place = {}) {
  return Command(arguments, place).wait();
}

}  // namespace eureka
