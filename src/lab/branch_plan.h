// A study that branches: runs are taken up at one step and each continued once for every arm, so that the arms share
// everything up to that step. What differs afterwards the change has caused.
//
//   std::vector<Trial> parents = plan_parents(study, catalog, out);         empty when the study names existing runs
//   ArmsPreview preview = preview_arms(study, catalog, parents);            throws before anything runs
//   ... run them ...
//   ContinuedRuns runs = choose_runs(study, catalog, parents);
//   std::vector<Trial> trials = plan_continuations(study, runs, catalog, out);
#pragma once

#include <vector>

#include "lab/study_plan.h"

namespace eureka {

struct ContinuedRun {
  std::int64_t seed = 0;
  fs::path directory;
};

// One whose records cannot be read.
struct UnreadableRun {
  fs::path directory;
  std::string reason;
};

struct ContinuedRuns {
  std::vector<ContinuedRun> chosen;
  std::vector<UnreadableRun> unreadable;  // left out
  std::size_t looked_at = 0;
};

// <out>/parents/seed-N, from the base of the study.
std::vector<Trial> plan_parents(const Study& study, const Catalog& catalog, const fs::path& out);

// Every arm on top of the first run, planned or existing: for checking, not for running.
struct ArmsPreview {
  RunConfig continued;
  std::vector<Trial> trials;
};
ArmsPreview preview_arms(const Study& study, const Catalog& catalog, const std::vector<Trial>& parents);

// Those that answer to `branch.only`, judged by nothing but what was known at that step: a choice by what came later
// would favor one arm. Runs that had ended before the step are looked at, but never chosen. Throws Error(input) when a
// run has no checkpoint there.
ContinuedRuns choose_runs(const Study& study, const Catalog& catalog, const std::vector<Trial>& parents);

std::vector<Trial> plan_continuations(const Study& study, const ContinuedRuns& runs, const Catalog& catalog,
                                      const fs::path& out);

}  // namespace eureka
