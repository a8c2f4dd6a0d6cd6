// Runs the trials that have not ended yet, wherever the executor runs them.
//
//   std::vector<TrialFailure> failures = run_trials(trials, {}, executor, observers, stop);
//
// A trial that crashes, hangs or is killed costs only itself: it is tried once more, from its last checkpoint, and then
// reported. Call it again, in this process or another, and it runs only what is missing.
#pragma once

#include <atomic>
#include <functional>

#include "lab/study_events.h"

namespace eureka {

struct TrialFailure {
  fs::path directory;
  std::string reason;
};

struct RunTrialsOptions {
  // How long a trial waits for a directory that another process holds.
  double lock_patience_seconds = 300;
  // Called before a trial is started, as nothing can be where there is no place for it: throws.
  std::function<void()> check_place = {};
};

// Returns the trials that failed twice, and those that are damaged and cannot be run. Once `stop` is true the trials
// checkpoint and end, and so does this.
std::vector<TrialFailure> run_trials(const std::vector<Trial>& trials, const RunTrialsOptions& options,
                                     TrialExecutor& executor, const StudyObservers& observers,
                                     const std::atomic<bool>& stop);

}  // namespace eureka
