// Where trials run: as processes of this machine (lab/local_processes.h), or wherever another executor puts them.
//
//   executor.start(trial);
//   for (const TrialState& state : executor.poll(100ms))
//     if (state.ended) ...            its directory says how it went: an executor knows no results
//   executor.stop();
//
// An executor only runs. What is started when, tried again or given up is decided by run_trials.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "lab/study_plan.h"

namespace eureka {

// What a trial says while it runs, in its directory; removed when it has ended well.
inline constexpr const char* kTrialLog = "trial.log";

struct TrialState {
  const Trial* trial = nullptr;  // as it was given to start()
  std::int64_t steps = 0;        // done, as far as is known
  double seconds = 0;            // since it was started
  bool ended = false;
  std::string complaint;  // of one that ended without a summary: why
};

class TrialExecutor {
 public:
  virtual ~TrialExecutor() = default;

  // How many trials it runs at a time.
  virtual std::size_t slots() const = 0;

  // Begins a trial, or resumes it from its last checkpoint. The trial must outlive its run. Throws Error(failed) when
  // there can be no further one.
  virtual void start(const Trial& trial) = 0;

  // Sleeps until there is news, but no longer than `patience`. Every trial under way, and those that have ended since
  // the last call: these are told once.
  virtual std::vector<TrialState> poll(std::chrono::milliseconds patience) = 0;

  // Lets the trials under way save a checkpoint and end, and returns when they have.
  virtual void stop() = 0;
};

}  // namespace eureka
