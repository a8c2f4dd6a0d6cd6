#include "lab/run_trials.h"

#include <deque>
#include <map>

#include "base/directory_lock.h"

namespace eureka {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr int kTries = 2;
constexpr auto kPauseBeforeRetry = 200ms;
constexpr auto kTick = 100ms;

struct Waiting {
  const Trial* trial = nullptr;
  int attempt = 1;
  Clock::time_point not_before = Clock::now();
  Clock::time_point since = Clock::now();
};

class Runner {
 public:
  Runner(const RunTrialsOptions& options, TrialExecutor& executor, const StudyObservers& observers)
      : options_(options), executor_(executor), observers_(observers) {}

  std::vector<TrialFailure> run(const std::vector<Trial>& trials, const std::atomic<bool>& stop) {
    for (const Trial& trial : trials)
      if (!trial.damage.empty())
        fail(trial, trial.damage);
      else if (!tell_if_ended(trial, 0))
        waiting_.push_back({.trial = &trial});
    while (!waiting_.empty() || !running_.empty()) {
      if (stop.load()) {
        executor_.stop();
        break;
      }
      start_what_fits();
      collect();
    }
    return std::move(failures_);
  }

 private:
  bool tell_if_ended(const Trial& trial, double seconds) {
    std::optional<TrialRow> row;
    try {
      row = read_trial(trial);
    } catch (const Error& error) {
      // A damaged summary is no summary: the run writes it again.
      observers_.tell(TrialDamaged{trial, error.message()});
      set_aside_damaged_summary(trial.directory);
      return false;
    }
    if (!row) return false;
    std::error_code ignored;
    fs::remove(trial.directory / kTrialLog, ignored);
    observers_.tell(TrialEnded{trial, *row, seconds});
    return true;
  }

  void start_what_fits() {
    for (auto next = waiting_.begin(); next != waiting_.end() && running_.size() < executor_.slots();) {
      const Trial& trial = *next->trial;
      if (next->not_before > Clock::now()) {
        ++next;
      } else if (DirectoryLock::is_held(trial.directory)) {
        // A child of a study that was just killed, on its way out.
        next->not_before = Clock::now() + kPauseBeforeRetry;
        if (std::chrono::duration<double>(Clock::now() - next->since).count() > options_.lock_patience_seconds) {
          fail(trial, "in use by another eureka process");
          next = waiting_.erase(next);
        }
      } else {
        if (options_.check_place) options_.check_place();
        executor_.start(trial);
        observers_.tell(TrialStarted{trial, next->attempt});
        running_[&trial] = next->attempt;
        next = waiting_.erase(next);
      }
    }
  }

  void collect() {
    std::vector<TrialState> running;
    for (const TrialState& state : executor_.poll(kTick))
      if (state.ended)
        finish(state);
      else
        running.push_back(state);
    observers_.tell(TrialsProgress{running});
  }

  void finish(const TrialState& state) {
    const Trial& trial = *state.trial;
    const int attempt = running_.at(&trial);
    running_.erase(&trial);
    if (tell_if_ended(trial, state.seconds)) return;
    const std::string reason = state.complaint.empty() ? "its summary cannot be read" : state.complaint;
    if (attempt >= kTries) return fail(trial, "failed twice: " + reason);
    observers_.tell(TrialRetried{trial, reason});
    waiting_.push_back({&trial, attempt + 1, Clock::now() + kPauseBeforeRetry, Clock::now()});
  }

  void fail(const Trial& trial, const std::string& reason) {
    observers_.tell(TrialFailed{trial, reason});
    failures_.push_back({trial.directory, reason});
  }

  RunTrialsOptions options_;
  TrialExecutor& executor_;
  const StudyObservers& observers_;
  std::deque<Waiting> waiting_;
  std::map<const Trial*, int> running_;  // with the number of the attempt
  std::vector<TrialFailure> failures_;
};

}  // namespace

std::vector<TrialFailure> run_trials(const std::vector<Trial>& trials, const RunTrialsOptions& options,
                                     TrialExecutor& executor, const StudyObservers& observers,
                                     const std::atomic<bool>& stop) {
  return Runner(options, executor, observers).run(trials, stop);
}

}  // namespace eureka
