// What a study will run: every combination of point, arm and seed, each a checked config with a directory of its own.
//
//   std::vector<Trial> trials = plan_trials(study, catalog, "studies/cures");       throws before anything runs
//
// Directories: <out>/<arm>/seed-N, or with axes <out>/<point>/<arm>/seed-N. They are the only state of a study: what
// has a summary is done, what has not is begun or resumed.
#pragma once

#include <optional>
#include <vector>

#include "base/files.h"
#include "lab/study.h"

namespace eureka {

// The run, and its checkpoint, that a trial continues with one change.
struct TrialOrigin {
  fs::path run;
  std::int64_t step = 0;
  ConfigEntries change;
};

struct Trial {
  std::size_t point = 0;
  std::size_t arm = 0;
  std::int64_t seed = 0;
  fs::path directory;
  RunConfig config;
  std::optional<TrialOrigin> origin;
  std::string damage = {};  // why its directory can be neither run nor counted; empty for all but a few
};

// Seed by seed, so that a study stopped half-way has compared all arms on the seeds it has.
std::vector<Trial> plan_trials(const Study& study, const Catalog& catalog, const fs::path& out);

// The config of an arm at a point, checked.
RunConfig trial_config(const Study& study, const StudyPoint& point, const StudyArm& arm, const ConfigEntries& base,
                       std::int64_t seed, const Catalog& catalog);

// The base of the study, with its budget. A trial has one thread unless the study itself says otherwise.
ConfigEntries base_entries(const Study& study);

// A directory that already holds another run than the trial's is no place for it: throws Error(config) that names the
// first option that differs. A config that cannot be read costs that trial only, whose `damage` it becomes; throws when
// there is no other trial left.
void refuse_other_trials(std::vector<Trial>& trials);

}  // namespace eureka
