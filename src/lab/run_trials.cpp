#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <deque>
#include <map>
#include <thread>

#include "lab/study.h"
#include "train/run_directory.h"

namespace eureka {
namespace {

using namespace std::chrono_literals;

constexpr int kTries = 2;

struct Waiting {
  std::size_t trial;
  int tries_left;
};

// Starts `eureka train` on a trial, with its output in the trial's own log.
pid_t start_child(const fs::path& program, const Trial& trial) {
  make_directories(trial.directory);
  const fs::path config = trial.directory / "trial.toml";
  atomic_write(config, to_toml(trial.config));
  const std::string log = (trial.directory / "trial.log").string();
  std::vector<std::string> words = {program.string(),         "train",   config.string(), "--out",
                                    trial.directory.string(), "--resume"};
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
  posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  // A group of its own: Ctrl-C reaches this process alone, which then stops the children in order.
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  posix_spawnattr_setpgroup(&attributes, 0);
  pid_t child = -1;
  const int failure = ::posix_spawn(&child, program.c_str(), &actions, &attributes, arguments.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (failure != 0)
    throw Error(ErrorKind::failed, fmt::format("cannot start: {}", std::strerror(failure)), program.string());
  return child;
}

// Why a child ended badly: the first line of what it said, or its signal.
std::string failure_reason(int status, const fs::path& directory) {
  if (WIFSIGNALED(status)) return fmt::format("killed by signal {}", WTERMSIG(status));
  std::string said;
  try {
    said = read_file(directory / "trial.log", 1 << 20);
  } catch (const Error&) {
    said.clear();
  }
  const std::size_t message = said.rfind("eureka: ");
  const std::string line = message == std::string::npos ? "" : said.substr(message, said.find('\n', message) - message);
  return line.empty() ? fmt::format("exit code {}", WEXITSTATUS(status)) : line;
}

bool has_ended(const Trial& trial) {
  try {
    return read_summary(trial.directory).has_value();
  } catch (const Error&) {
    return false;
  }
}

class Runner {
 public:
  Runner(const std::vector<Trial>& trials, const RunTrialsOptions& options,
         const std::function<void(std::size_t)>& progress, const std::atomic<bool>& stop)
      : trials_(trials), options_(options), progress_(progress), stop_(stop) {
    if (options_.program.empty()) options_.program = fs::read_symlink("/proc/self/exe");
    for (std::size_t i = 0; i < trials.size(); ++i) {
      if (has_ended(trials[i]))
        ++ended_;
      else
        waiting_.push_back({i, kTries});
    }
  }

  ~Runner() { stop_children(); }
  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;

  std::vector<TrialFailure> run() {
    progress_(ended_);
    while (!waiting_.empty() || !running_.empty()) {
      if (stop_.load()) {
        stop_children();
        break;
      }
      while (!waiting_.empty() && running_.size() < static_cast<std::size_t>(options_.jobs)) start_next();
      if (!collect_one()) std::this_thread::sleep_for(5ms);
      progress_(ended_);
    }
    return std::move(failures_);
  }

 private:
  void start_next() {
    const Waiting next = waiting_.front();
    waiting_.pop_front();
    running_[start_child(options_.program, trials_[next.trial])] = next;
  }

  bool collect_one() {
    int status = 0;
    for (const auto& [child, waiting] : running_) {
      if (::waitpid(child, &status, WNOHANG) != child) continue;
      const Waiting done = waiting;
      running_.erase(child);
      finish(done, status);
      return true;
    }
    return false;
  }

  void finish(Waiting done, int status) {
    const Trial& trial = trials_[done.trial];
    if (has_ended(trial)) {
      ++ended_;
    } else if (done.tries_left > 1) {
      waiting_.push_front({done.trial, done.tries_left - 1});
    } else {
      ++ended_;
      failures_.push_back({trial.directory, failure_reason(status, trial.directory)});
    }
  }

  void stop_children() {
    for (const auto& [child, waiting] : running_) ::kill(child, SIGTERM);
    for (const auto& [child, waiting] : running_) ::waitpid(child, nullptr, 0);
    running_.clear();
  }

  const std::vector<Trial>& trials_;
  RunTrialsOptions options_;
  const std::function<void(std::size_t)>& progress_;
  const std::atomic<bool>& stop_;
  std::deque<Waiting> waiting_;
  std::map<pid_t, Waiting> running_;
  std::vector<TrialFailure> failures_;
  std::size_t ended_ = 0;
};

}  // namespace

std::vector<TrialFailure> run_trials(const std::vector<Trial>& trials, const RunTrialsOptions& options,
                                     const std::function<void(std::size_t ended)>& progress,
                                     const std::atomic<bool>& stop) {
  return Runner(trials, options, progress, stop).run();
}

}  // namespace eureka
