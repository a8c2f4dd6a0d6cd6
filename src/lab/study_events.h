// What happens while a study runs, told as it happens to whoever wants to know.
//
//   class Counter : public StudyObserver {
//     void on_event(const StudyEvent& event) override { if (std::get_if<TrialEnded>(&event)) ++ended; }
//   };
//   StudyObservers observers({&table, &log});
//   observers.tell(TrialStarted{trial, 1});
//
// Observers watch and never change anything. Events hold references: they are good during the call only, except that a
// study and its trials live until TrialsDone.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "lab/executor.h"
#include "lab/study_cost.h"
#include "lab/trial_row.h"

namespace eureka {

// The trials of a phase: a study that branches may first train the runs it continues.
struct TrialsPlanned {
  const std::string& phase;
  const Study& study;
  const std::vector<Trial>& trials;
  std::size_t at_a_time;
};

// Before the first of them begins: what all trials of the study will take.
struct StudyEstimated {
  const StudyCost& cost;
  std::size_t at_a_time;
};

struct TrialStarted {
  const Trial& trial;
  int attempt;  // from 1
};

// Now and then: all that are under way.
struct TrialsProgress {
  const std::vector<TrialState>& running;
};

struct TrialEnded {
  const Trial& trial;
  const TrialRow& row;
  double seconds;  // it ran for just now; 0 for one that had ended before
};

// Ended without a result; it is tried once more.
struct TrialRetried {
  const Trial& trial;
  const std::string& reason;
};

// Given up.
struct TrialFailed {
  const Trial& trial;
  const std::string& reason;
};

// Has a summary that cannot be read; it runs again.
struct TrialDamaged {
  const Trial& trial;
  const std::string& reason;
};

struct TrialsDone {
  const std::string& phase;
  std::size_t failed;
};

enum class StudyEnd { complete, incomplete, interrupted };
constexpr auto enum_names(StudyEnd) { return std::array{"complete", "incomplete", "interrupted"}; }

struct StudyFinished {
  StudyEnd end;
};

using StudyEvent = std::variant<TrialsPlanned, StudyEstimated, TrialStarted, TrialsProgress, TrialEnded, TrialRetried,
                                TrialFailed, TrialDamaged, TrialsDone, StudyFinished>;

class StudyObserver {
 public:
  virtual ~StudyObserver() = default;
  virtual void on_event(const StudyEvent& event) = 0;
};

class StudyObservers {
 public:
  StudyObservers() = default;
  explicit StudyObservers(std::vector<StudyObserver*> observers) : observers_(std::move(observers)) {}

  void add(StudyObserver& observer) { observers_.push_back(&observer); }
  void tell(const StudyEvent& event) const {
    for (StudyObserver* observer : observers_) observer->on_event(event);
  }

 private:
  std::vector<StudyObserver*> observers_;
};

}  // namespace eureka
