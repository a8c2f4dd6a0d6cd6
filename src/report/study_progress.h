// A study as it runs: a table redrawn in place on a terminal; elsewhere a plain line now and then.
#pragma once

#include <atomic>
#include <chrono>
#include <map>
#include <string>
#include <vector>

#include "lab/study_events.h"
#include "report/live_frame.h"

namespace eureka {

// Writes to standard error. At the end of a phase the live table is cleared, so that the final one can take its place;
// when the study is stopped it stays.
class StudyProgress final : public StudyObserver {
 public:
  // Once `stop` is asked for, the table stays as it stands.
  explicit StudyProgress(const std::atomic<bool>& stop);

  void on_event(const StudyEvent& event) override;

  // What is drawn in a window of that size: the table, as many of its rows as fit, or the line of status alone.
  std::string frame(const std::vector<TrialState>& running, const WindowSize& window, bool color) const;

 private:
  using Key = std::pair<std::size_t, std::size_t>;  // point, arm
  struct Cell {
    std::size_t total = 0, ended = 0;
    double seconds = 0;  // of the trials timed here
    std::size_t timed = 0;
    double horizon = 0;
    std::vector<TrialOutcome> outcomes;
  };

  struct Phase {
    std::string name;
    const Study* study = nullptr;
    std::map<Key, Cell> cells;
    std::size_t total = 0, ended = 0, failed = 0, at_a_time = 1;
    std::chrono::steady_clock::time_point start;
  };

  void begin(const TrialsPlanned& planned);
  void count(const TrialEnded& end);
  TrialRow with_target(const TrialEnded& end) const;
  void draw(const std::vector<TrialState>& running);
  double seconds_left(const std::vector<TrialState>& running) const;
  std::string table(const WindowSize& window, bool color) const;
  std::string status_line(const std::vector<TrialState>& running) const;
  void put_away();
  void complain(const Trial& trial, const std::string& what);

  const std::atomic<bool>& stop_;
  bool live_;
  Phase phase_;
  LiveFrame frame_;
  std::chrono::steady_clock::time_point last_draw_;
};

}  // namespace eureka
