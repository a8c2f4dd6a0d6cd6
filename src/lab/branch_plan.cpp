#include "lab/branch_plan.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "lab/trial_row.h"
#include "tasks/task.h"
#include "train/branch.h"
#include "train/detection.h"

namespace eureka {
namespace {

constexpr const char* kParents = "parents";

// Run directories directly below `directory`, by seed. The directory of a study stands for its baseline arm.
std::vector<fs::path> runs_below(const Study& study) {
  fs::path directory = study.branch->from;
  if (fs::exists(directory / "study.toml")) {
    const fs::path file = directory / "study.toml";
    const Study other = read_study({read_file(file, 16 << 20), file.string(), directory.filename().string()});
    if (other.points.size() > 1)
      throw Error(ErrorKind::config, "'branch.from' names a study with axes", study.branch->from_where,
                  fmt::format("name one arm at one point, for example {}",
                              (directory / other.points[0].name / other.arms[other.baseline].name).string()));
    directory /= other.arms[other.baseline].name;
  }
  std::vector<fs::path> runs;
  std::error_code failure;
  for (const auto& entry : fs::directory_iterator(directory, failure))
    if (fs::exists(entry.path() / "config.toml")) runs.push_back(entry.path());
  if (runs.empty())
    throw Error(ErrorKind::input, fmt::format("'branch.from': there are no runs in {}", directory.string()),
                study.branch->from_where, "name the directory of a study, or of one of its arms");
  return runs;
}

RunConfig first_readable_config(const std::vector<fs::path>& runs, const Catalog& catalog) {
  for (std::size_t i = 0; i + 1 < runs.size(); ++i) {
    try {
      return read_run_config(runs[i], catalog);
    } catch (const Error&) {
      continue;  // it is named when the runs are chosen
    }
  }
  return read_run_config(runs.back(), catalog);
}

struct RowsUntil {
  std::vector<MetricsRow> rows;
  bool reached = false;  // the run went as far as that step
};

RowsUntil rows_until(const fs::path& run, const Metric& metric, std::int64_t step) {
  RowsUntil until;
  for (MetricsRow& row : read_metrics(run, {"val_" + metric.key()})) {
    if (row.step >= step) until.reached = true;
    if (row.step <= step) until.rows.push_back(std::move(row));
  }
  return until;
}

bool answers(BranchOnly only, const RunConfig& config, const fs::path& run, std::int64_t step) {
  const auto task = Registry<Task>::instance().make(config.task.name, config.task.options);
  const Metric metric = task->metric();
  const RowsUntil until = rows_until(run, metric, step);
  if (!until.reached || until.rows.empty()) return false;
  MomentDetector detector(detector_options(*task, config));
  for (const MetricsRow& row : until.rows) add_row(row, metric, detector);
  if (only == BranchOnly::waiting) return detector.moments().empty();
  detector.finish();
  return detector.moments().empty() && metric.on_plateau(until.rows.back().at("val_" + metric.key()));
}

void require_checkpoint(const Study& study, const fs::path& run) {
  const std::vector<std::int64_t> steps = list_checkpoints(run);
  if (std::find(steps.begin(), steps.end(), study.branch->at) != steps.end()) return;
  throw Error(ErrorKind::input, fmt::format("{} has no checkpoint of step {}", run.string(), study.branch->at),
              study.branch->at_where,
              steps.empty() ? "it has none at all" : fmt::format("there are: {}", fmt::join(steps, ", ")));
}

// What an arm changes: also what is set for every trial, unless the runs were trained with it already.
ConfigEntries change_of(const Study& study, const StudyArm& arm) {
  return study.branch->from.empty() ? arm.overrides : merge_entries(study.overrides, arm.overrides);
}

}  // namespace

std::vector<Trial> plan_parents(const Study& study, const Catalog& catalog, const fs::path& out) {
  for (const StudyArm& arm : study.arms)
    if (arm.name == kParents)
      throw Error(ErrorKind::config, fmt::format("an arm cannot be named '{}' here", kParents), {},
                  "that is where the study keeps the runs it continues");
  if (!study.branch->from.empty()) return {};
  const ConfigEntries base = base_entries(study);
  std::vector<Trial> parents;
  for (const std::int64_t seed : study.seeds)
    parents.push_back({0,
                       0,
                       seed,
                       out / kParents / fmt::format("seed-{}", seed),
                       trial_config(study, {}, {}, base, seed, catalog),
                       {}});
  const RunConfig& config = parents.front().config;
  const std::int64_t at = study.branch->at, every = config.run.checkpoint_every;
  if (at >= config.train.steps || every == 0 || at % every != 0)
    throw Error(
        ErrorKind::config,
        fmt::format("'branch.at' = {}: a run of {} steps with run.checkpoint_every = {} has no checkpoint there "
                    "to continue from",
                    at, config.train.steps, every),
        study.branch->at_where, "choose a multiple of run.checkpoint_every before the end");
  return parents;
}

ArmsPreview preview_arms(const Study& study, const Catalog& catalog, const std::vector<Trial>& parents) {
  ConfigEntries first;
  if (parents.empty())
    first = to_entries(first_readable_config(runs_below(study), catalog), study.branch->from);
  else
    first = to_entries(parents.front().config, "the base of the study");
  ArmsPreview preview{resolve_config(first, catalog), {}};
  for (std::size_t arm = 0; arm < study.arms.size(); ++arm) {
    const ConfigEntries entries = merge_entries(first, change_of(study, study.arms[arm]));
    preview.trials.push_back({0, arm, 0, {}, resolve_config(entries, catalog), {}});
  }
  return preview;
}

ContinuedRuns choose_runs(const Study& study, const Catalog& catalog, const std::vector<Trial>& parents) {
  std::vector<fs::path> directories;
  if (parents.empty()) directories = runs_below(study);
  for (const Trial& parent : parents) directories.push_back(parent.directory);
  const std::set<std::int64_t> wanted(study.seeds.begin(), study.seeds.end());
  ContinuedRuns runs;
  for (const fs::path& directory : directories) {
    try {
      const RunConfig config = read_run_config(directory, catalog);
      if (!wanted.empty() && !wanted.contains(config.run.seed)) continue;
      ++runs.looked_at;
      if (answers(study.branch->only, config, directory, study.branch->at))
        runs.chosen.push_back({config.run.seed, directory});
    } catch (const Error& error) {
      runs.unreadable.push_back({directory, error.message()});
    }
  }
  for (const ContinuedRun& run : runs.chosen) require_checkpoint(study, run.directory);
  std::sort(runs.chosen.begin(), runs.chosen.end(),
            [](const ContinuedRun& a, const ContinuedRun& b) { return a.seed < b.seed; });
  for (std::size_t i = 1; i < runs.chosen.size(); ++i)
    if (runs.chosen[i].seed == runs.chosen[i - 1].seed)
      throw Error(ErrorKind::input, fmt::format("two of the runs have seed {}", runs.chosen[i].seed),
                  study.branch->from_where, "seeds name the pairs: continue the runs of one arm only");
  return runs;
}

std::vector<Trial> plan_continuations(const Study& study, const ContinuedRuns& runs, const Catalog& catalog,
                                      const fs::path& out) {
  std::vector<Trial> trials;
  for (const ContinuedRun& run : runs.chosen)
    for (std::size_t arm = 0; arm < study.arms.size(); ++arm) {
      const ConfigEntries change = change_of(study, study.arms[arm]);
      const fs::path place = out / study.arms[arm].name / fmt::format("seed-{}", run.seed);
      const RunConfig config = branch_config({run.directory, study.branch->at, place, change}, catalog);
      trials.push_back({0, arm, run.seed, place, config, TrialOrigin{run.directory, study.branch->at, change}});
    }
  return trials;
}

}  // namespace eureka
