// A study as its file describes it: named arms over the same seeds, at one or more points of its axes.
//
//   Study study = read_study(find_config("learning-rate"));
//   study.arms[study.baseline].name      "softmax"
//   study.points[2].name                 "train.lr=0.003"
//
// The file:
//
//   [study]
//   question = "Do the cures help at every learning rate, or only at ours?"
//   base = "two-step"                    a preset or a file
//   seeds = 20                           or a list of different ones
//   baseline = "softmax"                 the first arm when left out
//   budget = 2500                        steps of every trial; the base's own when left out
//   event = "target"                     what the arms are compared by; the "moment" when left out
//   target = 0.9                         accuracy to reach; left out, relative_target = 0.95 of the baseline's final
//   timeout = 300                        seconds without a step after which a trial counts as hung
//   set.train.batch = 64                 for every trial
//   slurm.partition = "short"            how it is submitted to a cluster
//
//   [[arm]]
//   name = "norm_softmax"
//   set.attention.rule = "norm_softmax"
//
//   [axes]                               every arm at every point of the grid, compared point by point
//   train.lr = [1e-3, 3e-3]
//   task.noise = { from = 0.1, to = 0.4, points = 3 }             spacing = "log" for equal ratios
//   [[axes.list]]                        options that move together; each table is one value of this axis
//   train.steps = 5000
//
//   [branch]                             arms continue existing runs instead: docs/studies.md
//   from = "studies/cures/softmax"
//   at = 1000
//   only = "stuck"
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lab/presets.h"
#include "lab/slurm_script.h"
#include "stats/arm_comparison.h"
#include "train/config.h"

namespace eureka {

inline constexpr std::int64_t kMostSeeds = 100'000;
inline constexpr std::size_t kMostArms = 1000;
inline constexpr std::size_t kMostTrials = 100'000;

struct StudyArm {
  std::string name;
  ConfigEntries overrides;
};

// One combination of the axes' values. A study without axes has one point, without a name.
struct StudyPoint {
  std::string name;
  ConfigEntries overrides;
};

enum class BranchOnly { stuck, waiting };
constexpr auto enum_names(BranchOnly) { return std::array{"stuck", "waiting"}; }

struct BranchPlan {
  std::string from;  // directory of the runs to continue; empty: the study trains them itself, from its base
  std::string from_where;
  std::int64_t at = 0;
  std::string at_where;
  BranchOnly only = BranchOnly::stuck;
};

struct Study {
  std::string name;
  std::string question;
  std::string base;  // preset or file
  std::string base_where;
  std::vector<std::int64_t> seeds;  // empty: those of the runs that are continued
  std::size_t baseline = 0;         // index into arms
  std::vector<StudyArm> arms;
  std::vector<StudyPoint> points;
  ConfigEntries overrides;  // for every trial: [study.set], and --set of the command line
  std::optional<std::int64_t> budget;
  double timeout_seconds = 300;
  AwaitedEvent event = AwaitedEvent::moment;
  std::optional<double> target;                     // accuracy
  double relative_target = kDefaultTargetFraction;  // of the baseline's median final accuracy, without `target`
  std::optional<BranchPlan> branch;
  SlurmOptions slurm;  // [study.slurm]
};

// Throws Error(config) at the place that is wrong.
Study read_study(const ConfigSource& source);

// Throws Error(config) for a study that would take minutes to plan and years to run.
void refuse_too_many_trials(const Study& study);

// Complete: with what the command line changed, and with the axes multiplied out. Reads back to the same study.
std::string to_toml(const Study& study);

}  // namespace eureka
