#include "lab/study_progress_elsewhere.h"

#include "base/directory_lock.h"
#include "lab/branch_plan.h"
#include "lab/trial_log.h"
#include "train/records/run_meta.h"

namespace eureka {
namespace {

std::int64_t steps_of(const fs::path& run) {
  try {
    return read_meta(run).updates_done;
  } catch (const Error&) {
    return 0;
  }
}

bool has_summary(const fs::path& run) { return fs::exists(run / "summary.json"); }

void count(const Trial& trial, const std::set<fs::path>& in_hand, ProgressElsewhere& progress) {
  ++progress.trials;
  progress.all_steps += trial.config.train.steps;
  const fs::path place = trial.directory.lexically_relative(progress.out);
  if (has_summary(trial.directory)) {
    ++progress.ended;
    progress.steps += trial.config.train.steps;
    return;
  }
  if (fs::exists(trial.directory / "meta.json")) {
    ++progress.begun;
    progress.steps += steps_of(trial.directory);
  } else {
    ++progress.waiting;
  }
  // In this order: of ten thousand trials each question is one to the file server.
  if (in_hand.contains(place)) return;
  const std::string words = last_words(trial.directory / kTrialLog);
  if (!words.empty() && !DirectoryLock::is_held(trial.directory))
    progress.stopped.push_back({place, "stopped" + words});
}

}  // namespace

ProgressElsewhere progress_elsewhere(const Study& study, const Catalog& catalog, const fs::path& out,
                                     const std::set<fs::path>& in_hand) {
  ProgressElsewhere progress;
  progress.study = study.name;
  progress.out = out;
  std::vector<Trial> trials;
  if (study.branch) {
    trials = plan_parents(study, catalog, out);
    const bool ready =
        std::all_of(trials.begin(), trials.end(), [](const Trial& parent) { return has_summary(parent.directory); });
    if (ready)
      for (Trial& trial : plan_continuations(study, choose_runs(study, catalog, trials), catalog, out))
        trials.push_back(std::move(trial));
  } else {
    trials = plan_trials(study, catalog, out);
  }
  for (const Trial& trial : trials) count(trial, in_hand, progress);
  return progress;
}

}  // namespace eureka
