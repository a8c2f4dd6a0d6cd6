// How far a study is that runs elsewhere, as its directories tell.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "lab/run_study.h"

namespace eureka {

struct ProgressElsewhere {
  std::string study;
  fs::path out;
  std::size_t trials = 0;
  std::size_t ended = 0;
  std::size_t begun = 0;
  std::size_t waiting = 0;
  std::int64_t steps = 0;  // done, at least: those of the last row of metrics count
  std::int64_t all_steps = 0;
  std::vector<TrialFailure> stopped;  // begun, and with last words, but nobody has them in hand
};

// `in_hand`: trials, below `out`, that are known to run or to wait. Reads only.
ProgressElsewhere progress_elsewhere(const Study& study, const Catalog& catalog, const fs::path& out,
                                     const std::set<fs::path>& in_hand);

}  // namespace eureka
