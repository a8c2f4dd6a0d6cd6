#include "lab/local_processes.h"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>

#include "base/run_program.h"
#include "lab/trial_log.h"

namespace eureka {
namespace {

using namespace std::chrono_literals;
using Clock = TrialProcess::Clock;

constexpr auto kPollOnStop = 100ms;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

fs::path log_of(const Trial& trial) { return trial.directory / kTrialLog; }

// The config is there before the run: `eureka train --out DIR --resume` needs no more.
std::vector<std::string> prepare(const Trial& trial) {
  make_own_directory(trial.directory.parent_path());
  make_own_directory(trial.directory);
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

bool is_disk_full(const fs::path& directory) {
  std::error_code failure;
  const fs::space_info space = fs::space(directory, failure);
  return !failure && space.available == 0;
}

// Why a child ended badly: the last complaint in its log, or its signal.
std::string failure_reason(int status, bool hung, double timeout_seconds, const fs::path& log) {
  const std::string said = said_in(log), words = last_words(log);
  if (hung) return fmt::format("hung: no step for {:g} seconds{}", timeout_seconds, words);
  if (WIFSIGNALED(status)) return fmt::format("killed by signal {}{}", WTERMSIG(status), words);
  const std::string mark = "eureka: ";
  const std::size_t message = said.rfind(mark);
  if (message == std::string::npos)
    return fmt::format("exit code {}{}{}", WEXITSTATUS(status),
                       is_disk_full(log.parent_path()) ? ": the disk is full" : "", words);
  const std::size_t begin = message + mark.size();
  return said.substr(begin, said.find('\n', begin) - begin);
}

}  // namespace

LocalProcesses::LocalProcesses(LocalProcessesOptions options) : options_(std::move(options)) {
  if (options_.program.empty()) options_.program = this_program();
}

void LocalProcesses::start(const Trial& trial) {
  running_.push_back({&trial, TrialProcess(options_.program, prepare(trial), log_of(trial))});
}

std::vector<TrialState> LocalProcesses::poll(std::chrono::milliseconds patience) {
  sleep_until_news(patience);
  std::vector<TrialState> states;
  for (auto one = running_.begin(); one != running_.end();) {
    if (!one->process.listen()) {
      states.push_back(ended(*one));
      one = running_.erase(one);
      continue;
    }
    if (seconds_since(one->process.last_progress()) > options_.timeout_seconds && !one->hung) {
      one->hung = true;
      one->process.send(SIGKILL);
    }
    states.push_back({one->trial, one->process.steps(), seconds_since(one->process.started()), false, {}});
    ++one;
  }
  return states;
}

void LocalProcesses::sleep_until_news(std::chrono::milliseconds patience) const {
  std::vector<pollfd> descriptors;
  for (const Running& one : running_) descriptors.push_back({one.process.descriptor(), POLLIN, 0});
  ::poll(descriptors.data(), descriptors.size(), static_cast<int>(patience.count()));
}

TrialState LocalProcesses::ended(Running& one) const {
  const int status = one.process.wait();
  TrialState state{one.trial, one.process.steps(), seconds_since(one.process.started()), true, {}};
  if (!fs::exists(one.trial->directory / "summary.json"))
    state.complaint = failure_reason(status, one.hung, options_.timeout_seconds, log_of(*one.trial));
  return state;
}

void LocalProcesses::stop() {
  const auto begin = Clock::now();
  for (const Running& one : running_) one.process.send(SIGTERM);
  // One that takes longer hangs, as it would have otherwise.
  while (!running_.empty() && seconds_since(begin) < options_.timeout_seconds) {
    sleep_until_news(kPollOnStop);
    for (auto one = running_.begin(); one != running_.end();)
      one = one->process.listen() ? std::next(one) : running_.erase(one);
  }
  running_.clear();
}

}  // namespace eureka
