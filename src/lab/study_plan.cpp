#include "lab/study_plan.h"

#include <fmt/format.h>

#include "train/run_directory.h"

namespace eureka {
namespace {

// An arm that sets what an axis varies would be the same at every point, under a name that says otherwise.
void refuse_hidden_axes(const Study& study) {
  for (const StudyPoint& point : study.points)
    for (const auto& [key, entry] : point.overrides) {
      for (const StudyArm& arm : study.arms)
        if (const auto found = arm.overrides.find(key); found != arm.overrides.end())
          throw Error(ErrorKind::config, fmt::format("the arm '{}' sets '{}', which is an axis", arm.name, key),
                      found->second.where, "leave it out of the arm, or out of [axes]");
      if (const auto found = study.overrides.find(key); found != study.overrides.end())
        throw Error(ErrorKind::config, fmt::format("'{}' is set for every trial, but it is an axis", key),
                    found->second.where, "leave it out, or take it out of [axes]");
    }
}

}  // namespace

ConfigEntries base_entries(const Study& study) {
  ConfigSource source;
  try {
    source = find_config(study.base);
  } catch (const Error& error) {
    throw Error(ErrorKind::config, error.what(), study.base_where, error.hint());
  }
  ConfigEntries entries = read_toml(source.text, source.file_name);
  entries["run.threads"] = {std::int64_t{1}, "a study runs one thread for each trial"};
  if (study.budget) entries["train.steps"] = {*study.budget, "study.budget"};
  return entries;
}

RunConfig trial_config(const Study& study, const StudyPoint& point, const StudyArm& arm, const ConfigEntries& base,
                       std::int64_t seed, const Catalog& catalog) {
  ConfigEntries entries =
      merge_entries(merge_entries(merge_entries(base, study.overrides), point.overrides), arm.overrides);
  entries["run.seed"] = {seed, "study.seeds"};
  return resolve_config(entries, catalog);
}

std::vector<Trial> plan_trials(const Study& study, const Catalog& catalog, const fs::path& out) {
  refuse_hidden_axes(study);
  const ConfigEntries base = base_entries(study);
  std::vector<Trial> trials;
  for (const std::int64_t seed : study.seeds)
    for (std::size_t point = 0; point < study.points.size(); ++point)
      for (std::size_t arm = 0; arm < study.arms.size(); ++arm) {
        const fs::path place = out / study.points[point].name / study.arms[arm].name;
        trials.push_back({point,
                          arm,
                          seed,
                          place / fmt::format("seed-{}", seed),
                          trial_config(study, study.points[point], study.arms[arm], base, seed, catalog),
                          {}});
      }
  return trials;
}

void refuse_other_trials(std::vector<Trial>& trials) {
  std::size_t damaged = 0;
  for (Trial& trial : trials) {
    const fs::path file = trial.directory / "config.toml";
    try {
      if (!fs::exists(file) || read_file(file, 16 << 20) == to_toml(trial.config)) continue;
      read_run_config(trial.directory, *trial.config.catalog);
    } catch (const Error& error) {
      if (++damaged == trials.size()) throw;
      trial.damage = fmt::format("{}: {}", fs::path(error.where()).filename().string(), error.what());
      continue;
    }
    try {
      refuse_other_config(trial.directory, trial.config);
    } catch (const Error& error) {
      throw Error(error.kind(), error.what(), error.where(),
                  "the study was changed since this run: choose another --out DIR, or remove the runs of that arm");
    }
  }
}

}  // namespace eureka
