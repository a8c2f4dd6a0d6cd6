#include "cli/study_elsewhere.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <chrono>
#include <thread>

#include "base/output.h"
#include "base/run_program.h"
#include "cli/study_text.h"
#include "io/json.h"
#include "lab/slurm.h"
#include "lab/study_progress_elsewhere.h"
#include "lab/study_tasks.h"

namespace eureka::cli {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

// To look at thousands of runs and their queue is work for the file server and the scheduler: often at first, then
// seldom, and never for more than a twentieth of the time.
constexpr auto kShortestPause = 2s;
constexpr auto kLongestPause = 60s;
constexpr int kShareOfLooking = 20;
// A controller that is started again answers nobody for a while.
constexpr int kPatience = 60;

int print_plan(const Study& study, const StudyRequest& request) {
  const PendingTrials pending = prepare_study(study, catalog(), {request.out, true}, 1);
  const auto trials_per_task = static_cast<std::size_t>(std::max<std::int64_t>(1, study.slurm.trials_per_task));
  const std::vector<StudyTask> tasks = pack_trials(study, request.out, pending.trials, trials_per_task);
  print("{}", Lines{task_list(tasks)});
  finish_output();
  tell("{}: {} tasks for {} trials; {} have ended\n", study.name, tasks.size(), pending.trials.size(), pending.ended);
  if (!pending.is_last_phase)
    tell("these are the runs the study continues: plan again when they have ended\n");
  else
    tell("when they have ended: eureka study --out {} --collect\n", request.out.string());
  return kOk;
}

int submit(const Study& study, const StudyRequest& request, bool json) {
  require_slurm();
  const auto slots = static_cast<std::size_t>(study.slurm.cpus);
  const PendingTrials pending = prepare_study(study, catalog(), request, slots);
  for (const TrialFailure& failure : pending.failures)
    tell("eureka: {}: {}\n", failure.directory.string(), failure.reason);
  const SlurmSubmission submission = submit_study(study, pending, request.out, study.slurm, this_program());
  if (json) {
    print("{}\n", Lines{Json{{"jobs", submission.jobs},
                             {"finish", submission.finish},
                             {"tasks", submission.tasks},
                             {"trials", submission.trials},
                             {"queued_before", submission.queued_before},
                             {"ended", pending.ended}}
                            .dump(2, Json::BadText::replace)});
    return kOk;
  }
  const std::string out = request.out.string();
  if (submission.queued_before > 0) print("{} trials are in the queue already\n", submission.queued_before);
  if (submission.jobs.empty()) {
    if (submission.queued_before == 0)
      print("all {} trials have ended: eureka study --out {} --collect\n", pending.ended, out);
    return kOk;
  }
  print("submitted {} trials as {} tasks: job {}, and {} when they have ended\n", submission.trials, submission.tasks,
        fmt::format("{}", fmt::join(submission.jobs, ", ")), submission.finish);
  print("scripts, tasks and logs: {}\n", (request.out / "slurm").string());
  print("eureka study --out {} --status    (or --wait, --cancel)\n", out);
  return kOk;
}

Json to_json(const ProgressElsewhere& progress, const std::optional<SlurmQueue>& queue) {
  Json json = {{"study", progress.study},        {"trials", progress.trials},   {"ended", progress.ended},
               {"begun", progress.begun},        {"waiting", progress.waiting}, {"steps", progress.steps},
               {"all_steps", progress.all_steps}};
  Json stopped = Json::array();
  for (const TrialFailure& trial : progress.stopped)
    stopped.push_back({{"trial", trial.directory.string()}, {"reason", trial.reason}});
  json["stopped"] = stopped;
  if (queue)
    json["slurm"] = {{"running", queue->running},
                     {"waiting", queue->waiting},
                     {"reasons", queue->why},
                     {"finishing", queue->is_finishing}};
  return json;
}

void print_progress(const ProgressElsewhere& progress, const std::optional<SlurmQueue>& queue) {
  const double share = progress.all_steps > 0
                           ? 100.0 * static_cast<double>(progress.steps) / static_cast<double>(progress.all_steps)
                           : 0.0;
  print("{}: {} of {} trials have ended, {} begun, {} not yet; {:.0f}% of the steps\n", progress.study, progress.ended,
        progress.trials, progress.begun, progress.waiting, share);
  if (queue) {
    print("Slurm: {} tasks run, {} wait{}{}\n", queue->running, queue->waiting,
          queue->why.empty() ? "" : fmt::format(" ({})", fmt::join(queue->why, ", ")),
          queue->is_finishing ? "; the last one is queued" : "");
    if (queue->empty() && progress.ended < progress.trials)
      print("nothing of it is queued: eureka study --out {} --slurm --resume submits what is missing\n",
            progress.out.string());
  }
  for (const TrialFailure& trial : progress.stopped) print("{}: {}\n", trial.directory.string(), trial.reason);
}

std::optional<SlurmQueue> queue_if_any(const fs::path& out) {
  if (!fs::exists(out / "slurm")) return std::nullopt;
  return queue_of(out);
}

int status(const Study& study, const fs::path& out, bool json) {
  const std::optional<SlurmQueue> queue = queue_if_any(out);
  const ProgressElsewhere progress =
      progress_elsewhere(study, catalog(), out, queue ? queue->trials : std::set<fs::path>{});
  if (json)
    print("{}\n", Lines{to_json(progress, queue).dump(2, Json::BadText::replace)});
  else
    print_progress(progress, queue);
  return kOk;
}

int collect(const Study& study, const fs::path& out, bool json) {
  const StudyOutcome outcome = collect_study(study, catalog(), out);
  print_outcome(outcome, out, json);
  return outcome.end == StudyEnd::complete ? kOk : kFailed;
}

int wait(const Study& study, const fs::path& out, bool json) {
  int failures = 0;
  std::string said;
  const auto began = Clock::now();
  while (!stop_requested().load()) {
    const auto look = Clock::now();
    std::optional<SlurmQueue> queue;
    try {
      queue = queue_if_any(out);
      failures = 0;
    } catch (const Error& error) {
      if (++failures > kPatience) throw;
      tell("eureka: {}; asking again\n", error.what());
    }
    if (failures == 0) {
      if (!queue || queue->empty()) return collect(study, out, json);
      const ProgressElsewhere progress = progress_elsewhere(study, catalog(), out, queue->trials);
      const std::string now = fmt::format("{} of {} trials have ended; {} tasks run, {} wait\n", progress.ended,
                                          progress.trials, queue->running, queue->waiting);
      if (now != said) tell("{}", Lines{said = now});
    }
    const auto looked = Clock::now();
    const auto pause = std::max<Clock::duration>(
        std::clamp<Clock::duration>((looked - began) / kShareOfLooking, kShortestPause, kLongestPause),
        (looked - look) * kShareOfLooking);
    while (Clock::now() < looked + pause && !stop_requested().load()) std::this_thread::sleep_for(500ms);
  }
  tell("eureka: no longer waiting; the study goes on: eureka study --out {} --wait, or --cancel\n", out.string());
  return kInterrupted;
}

int cancel(const fs::path& out) {
  require_slurm();
  const std::size_t jobs = cancel_jobs(out);
  if (jobs == 0)
    print("nothing of this study is queued\n");
  else
    print("{} jobs were told to stop; what they did is kept: eureka study --out {} --slurm --resume\n", jobs,
          out.string());
  return kOk;
}

}  // namespace

void add_elsewhere_options(Command& verb, ElsewhereOptions& options) {
  verb.flag("--plan", options.plan, "run nothing: print the tasks that are left, one a line, for `eureka trial`");
  verb.flag("--slurm", options.slurm, "run nothing: submit what is missing to Slurm, as a job array");
  verb.flag("--status", options.status, "how far a study is that runs elsewhere");
  verb.flag("--wait", options.wait, "until it has left the queue, then print what it found");
  verb.flag("--cancel", options.cancel, "take its jobs out of the queue; what they did is kept");
  verb.flag("--collect", options.collect, "write study.json of the trials that have ended, wherever they ran");
  verb.option("--partition", options.partition, "Slurm: partition").needs("--slurm");
  verb.option("--account", options.account, "Slurm: account").needs("--slurm");
  verb.option("--time", options.time, "Slurm: time limit of a task; what is not done by then is queued again")
      .needs("--slurm");
  verb.option("--mem", options.mem, "Slurm: memory of a task").needs("--slurm");
  verb.option("--cpus", options.cpus, "Slurm: processors of a task, which runs as many trials at a time")
      .between(std::int64_t{1}, std::int64_t{1024})
      .needs("--slurm");
  verb.option("--max-running", options.max_running, "Slurm: tasks at a time").not_negative().needs("--slurm");
  verb.option("--minutes-per-task", options.minutes_per_task, "Slurm: short trials are packed to tasks of so long; 10")
      .positive()
      .needs("--slurm");
  verb.option("--trials-per-task", options.trials_per_task, "with --slurm or --plan: so many trials to a task")
      .positive();
  verb.option("--grace", options.grace, "Slurm: seconds before the time limit at which trials save checkpoints; 60")
      .between(std::int64_t{1}, std::int64_t{65535})
      .needs("--slurm");
  verb.option("--sbatch", options.sbatch, "Slurm: further options of sbatch").needs("--slurm");
}

void overlay(const ElsewhereOptions& options, SlurmOptions& slurm) {
  const auto take = [](const std::string& said, std::string& option) {
    if (!said.empty()) option = said;
  };
  take(options.partition, slurm.partition);
  take(options.account, slurm.account);
  take(options.time, slurm.time);
  take(options.mem, slurm.mem);
  take(options.sbatch, slurm.sbatch);
  if (options.cpus > 0) slurm.cpus = static_cast<int>(options.cpus);
  if (options.max_running >= 0) slurm.max_running = static_cast<int>(options.max_running);
  if (options.grace > 0) slurm.grace = static_cast<int>(options.grace);
  if (options.trials_per_task > 0) slurm.trials_per_task = options.trials_per_task;
  if (options.minutes_per_task > 0) slurm.minutes_per_task = options.minutes_per_task;
}

int study_elsewhere(const Study& study, const StudyRequest& request, const ElsewhereOptions& options, bool json) {
  const int asked = options.plan + options.slurm + options.status + options.cancel + options.collect +
                    (options.wait && !options.slurm);
  if (asked > 1)
    throw Error(ErrorKind::usage, "--plan, --slurm, --status, --wait, --cancel and --collect go one at a time", {},
                "only --slurm --wait go together");
  if (options.cancel) return cancel(request.out);
  if (options.status) return status(study, request.out, json);
  if (options.collect) return collect(study, request.out, json);
  if (options.plan) return print_plan(study, request);
  if (options.slurm) {
    const int code = submit(study, request, json);
    if (code != kOk || !options.wait) return code;
  }
  return wait(study, request.out, json);
}

void tell_failures(const StudyOutcome& outcome) {
  for (const TrialFailure& failure : outcome.failures)
    tell("eureka: {}: {}\n", failure.directory.string(), failure.reason);
}

void print_outcome(const StudyOutcome& outcome, const fs::path& out, bool json,
                   const std::vector<std::string>& curves) {
  tell_failures(outcome);
  if (!outcome.report) return;
  if (json) {
    print("{}", Lines{study_json(*outcome.report)});
    return;
  }
  print_report(*outcome.report, out, curves);
}

}  // namespace eureka::cli
