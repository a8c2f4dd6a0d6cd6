// Runs the trials that have not ended yet, each in a process of its own, several at a time.
//
//   std::vector<TrialFailure> failures = run_trials(trials, {.jobs = usable_cores()}, observer, stop);
//
// A trial that crashes, hangs or is killed costs only itself: it is tried once more, from its last checkpoint, and then
// reported. Call it again, in this process or another, and it runs only what is missing.
#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "lab/trial_row.h"

namespace eureka {

struct TrialFailure {
  std::size_t trial = 0;  // index
  std::string reason;
};

struct RunTrialsOptions {
  int jobs = 1;
  double timeout_seconds = 300;  // without a step: the trial hangs
  fs::path program;              // the eureka to run; this one when empty
};

// Watches, for drawing. Never changes anything.
class TrialsObserver {
 public:
  virtual ~TrialsObserver() = default;
  // `seconds`: how long it ran in this process; 0 for one that had ended before.
  virtual void on_ended(const TrialRow&, double /*seconds*/) {}
  virtual void on_failure(const Trial&, const std::string& /*reason*/, bool /*will_retry*/) {}
  // Now and then; `running` are indices of trials with the seconds they have run.
  virtual void on_tick(const std::vector<std::pair<std::size_t, double>>& /*running*/) {}
};

// Returns the trials that failed twice. Once `stop` is true the children checkpoint and end, and so does this.
std::vector<TrialFailure> run_trials(const std::vector<Trial>& trials, const RunTrialsOptions& options,
                                     TrialsObserver& observer, const std::atomic<bool>& stop);

}  // namespace eureka
