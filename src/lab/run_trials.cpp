#include "lab/run_trials.h"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>

#include <chrono>
#include <deque>
#include <list>

#include "lab/trial_process.h"
#include "train/run_directory.h"

namespace eureka {
namespace {

using namespace std::chrono_literals;
using Clock = TrialProcess::Clock;

constexpr int kTries = 2;
constexpr auto kPauseBeforeRetry = 200ms;
constexpr auto kTick = 100ms;
constexpr auto kPatienceOnStop = 60s;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

struct Waiting {
  std::size_t trial = 0;
  int tries_left = kTries;
  Clock::time_point not_before = Clock::now();
  Clock::time_point since = Clock::now();
};

struct Running {
  Waiting waiting;
  TrialProcess process;
  bool hung = false;
};

fs::path this_program() { return fs::read_symlink("/proc/self/exe"); }

fs::path log_of(const Trial& trial) { return trial.directory / "trial.log"; }

// The config is there before the run: `eureka train --out DIR --resume` needs no more.
std::vector<std::string> prepare(const Trial& trial) {
  make_directories(trial.directory);
  if (trial.origin) {
    std::vector<std::string> words = {"branch", fmt::format("{}@{}", trial.origin->run.string(), trial.origin->step)};
    for (const auto& [key, entry] : trial.origin->change)
      words.insert(words.end(), {"--set", fmt::format("{}={}", key, to_toml(entry.value))});
    words.insert(words.end(), {"--out", trial.directory.string(), "--resume", "--quiet"});
    return words;
  }
  if (!fs::exists(trial.directory / "config.toml"))
    atomic_write(trial.directory / "config.toml", to_toml(trial.config));
  return {"train", "--out", trial.directory.string(), "--resume", "--quiet"};
}

// Why a child ended badly: the last complaint in its log, or its signal.
std::string failure_reason(int status, bool hung, double timeout_seconds, const fs::path& log) {
  if (hung) return fmt::format("hung: no step for {:g} seconds", timeout_seconds);
  if (WIFSIGNALED(status)) return fmt::format("killed by signal {}", WTERMSIG(status));
  std::string said;
  try {
    said = read_file(log, 1 << 20);
  } catch (const Error&) {
    said.clear();
  }
  const std::string mark = "eureka: ";
  const std::size_t message = said.rfind(mark);
  if (message == std::string::npos) return fmt::format("exit code {}", WEXITSTATUS(status));
  const std::size_t begin = message + mark.size();
  return said.substr(begin, said.find('\n', begin) - begin);
}

class Runner {
 public:
  Runner(const std::vector<Trial>& trials, const RunTrialsOptions& options, TrialsObserver& observer,
         const std::atomic<bool>& stop)
      : trials_(trials), options_(options), observer_(observer), stop_(stop) {
    if (options_.program.empty()) options_.program = this_program();
    for (std::size_t i = 0; i < trials.size(); ++i)
      if (!report_if_ended(i, 0)) waiting_.push_back({.trial = i});
  }

  std::vector<TrialFailure> run() {
    while (!waiting_.empty() || !running_.empty()) {
      if (stop_.load()) {
        stop_children();
        break;
      }
      start_what_fits();
      sleep_until_news();
      collect();
      tick();
    }
    return std::move(failures_);
  }

 private:
  bool report_if_ended(std::size_t trial, double seconds) {
    std::optional<TrialRow> row;
    try {
      row = read_trial(trials_[trial]);
    } catch (const Error&) {
      // A damaged summary is no summary: the run writes it again.
      set_aside_damaged_summary(trials_[trial].directory);
      return false;
    }
    if (row) observer_.on_ended(*row, seconds);
    return row.has_value();
  }

  void start_what_fits() {
    for (auto next = waiting_.begin(); next != waiting_.end() && running_.size() < jobs();) {
      if (next->not_before > Clock::now()) {
        ++next;
      } else if (DirectoryLock::is_held(trials_[next->trial].directory)) {
        // A child of a study that was just killed, on its way out.
        next->not_before = Clock::now() + kPauseBeforeRetry;
        if (seconds_since(next->since) > options_.timeout_seconds) {
          fail(*next, "in use by another eureka process");
          next = waiting_.erase(next);
        }
      } else {
        const Trial& trial = trials_[next->trial];
        running_.push_back({*next, TrialProcess(options_.program, prepare(trial), log_of(trial))});
        next = waiting_.erase(next);
      }
    }
  }

  std::size_t jobs() const { return static_cast<std::size_t>(std::max(1, options_.jobs)); }

  void sleep_until_news() {
    std::vector<pollfd> descriptors;
    for (const Running& one : running_) descriptors.push_back({one.process.descriptor(), POLLIN, 0});
    ::poll(descriptors.data(), descriptors.size(), static_cast<int>(kTick / 1ms));
  }

  void collect() {
    for (auto one = running_.begin(); one != running_.end();) {
      if (!one->process.listen()) {
        finish(*one);
        one = running_.erase(one);
        continue;
      }
      if (seconds_since(one->process.last_progress()) > options_.timeout_seconds && !one->hung) {
        one->hung = true;
        one->process.send(SIGKILL);
      }
      ++one;
    }
  }

  void finish(Running& one) {
    const int status = one.process.wait();
    const std::size_t index = one.waiting.trial;
    const Trial& trial = trials_[index];
    if (report_if_ended(index, seconds_since(one.process.started()))) {
      std::error_code ignored;
      fs::remove(log_of(trial), ignored);
      return;
    }
    const std::string reason = failure_reason(status, one.hung, options_.timeout_seconds, log_of(trial));
    if (one.waiting.tries_left <= 1) return fail(one.waiting, reason);
    observer_.on_failure(trial, reason, true);
    waiting_.push_back({index, one.waiting.tries_left - 1, Clock::now() + kPauseBeforeRetry, Clock::now()});
  }

  void fail(const Waiting& waiting, const std::string& reason) {
    observer_.on_failure(trials_[waiting.trial], reason, false);
    failures_.push_back({waiting.trial, reason});
  }

  void tick() {
    std::vector<std::pair<std::size_t, double>> running;
    for (const Running& one : running_) running.emplace_back(one.waiting.trial, seconds_since(one.process.started()));
    observer_.on_tick(running);
  }

  void stop_children() {
    const auto begin = Clock::now();
    for (const Running& one : running_) one.process.send(SIGTERM);
    while (!running_.empty() && Clock::now() - begin < kPatienceOnStop) {
      sleep_until_news();
      for (auto one = running_.begin(); one != running_.end();)
        one = one->process.listen() ? std::next(one) : running_.erase(one);
    }
    running_.clear();
  }

  const std::vector<Trial>& trials_;
  RunTrialsOptions options_;
  TrialsObserver& observer_;
  const std::atomic<bool>& stop_;
  std::deque<Waiting> waiting_;
  std::list<Running> running_;
  std::vector<TrialFailure> failures_;
};

}  // namespace

std::vector<TrialFailure> run_trials(const std::vector<Trial>& trials, const RunTrialsOptions& options,
                                     TrialsObserver& observer, const std::atomic<bool>& stop) {
  return Runner(trials, options, observer, stop).run();
}

}  // namespace eureka
