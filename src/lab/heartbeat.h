// Tells the study that started this process how far the run is, through a pipe it inherited; hands everything on to
// another observer.
#pragma once

#include <chrono>

#include "train/run.h"

namespace eureka {

class Heartbeat : public RunObserver {
 public:
  // `descriptor` below 0: nobody listens.
  Heartbeat(int descriptor, RunObserver& next);

  void on_start(const std::string& engine, std::int64_t first_step, std::int64_t steps) override;
  void on_step(std::int64_t updates_done) override;
  void on_row(const MetricsRow& row, const Findings& findings) override;

 private:
  void tell(std::int64_t updates_done);

  int descriptor_;
  RunObserver& next_;
  std::chrono::steady_clock::time_point last_told_{};
};

}  // namespace eureka
