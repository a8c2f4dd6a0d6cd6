// How a run or a study is stopped: the first SIGINT or SIGTERM asks (stop_requested() in cli.h), a second one ends the
// process at once, which costs no more than the steps since the last checkpoint.
#pragma once

#include <chrono>
#include <string>

#include "train/run.h"

namespace eureka::cli {

// What the first signal says on standard error: whoever stops something long is told that it was heard. Empty: nothing.
void say_when_stopped(const std::string& notice);

// For a trial: its study ends it when it must, and a scheduler tells both that they are to stop.
void ignore_further_signals();

// Measures the steps of a run, so that the notice can say how long the last one may take; hands everything on.
class StepTimes final : public RunObserver {
 public:
  explicit StepTimes(RunObserver& next) : next_(next) {}

  void on_start(const std::string& engine, std::int64_t first_step, std::int64_t steps) override;
  void on_step(std::int64_t updates_done) override;
  void on_row(const MetricsRow& row, const Findings& findings) override { next_.on_row(row, findings); }

 private:
  RunObserver& next_;
  std::chrono::steady_clock::time_point last_step_{};
  double longest_ = 0;  // whole seconds that no step has exceeded yet
};

}  // namespace eureka::cli
