// Trials as child processes of this one, several at a time: the executor of one machine.
//
//   LocalProcesses executor({.jobs = usable_cores()});
//
// A child that makes no step for `timeout_seconds` is killed and reported as hung. None outlives this process.
#pragma once

#include <algorithm>
#include <list>

#include "lab/executor.h"
#include "lab/trial_process.h"

namespace eureka {

struct LocalProcessesOptions {
  int jobs = 1;
  double timeout_seconds = 300;  // without a step: the trial hangs
  fs::path program = {};         // the eureka to run; this one when empty
};

class LocalProcesses final : public TrialExecutor {
 public:
  explicit LocalProcesses(LocalProcessesOptions options);

  std::size_t slots() const override { return static_cast<std::size_t>(std::max(1, options_.jobs)); }
  void start(const Trial& trial) override;
  std::vector<TrialState> poll(std::chrono::milliseconds patience) override;
  void stop() override;

 private:
  struct Running {
    const Trial* trial;
    TrialProcess process;
    bool hung = false;
  };

  void sleep_until_news(std::chrono::milliseconds patience) const;
  TrialState ended(Running& one) const;

  LocalProcessesOptions options_;
  std::list<Running> running_;
};

}  // namespace eureka
