#include "lab/trial_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/error.h"

namespace eureka {
namespace {

constexpr off_t kRoomForWords = 4096;

// Between fork and exec: only calls that are safe after a fork.
[[noreturn]] void become(const char* program, char* const* arguments, const char* log, int heartbeat, pid_t parent) {
  // It dies with us; if we died before this line, its parent is another one by now.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(1);
  ::signal(SIGTERM, SIG_DFL);
  ::signal(SIGINT, SIG_DFL);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  // A group of its own: Ctrl-C reaches the study alone, which then stops its children in order.
  ::setpgid(0, 0);
  const int input = ::open("/dev/null", O_RDONLY);
  const int output = ::open(log, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0644);
  if (input >= 0) ::dup2(input, STDIN_FILENO);
  if (output >= 0) {
    // Room for its last words: where the disk is full it still can say so.
    ::fallocate(output, FALLOC_FL_KEEP_SIZE, 0, kRoomForWords);
    ::dup2(output, STDOUT_FILENO);
    ::dup2(output, STDERR_FILENO);
  }
  ::fcntl(heartbeat, F_SETFD, 0);
  ::execv(program, arguments);
  ::_exit(127);
}

}  // namespace

TrialProcess::TrialProcess(const fs::path& program, std::vector<std::string> arguments, const fs::path& log) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0)
    throw Error(ErrorKind::failed, fmt::format("cannot make a pipe: {}", std::strerror(errno)));
  arguments.insert(arguments.begin(), program.string());
  arguments.insert(arguments.end(), {"--heartbeat", fmt::format("{}", ends[1])});
  std::vector<char*> words;
  for (std::string& argument : arguments) words.push_back(argument.data());
  words.push_back(nullptr);
  const std::string log_name = log.string();
  const pid_t parent = ::getpid();
  // A SIGTERM that comes before the child has left our handlers behind waits until it has.
  sigset_t stopping, before;
  ::sigemptyset(&stopping);
  ::sigaddset(&stopping, SIGTERM);
  ::sigaddset(&stopping, SIGINT);
  ::sigprocmask(SIG_BLOCK, &stopping, &before);
  child_ = ::fork();
  if (child_ == 0) become(program.c_str(), words.data(), log_name.c_str(), ends[1], parent);
  const int failure = errno;
  ::sigprocmask(SIG_SETMASK, &before, nullptr);
  ::close(ends[1]);
  pipe_ = ends[0];
  if (child_ < 0) {
    ::close(pipe_);
    throw Error(ErrorKind::failed, fmt::format("cannot start a process: {}", std::strerror(failure)), program.string());
  }
}

TrialProcess::TrialProcess(TrialProcess&& other) noexcept
    : child_(std::exchange(other.child_, -1)),
      pipe_(std::exchange(other.pipe_, -1)),
      steps_(other.steps_),
      started_(other.started_),
      last_progress_(other.last_progress_) {}

TrialProcess::~TrialProcess() {
  if (child_ > 0) {
    send(SIGKILL);
    wait();
  }
  if (pipe_ >= 0) ::close(pipe_);
}

bool TrialProcess::listen() {
  std::int64_t counts[512];
  while (true) {
    // Writes of one count are never split: a pipe keeps anything this short whole.
    const ssize_t got = ::read(pipe_, counts, sizeof counts);
    if (got == 0) return false;
    if (got < 0) return !has_ended();
    if (const auto whole = static_cast<std::size_t>(got) / sizeof(std::int64_t); whole > 0) steps_ = counts[whole - 1];
    last_progress_ = Clock::now();
  }
}

// The pipe alone would not tell while a process of the child's own still holds it.
bool TrialProcess::has_ended() const {
  siginfo_t info{};
  return ::waitid(P_PID, static_cast<id_t>(child_), &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == child_;
}

int TrialProcess::wait() {
  int status = 0;
  while (child_ > 0 && ::waitpid(child_, &status, 0) < 0 && errno == EINTR) {
  }
  child_ = -1;
  return status;
}

void TrialProcess::send(int signal_number) const {
  if (child_ > 0) ::kill(child_, signal_number);
}

}  // namespace eureka
