// A whole study: planned and checked, its trials run, what it found written.
//
//   LocalProcesses executor({.jobs = 2});
//   const StudyOutcome outcome = run_study(study, catalog, {.out = "studies/cures"}, executor, {}, stop);
//   if (outcome.report) print("{}", Layout{study_text(*outcome.report, {})});
//
// The directory holds study.toml, the runs, events.jsonl, and in the end study.json, arms.csv and trials.csv.
#pragma once

#include <optional>

#include "lab/run_trials.h"
#include "lab/study_report.h"

namespace eureka {

struct StudyRequest {
  fs::path out;
  bool resume = false;  // run what is missing; begins the study if there is none
};

struct StudyOutcome {
  StudyEnd end = StudyEnd::complete;
  std::vector<TrialFailure> failures;
  std::optional<StudyReport> report;  // nothing when interrupted, or when the runs to continue failed
};

// The study in `out`, as its study.toml says. Throws Error(input) when there is none.
Study read_study_directory(const fs::path& out);

// What is left of a study, for whoever runs it elsewhere (lab/study_tasks.h).
struct PendingTrials {
  std::string phase;
  std::size_t ended = 0;
  std::vector<Trial> trials;    // without a result yet
  bool is_last_phase = true;    // else these are runs that a branching study continues: ask again when they have ended
  double seconds_of_trial = 0;  // on this machine, as far as a few steps tell; 0: unknown
  std::vector<TrialFailure> failures;  // damaged: they cannot be run
};

// Throws Error before anything runs when a config is wrong, the directory is in use or holds another study.
StudyOutcome run_study(Study study, const Catalog& catalog, const StudyRequest& request, TrialExecutor& executor,
                       StudyObservers observers, const std::atomic<bool>& stop);

// Plans and checks as run_study does, and writes study.toml, but runs nothing. `slots`: trials at a time on one
// machine.
PendingTrials prepare_study(Study study, const Catalog& catalog, const StudyRequest& request, std::size_t slots);

// The report of what has ended, wherever it ran; the rest are failures, each with the last words of its log.
StudyOutcome collect_study(Study study, const Catalog& catalog, const fs::path& out);

}  // namespace eureka
