// A study: named arms, each over the same seeds, every trial a run of its own in its own directory and process.
//
//   Study study = read_study(find_config("demo"));
//   std::vector<Trial> trials = plan_trials(study, catalog, "studies/demo");       checks every config first
//   run_trials(trials, {.jobs = 2}, progress, stop);
//   std::vector<ArmResult> results = collect_results(study, trials);
//
// The directories are the only state: what has a summary is done, what has not is run or resumed.
#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/files.h"
#include "lab/presets.h"
#include "train/config.h"

namespace eureka {

struct StudyArm {
  std::string name;
  ConfigEntries overrides;
};

struct Study {
  std::string base;  // preset or file
  std::string base_where;
  std::vector<std::int64_t> seeds;
  std::vector<StudyArm> arms;
  ConfigEntries overrides;  // for every arm: [study.set], and --set of the command line
};

struct Trial {
  std::size_t arm = 0;
  std::int64_t seed = 0;
  fs::path directory;
  RunConfig config;
};

struct TrialFailure {
  fs::path directory;
  std::string reason;
};

struct RunTrialsOptions {
  int jobs = 1;
  fs::path program;  // the eureka to run; this one when empty
};

struct ArmResult {
  std::string name;
  std::int64_t trials = 0;   // that ended
  std::int64_t moments = 0;  // of those
  // Half of the trials had their moment by this step; none when more than half never had one.
  std::optional<double> median_step;
  // Of the trials that had one, as papers print it: biased when others never had one.
  std::optional<double> mean_step_of_moments;
  std::optional<double> median_width;  // 10-90% of the rise, in steps
  std::optional<double> median_final_accuracy;
};

// Throws Error(config) at the place that is wrong.
Study read_study(const ConfigSource& source);

// Every combination is resolved, so that a mistake in the last arm is told before the first one runs.
std::vector<Trial> plan_trials(const Study& study, const Catalog& catalog, const fs::path& out);

// `progress` is told how many trials have ended. Returns the trials that failed twice. Stops early once `stop` is true:
// the children checkpoint, and a later call continues.
std::vector<TrialFailure> run_trials(const std::vector<Trial>& trials, const RunTrialsOptions& options,
                                     const std::function<void(std::size_t ended)>& progress,
                                     const std::atomic<bool>& stop);

std::vector<ArmResult> collect_results(const Study& study, const std::vector<Trial>& trials);

}  // namespace eureka
