// eureka trial: one task of a list, wherever a scheduler has put it.
#include <fmt/format.h>

#include "base/output.h"
#include "cli/cli.h"
#include "cli/stop.h"
#include "lab/local_processes.h"
#include "lab/run_trials.h"
#include "lab/study_log.h"
#include "lab/study_tasks.h"

namespace eureka::cli {
namespace {

struct TrialArguments {
  std::string tasks;
  std::int64_t index = 0;
  int jobs = 1;
};

int trial(const TrialArguments& arguments) {
  const StudyTask task = read_task(arguments.tasks, static_cast<std::size_t>(arguments.index), catalog());
  LocalProcesses executor({.jobs = arguments.jobs, .timeout_seconds = task.timeout_seconds});
  JsonLines lines(task.study, [](const std::string& line) { tell("{}\n", Lines{line}); });
  say_when_stopped(fmt::format("eureka: every trial finishes its step first (up to {:g} s)\n", task.timeout_seconds));
  const std::vector<TrialFailure> failures = run_trials(task.trials, {.lock_patience_seconds = task.timeout_seconds},
                                                        executor, StudyObservers({&lines}), stop_requested());
  for (const TrialFailure& failure : failures) tell("eureka: {}: {}\n", failure.directory.string(), failure.reason);
  if (stop_requested().load()) return kInterrupted;
  return failures.empty() ? kOk : kFailed;
}

}  // namespace

void add_trial(Command& program) {
  Command verb = program.add_command("trial", "one task of a study that runs elsewhere (eureka study NAME --plan)");
  auto arguments = std::make_shared<TrialArguments>();
  verb.option("tasks", arguments->tasks, "the file that eureka study NAME --plan wrote").required();
  verb.option("index", arguments->index, "which of its lines, from 0").required().not_negative();
  verb.option("--jobs", arguments->jobs, "trials at a time").between(1, 1024);
  verb.footer(
      "Trials that have ended are left alone, one that was stopped goes on from its last checkpoint. Exit code 4: "
      "stopped, run it again.");
  verb.runs([=] { return trial(*arguments); });
}

}  // namespace eureka::cli
