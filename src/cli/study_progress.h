// A study as it runs: a table redrawn in place on a terminal; elsewhere a plain line now and then.
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <vector>

#include "lab/run_trials.h"

namespace eureka::cli {

class StudyProgress : public TrialsObserver {
 public:
  // `label` names the phase; study and trials must outlive this.
  StudyProgress(std::string label, const Study& study, const std::vector<Trial>& trials, int jobs);

  void on_ended(const TrialRow& row, double seconds) override;
  void on_failure(const Trial& trial, const std::string& reason, bool will_retry) override;
  void on_tick(const std::vector<std::pair<std::size_t, double>>& running) override;

  // Clears the live table, so that the final one can be printed in its place.
  void finish();

 private:
  using Key = std::pair<std::size_t, std::size_t>;  // point, arm
  struct Cell {
    std::size_t total = 0, ended = 0;
    double seconds = 0;  // of the trials timed here
    std::size_t timed = 0;
    double horizon = 0;
    std::vector<TrialOutcome> outcomes;
  };

  double seconds_left(const std::vector<std::pair<std::size_t, double>>& running) const;
  std::string table() const;
  std::string status_line(const std::vector<std::pair<std::size_t, double>>& running) const;
  void say(const std::string& line);

  std::string label_;
  const Study& study_;
  const std::vector<Trial>& trials_;
  int jobs_;
  bool live_;
  std::map<Key, Cell> cells_;
  std::size_t ended_ = 0, failed_ = 0;
  int lines_drawn_ = 0;
  std::chrono::steady_clock::time_point start_, last_draw_;
};

}  // namespace eureka::cli
