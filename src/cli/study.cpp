// eureka study: several arms over the same seeds, every trial a process of its own.
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>

#include "base/cores.h"
#include "base/machine_memory.h"
#include "base/output.h"
#include "base/suggest.h"
#include "base/terminal.h"
#include "cli/cli.h"
#include "cli/offered_words.h"
#include "cli/stop.h"
#include "cli/study_elsewhere.h"
#include "lab/local_processes.h"
#include "lab/run_study.h"
#include "lab/study_log.h"
#include "report/study_progress.h"
#include "report/table.h"

namespace eureka::cli {
namespace {

using Clock = std::chrono::steady_clock;

struct StudyArguments {
  std::string source;
  std::string out;
  std::vector<std::string> overrides;
  int jobs = 0;
  std::int64_t seeds = 0;
  double timeout = 0;
  std::string progress = "table";
  std::vector<std::string> curves;
  bool resume = false;
  bool json = false;
  ElsewhereOptions elsewhere;
};

Study study_of(const StudyArguments& arguments) {
  const bool is_there = arguments.resume || arguments.elsewhere.only_looks();
  if (arguments.source.empty() && (arguments.out.empty() || !is_there))
    throw Error(ErrorKind::usage, "eureka study needs a preset or a file", {},
                "for example: eureka study cures  (eureka list presets), or --out DIR --resume to continue one");
  Study study =
      arguments.source.empty() ? read_study_directory(arguments.out) : read_study(find_config(arguments.source));
  study.overrides = merge_entries(study.overrides, parse_overrides(arguments.overrides));
  if (arguments.seeds > 0) {
    study.seeds.clear();
    for (std::int64_t seed = 1; seed <= arguments.seeds; ++seed) study.seeds.push_back(seed);
  }
  if (arguments.timeout > 0) study.timeout_seconds = arguments.timeout;
  overlay(arguments.elsewhere, study.slurm);
  return study;
}

// Not part of the result: another machine takes another time.
void print_times(Clock::time_point start, int jobs) {
  rusage children{};
  getrusage(RUSAGE_CHILDREN, &children);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  finish_output();
  tell("took {}, {} of processor time, {} at a time\n",
       format_duration(std::chrono::duration<double>(Clock::now() - start).count()),
       format_duration(seconds(children.ru_utime) + seconds(children.ru_stime)), jobs);
}

// Says what a study will take before it begins.
class CostTeller final : public StudyObserver {
 public:
  explicit CostTeller(fs::path out) : out_(std::move(out)) {}

  void on_event(const StudyEvent& event) override {
    const auto* estimated = std::get_if<StudyEstimated>(&event);
    if (estimated == nullptr) return;
    double load = 0;
    ::getloadavg(&load, 1);
    const bool busy = load > 1.5 * usable_cores();
    const std::string text =
        cost_text(estimated->cost, estimated->at_a_time) +
        (busy ? fmt::format(" (of a machine with nothing else to do; this one is busy: load {:.0f})", load) : "");
    tell("{}\n", Lines{is_terminal(STDERR_FILENO) ? wrapped(text, terminal_columns(STDERR_FILENO)) : text});
    std::error_code unknown;
    const fs::space_info space = fs::space(out_, unknown);
    if (!unknown && estimated->cost.bytes > static_cast<double>(space.available))
      tell("eureka: only {} are free in {}: choose another place with --out DIR\n",
           memory_text(static_cast<double>(space.available)), out_.string());
  }

 private:
  fs::path out_;
};

void refuse_unknown_curves(const std::vector<std::string>& curves, const Study& study) {
  std::vector<std::string> arms;
  for (const StudyArm& arm : study.arms) arms.push_back(arm.name);
  for (const std::string& curve : curves)
    if (std::find(arms.begin(), arms.end(), curve) == arms.end())
      throw Error(ErrorKind::usage, fmt::format("the study has no arm '{}'", curve), "--curve",
                  did_you_mean(curve, arms));
}

int study(const StudyArguments& arguments) {
  const auto start = Clock::now();
  const Study study = study_of(arguments);
  const fs::path out = arguments.out.empty() ? fs::path("studies") / study.name : fs::path(arguments.out);
  if (arguments.elsewhere.asked() && arguments.jobs > 0)
    throw Error(ErrorKind::usage, "the trials do not run here, so there is no number of them at a time", "--jobs",
                "with --slurm a task runs as many at a time as --cpus C");
  if (arguments.elsewhere.asked())
    return study_elsewhere(study, {out, arguments.resume}, arguments.elsewhere, arguments.json);
  const int jobs = arguments.jobs > 0 ? arguments.jobs : usable_cores();
  LocalProcesses executor({.jobs = jobs, .timeout_seconds = study.timeout_seconds});
  refuse_unknown_curves(arguments.curves, study);
  StudyProgress table(stop_requested());
  JsonLines lines(out, [](const std::string& line) { tell("{}\n", Lines{line}); });
  StudyObservers observers;
  CostTeller cost(out);
  if (arguments.progress == "table") observers.add(cost);
  if (arguments.progress == "table") observers.add(table);
  if (arguments.progress == "json") observers.add(lines);
  say_when_stopped(
      fmt::format("eureka: every trial finishes its step first (up to {:g} s); a second signal stops at once\n",
                  study.timeout_seconds));
  const StudyOutcome outcome =
      run_study(study, catalog(), {out, arguments.resume}, executor, std::move(observers), stop_requested());
  if (outcome.end == StudyEnd::interrupted) {
    tell_failures(outcome);
    tell("eureka: interrupted; every trial is checkpointed: eureka study --out {} --resume\n", out.string());
    return kInterrupted;
  }
  print_outcome(outcome, out, arguments.json, arguments.curves);
  if (outcome.report && !arguments.json) print_times(start, jobs);
  return outcome.end == StudyEnd::complete ? kOk : kFailed;
}

}  // namespace

void add_study(Command& program) {
  Command verb = program.add_command(
      "study", "several arms over the same seeds: who has the moment, or reaches a target, sooner?");
  auto arguments = std::make_shared<StudyArguments>();
  verb.option("study", arguments->source, "a study preset (eureka list presets) or a TOML file")
      .suggests(study_presets);
  verb.option("--out", arguments->out, "directory of the study; studies/NAME when left out");
  verb.option("--set", arguments->overrides, "section.key=value for every trial; repeatable")
      .repeatable()
      .suggests(settings);
  verb.option("--jobs", arguments->jobs, "trials at a time; as many as physical cores when left out").between(1, 1024);
  verb.option("--seeds", arguments->seeds, "seeds 1..N instead of the study's own")
      .between(std::int64_t{1}, kMostSeeds);
  verb.option("--timeout", arguments->timeout, "seconds without a step after which a trial counts as hung").positive();
  verb.option("--progress", arguments->progress, "on standard error: table, json (a line for each event) or none")
      .one_of({"table", "json", "none"});
  verb.option("--curve", arguments->curves,
              "an arm to draw in the survival plot, which holds five; repeatable (default: the soonest and the latest)")
      .repeatable();
  verb.flag("--resume", arguments->resume, "run only what is missing; begins the study if there is none");
  verb.flag("--json", arguments->json, "print study.json instead of the table");
  add_elsewhere_options(verb, arguments->elsewhere);
  verb.footer(
      "What the arms are compared by is said in the study's file: event = \"moment\" (default), or event = \"target\" "
      "with\n"
      "target = ACCURACY or relative_target = SHARE of the baseline's; docs/studies.md has the format.");
  verb.runs([=] { return study(*arguments); });
}

}  // namespace eureka::cli
