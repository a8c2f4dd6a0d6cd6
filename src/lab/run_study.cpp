#include "lab/run_study.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <memory>

#include "base/directory_lock.h"
#include "lab/branch_plan.h"
#include "lab/check_trials.h"
#include "lab/study_log.h"
#include "lab/trial_log.h"

namespace eureka {
namespace {

const std::string kParents = "runs to continue";

// study.toml must mean the same from any folder.
void make_places_absolute(Study& study) {
  const std::vector<PresetInfo> presets = list_presets();
  const bool is_preset =
      std::any_of(presets.begin(), presets.end(), [&](const PresetInfo& preset) { return preset.name == study.base; });
  if (!is_preset && fs::exists(study.base)) study.base = fs::absolute(study.base).lexically_normal().string();
  if (study.branch && !study.branch->from.empty())
    study.branch->from = fs::absolute(study.branch->from).lexically_normal().string();
}

class StudyRun {
 public:
  StudyRun(Study study, const Catalog& catalog, const StudyRequest& request, std::size_t slots)
      : study_(std::move(study)), reported_(study_), catalog_(catalog), request_(request), slots_(slots) {}

  StudyOutcome execute(TrialExecutor& executor, StudyObservers observers, const std::atomic<bool>& stop) {
    observers_ = std::move(observers);
    plan();
    const auto lock = begin();
    StudyLog log(request_.out);
    observers_.add(log);
    try {
      run_all(executor, stop, *lock);
    } catch (const std::exception&) {
      // Whatever broke in a directory that is gone broke because it is gone.
      lock->refuse_if_lost();
      throw;
    }
    observers_.tell(StudyFinished{outcome_.end});
    return std::move(outcome_);
  }

  PendingTrials prepare() {
    plan();
    const auto lock = begin();
    PendingTrials pending;
    take_unended(parents_, pending);
    if (!pending.trials.empty()) {
      pending.phase = kParents;
      pending.is_last_phase = false;
      return timed(std::move(pending));
    }
    if (!parents_.empty()) plan_branches(ended_parents());
    pending = {.phase = study_.name};
    take_unended(trials_, pending);
    return timed(std::move(pending));
  }

  StudyOutcome collect() {
    plan();
    const auto lock = begin();
    PendingTrials pending;
    take_unended(parents_, pending);
    for (const Trial& parent : pending.trials) add_unended(parent);
    if (!parents_.empty() && !ended_parents().empty()) plan_branches(ended_parents());
    pending.trials.clear();
    take_unended(trials_, pending);
    for (const Trial& trial : pending.trials) add_unended(trial);
    outcome_.failures.insert(outcome_.failures.end(), pending.failures.begin(), pending.failures.end());
    if (!outcome_.failures.empty()) outcome_.end = StudyEnd::incomplete;
    if (!trials_.empty()) write_report();
    return std::move(outcome_);
  }

 private:
  // Everything that can be wrong is found here, before the first trial.
  void plan() {
    refuse_too_many_trials(study_);
    if (study_.branch) {
      parents_ = plan_parents(study_, catalog_, request_.out);
      const ArmsPreview preview = preview_arms(study_, catalog_, parents_);
      costs_ = check_trials(study_, preview.trials, slots_, &preview.continued);
      // As many continuations as there can be: which runs are to be continued is not known before they ran.
      std::vector<Trial> continuations;
      for (std::size_t i = 0; i < parents_.size(); ++i)
        continuations.insert(continuations.end(), preview.trials.begin(), preview.trials.end());
      cost_.add(study_cost(continuations, costs_, slots_));
      cost_.add(study_cost(parents_, costs_, slots_));
      if (parents_.empty()) plan_branches({});
    } else {
      trials_ = plan_trials(study_, catalog_, request_.out);
    }
    if (!request_.resume && fs::exists(request_.out / "study.toml"))
      throw Error(ErrorKind::output, "already holds a study", request_.out.string(),
                  "continue it with --resume, or choose another place with --out DIR");
    refuse_other_trials(parents_);
    refuse_other_trials(trials_);
    if (!study_.branch) costs_ = check_trials(study_, trials_, slots_);
    cost_.add(study_cost(trials_, costs_, slots_));
  }

  PendingTrials timed(PendingTrials pending) const {
    const StudyCost cost = study_cost(pending.trials, costs_, 1);
    if (cost.trials > 0) pending.seconds_of_trial = cost.most_seconds / static_cast<double>(cost.trials);
    return pending;
  }

  std::unique_ptr<DirectoryLock> begin() {
    make_directories(request_.out);
    auto lock = std::make_unique<DirectoryLock>(request_.out);
    remove_leftovers(request_.out);
    atomic_write(request_.out / "study.toml", to_toml(study_));
    return lock;
  }

  // Those without a result go to `pending`; a summary that cannot be read is none.
  static void take_unended(const std::vector<Trial>& trials, PendingTrials& pending) {
    for (const Trial& trial : trials)
      if (!trial.damage.empty())
        pending.failures.push_back({trial.directory, trial.damage});
      else if (has_ended(trial))
        ++pending.ended;
      else
        pending.trials.push_back(trial);
  }

  static bool has_ended(const Trial& trial) {
    try {
      return read_trial(trial).has_value();
    } catch (const Error&) {
      return false;
    }
  }

  void add_unended(const Trial& trial) {
    outcome_.failures.push_back({trial.directory, "has not ended" + last_words(trial.directory / kTrialLog)});
  }

  std::vector<Trial> ended_parents() const {
    std::vector<Trial> ended;
    std::copy_if(parents_.begin(), parents_.end(), std::back_inserter(ended),
                 [](const Trial& parent) { return parent.damage.empty() && has_ended(parent); });
    return ended;
  }

  // From runs that are there, or from those of `parents`.
  void plan_branches(const std::vector<Trial>& parents) {
    const ContinuedRuns runs = choose_runs(study_, catalog_, parents);
    for (const UnreadableRun& run : runs.unreadable) outcome_.failures.push_back({run.directory, run.reason});
    if (runs.chosen.empty())
      throw Error(ErrorKind::failed,
                  fmt::format("none of {} runs is {} at step {}: there is nothing to continue", runs.looked_at,
                              study_.branch->only == BranchOnly::stuck ? "stuck on the plateau" : "without a moment",
                              study_.branch->at),
                  request_.out.string(), "choose an earlier step, or more seeds");
    runs_looked_at_ = runs.looked_at;
    reported_.seeds.clear();
    for (const ContinuedRun& run : runs.chosen) reported_.seeds.push_back(run.seed);
    trials_ = plan_continuations(study_, runs, catalog_, request_.out);
  }

  void run_all(TrialExecutor& executor, const std::atomic<bool>& stop, const DirectoryLock& lock) {
    if (cost_.trials > 0) observers_.tell(StudyEstimated{cost_, slots_});
    run(kParents, parents_, executor, stop, lock);
    if (outcome_.end == StudyEnd::interrupted) return;
    if (!parents_.empty()) {
      std::vector<Trial> ended;
      std::copy_if(parents_.begin(), parents_.end(), std::back_inserter(ended),
                   [&](const Trial& parent) { return !has_failed(parent); });
      if (ended.empty()) return;
      plan_branches(ended);
    }
    run(study_.name, trials_, executor, stop, lock);
    lock.refuse_if_lost();
    if (outcome_.end != StudyEnd::interrupted) write_report();
  }

  bool has_failed(const Trial& trial) const {
    return std::any_of(outcome_.failures.begin(), outcome_.failures.end(),
                       [&](const TrialFailure& failure) { return failure.directory == trial.directory; });
  }

  void run(const std::string& phase, const std::vector<Trial>& trials, TrialExecutor& executor,
           const std::atomic<bool>& stop, const DirectoryLock& lock) {
    if (!trials.empty()) {
      observers_.tell(TrialsPlanned{phase, study_, trials, slots_});
      const std::vector<TrialFailure> failures =
          run_trials(trials, {study_.timeout_seconds, [&] { lock.refuse_if_lost(); }}, executor, observers_, stop);
      observers_.tell(TrialsDone{phase, failures.size()});
      outcome_.failures.insert(outcome_.failures.end(), failures.begin(), failures.end());
    }
    if (stop.load())
      outcome_.end = StudyEnd::interrupted;
    else if (!outcome_.failures.empty())
      outcome_.end = StudyEnd::incomplete;
  }

  void write_report() {
    StudyReport report = report_study(reported_, trials_, request_.out);
    report.runs_looked_at = runs_looked_at_;
    atomic_write(request_.out / "arms.csv", arms_csv(report));
    atomic_write(request_.out / "trials.csv", trials_csv(report));
    atomic_write(request_.out / "study.json", study_json(report));
    if (!report.damaged.empty()) outcome_.end = StudyEnd::incomplete;
    outcome_.report = std::move(report);
  }

  const Study study_;
  Study reported_;  // with the seeds that were continued, in a study that branches
  const Catalog& catalog_;
  const StudyRequest request_;
  const std::size_t slots_;
  StudyObservers observers_;
  std::vector<Trial> parents_, trials_;
  ArmCosts costs_;
  StudyCost cost_;
  std::size_t runs_looked_at_ = 0;
  StudyOutcome outcome_;
};

}  // namespace

Study read_study_directory(const fs::path& out) {
  const fs::path file = out / "study.toml";
  if (!fs::exists(file)) throw Error(ErrorKind::input, "holds no study (there is no study.toml)", out.string());
  return read_study({read_file(file, 16 << 20), file.string(), (out / "").parent_path().filename().string()});
}

StudyOutcome run_study(Study study, const Catalog& catalog, const StudyRequest& request, TrialExecutor& executor,
                       StudyObservers observers, const std::atomic<bool>& stop) {
  make_places_absolute(study);
  return StudyRun(std::move(study), catalog, request, executor.slots()).execute(executor, std::move(observers), stop);
}

PendingTrials prepare_study(Study study, const Catalog& catalog, const StudyRequest& request, std::size_t slots) {
  make_places_absolute(study);
  return StudyRun(std::move(study), catalog, request, slots).prepare();
}

StudyOutcome collect_study(Study study, const Catalog& catalog, const fs::path& out) {
  make_places_absolute(study);
  return StudyRun(std::move(study), catalog, {out, true}, 1).collect();
}

}  // namespace eureka
