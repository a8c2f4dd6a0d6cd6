// eureka study: several arms over the same seeds, every trial a process of its own.
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>

#include "base/cores.h"
#include "base/terminal.h"
#include "cli/cli.h"
#include "cli/study_progress.h"
#include "lab/branch_plan.h"
#include "lab/check_trials.h"
#include "lab/study_report.h"
#include "report/study_table.h"

namespace eureka::cli {
namespace {

struct StudyArguments {
  std::string source;
  std::string out;
  std::vector<std::string> overrides;
  int jobs = 0;
  std::int64_t seeds = 0;
  double timeout = 0;
  bool resume = false;
  bool json = false;
};

// study.toml must mean the same from any folder.
void make_places_absolute(Study& study) {
  const std::vector<PresetInfo> presets = list_presets();
  const bool is_preset =
      std::any_of(presets.begin(), presets.end(), [&](const PresetInfo& preset) { return preset.name == study.base; });
  if (!is_preset && fs::exists(study.base)) study.base = fs::absolute(study.base).lexically_normal().string();
  if (study.branch && !study.branch->from.empty())
    study.branch->from = fs::absolute(study.branch->from).lexically_normal().string();
}

Study study_of(const StudyArguments& arguments) {
  if (arguments.source.empty() && (arguments.out.empty() || !arguments.resume))
    throw Error(ErrorKind::usage, "eureka study needs a preset or a file", {},
                "for example: eureka study cures  (eureka list presets), or --out DIR --resume to continue one");
  ConfigSource source;
  if (arguments.source.empty()) {
    const fs::path file = fs::path(arguments.out) / "study.toml";
    if (!fs::exists(file)) throw Error(ErrorKind::input, "holds no study (there is no study.toml)", arguments.out);
    source = {read_file(file, 16 << 20), file.string(),
              (fs::path(arguments.out) / "").parent_path().filename().string()};
  } else {
    source = find_config(arguments.source);
  }
  Study study = read_study(source);
  study.overrides = merge_entries(study.overrides, parse_overrides(arguments.overrides));
  if (arguments.seeds > 0) {
    study.seeds.clear();
    for (std::int64_t seed = 1; seed <= arguments.seeds; ++seed) study.seeds.push_back(seed);
  }
  make_places_absolute(study);
  if (arguments.timeout > 0) study.timeout_seconds = arguments.timeout;
  return study;
}

class StudyRun {
 public:
  StudyRun(const StudyArguments& arguments, Study study)
      : arguments_(arguments),
        study_(std::move(study)),
        reported_(study_),
        out_(arguments.out.empty() ? fs::path("studies") / study_.name : fs::path(arguments.out)),
        options_{.jobs = arguments.jobs > 0 ? arguments.jobs : usable_cores(),
                 .timeout_seconds = study_.timeout_seconds,
                 .program = {}} {}

  int execute() {
    std::vector<Trial> parents, trials;
    if (study_.branch) {
      parents = plan_parents(study_, catalog(), out_);
      const ArmsPreview preview = preview_arms(study_, catalog(), parents);
      check_trials(study_, preview.trials, &preview.continued);
      if (parents.empty()) trials = continuations(parents);
    } else {
      trials = plan_trials(study_, catalog(), out_);
    }
    if (!arguments_.resume && fs::exists(out_ / "study.toml"))
      throw Error(ErrorKind::output, "already holds a study", out_.string(),
                  "continue it with --resume, or choose another place with --out DIR");
    refuse_other_trials(parents);
    refuse_other_trials(trials);
    if (!study_.branch) check_trials(study_, trials);
    make_directories(out_);
    const DirectoryLock lock(out_);
    atomic_write(out_ / "study.toml", to_toml(study_));

    const bool all_parents = run("runs to continue", parents);
    if (!all_parents) return kFailed;
    if (!parents.empty() && !stopped()) trials = continuations(parents);
    const bool complete = stopped() || run(study_.name, trials);
    if (stopped()) {
      fmt::print(stderr, "eureka: interrupted; every trial is checkpointed: eureka study --out {} --resume\n",
                 out_.string());
      return kInterrupted;
    }
    const bool all_intact = report(trials);
    return complete && all_intact ? kOk : kFailed;
  }

 private:
  static bool stopped() { return stop_requested().load(); }

  std::vector<Trial> continuations(const std::vector<Trial>& parents) {
    const ContinuedRuns runs = choose_runs(study_, catalog(), parents);
    if (runs.chosen.empty())
      throw Error(ErrorKind::failed,
                  fmt::format("none of {} runs is {} at step {}: there is nothing to continue", runs.looked_at,
                              study_.branch->only == BranchOnly::stuck ? "stuck on the plateau" : "without a moment",
                              study_.branch->at),
                  out_.string(), "choose an earlier step, or more seeds");
    runs_looked_at_ = runs.looked_at;
    reported_.seeds.clear();
    for (const ContinuedRun& run : runs.chosen) reported_.seeds.push_back(run.seed);
    return plan_continuations(study_, runs, catalog(), out_);
  }

  // True when every trial ended.
  bool run(const std::string& label, const std::vector<Trial>& trials) {
    if (trials.empty()) return true;
    StudyProgress progress(label, study_, trials, options_.jobs);
    const std::vector<TrialFailure> failures = run_trials(trials, options_, progress, stop_requested());
    progress.finish();
    for (const TrialFailure& failure : failures)
      fmt::print(stderr, "eureka: {} failed twice: {}\n", trials[failure.trial].directory.string(), failure.reason);
    return failures.empty();
  }

  // True when no trial is damaged.
  bool report(const std::vector<Trial>& trials) const {
    StudyReport result = report_study(reported_, trials, out_);
    result.runs_looked_at = runs_looked_at_;
    const std::string json = study_json(result);
    atomic_write(out_ / "arms.csv", arms_csv(result));
    atomic_write(out_ / "trials.csv", trials_csv(result));
    atomic_write(out_ / "study.json", json);
    if (arguments_.json) {
      fmt::print("{}", json);
      return result.damaged.empty();
    }
    StudyTextOptions options;
    if (is_terminal(STDOUT_FILENO)) options.width = terminal_columns(STDOUT_FILENO);
    options.colour = use_colour(STDOUT_FILENO);
    fmt::print("{}", study_text(result, options));
    fmt::print("\n{}\n", (out_ / "study.json").string());
    print_times();
    return result.damaged.empty();
  }

  // Not part of the result: another machine takes another time.
  void print_times() const {
    rusage children{};
    getrusage(RUSAGE_CHILDREN, &children);
    const auto seconds = [](const timeval& t) {
      return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
    };
    const double wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
    std::fflush(stdout);
    fmt::print(stderr, "took {}, {} of processor time, {} at a time\n", format_duration(wall),
               format_duration(seconds(children.ru_utime) + seconds(children.ru_stime)), options_.jobs);
  }

  const StudyArguments& arguments_;
  const Study study_;
  Study reported_;  // with the seeds that were continued, in a study that branches
  fs::path out_;
  RunTrialsOptions options_;
  std::size_t runs_looked_at_ = 0;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

int study(const StudyArguments& arguments) { return StudyRun(arguments, study_of(arguments)).execute(); }

}  // namespace

void add_study(CLI::App& app, Action& chosen) {
  CLI::App* verb = app.add_subcommand("study", "several arms over the same seeds: who has the moment sooner?");
  auto arguments = std::make_shared<StudyArguments>();
  verb->add_option("study", arguments->source, "a study preset (eureka list presets) or a TOML file");
  verb->add_option("--out", arguments->out, "directory of the study; studies/NAME when left out");
  verb->add_option("--set", arguments->overrides, "section.key=value for every trial; repeatable")->take_all();
  verb->add_option("--jobs", arguments->jobs, "trials at a time; as many as physical cores when left out")
      ->check(CLI::Range(1, 1024));
  verb->add_option("--seeds", arguments->seeds, "seeds 1..N instead of the study's own")->check(CLI::Range(1, 100000));
  verb->add_option("--timeout", arguments->timeout, "seconds without a step after which a trial counts as hung")
      ->check(CLI::PositiveNumber);
  verb->add_flag("--resume", arguments->resume, "run only what is missing; begins the study if there is none");
  verb->add_flag("--json", arguments->json, "print study.json instead of the table");
  verb->callback([=, &chosen] { chosen = [=] { return study(*arguments); }; });
}

}  // namespace eureka::cli
