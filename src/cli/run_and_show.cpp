#include "cli/run_and_show.h"

#include <fmt/format.h>
#include <unistd.h>

#include "base/machine_memory.h"
#include "base/output.h"
#include "base/terminal.h"
#include "cli/live_plot.h"
#include "cli/offered_words.h"
#include "cli/stop.h"
#include "engine/transformer_layout.h"
#include "lab/heartbeat.h"
#include "train/detection.h"
#include "train/run_memory.h"

namespace eureka::cli {
namespace {

std::string title_of(const RunConfig& config) {
  return fmt::format("{} · {} · seed {}", config.task.name,
                     transformer_kind(config.model.name) ? config.attention.name : config.model.name, config.run.seed);
}

void print_summary(const RunSummary& summary, const Metric& metric, const fs::path& out) {
  const auto& value = summary.final_validation_metric;
  print("{} after {} steps; validation {} {}\n", status_name(summary.status), summary.steps, metric.name,
        value ? fmt::format("{:.3f}", *value) : "none");
  if (const auto& rise = summary.first_rise)
    print("first rise at step {:.0f}: from {:.3f} to the plateau at {:.3f}; no moment\n", rise->step, rise->from,
          rise->to);
  if (const auto& grok = summary.grokking) {
    print(
        "grokking at step {:.0f}: validation from {:.3f} to {:.3f}, 10-90% in {:.0f} steps, long after training was "
        "solved; no moment\n",
        grok->step, grok->plateau_level, grok->level_after, grok->rise_width());
  } else if (summary.grokking_under_way) {
    print("grokking under way: validation has risen to {:.3f}, long after training was solved; no moment\n",
          *summary.grokking_under_way);
  }
  if (const auto& moment = summary.moment) {
    print("Eureka-moment at step {:.0f}: from {:.3f} to {:.3f}, 10-90% in {:.0f} steps (score {:.2f})\n", moment->step,
          moment->plateau_level, moment->level_after, moment->rise_width(), moment->score);
  } else if (summary.under_way) {
    print("no Eureka-moment yet: the run ended in a rise off the plateau{}, at {:.3f}\n",
          summary.stuck_level ? fmt::format(" at {:.3f}", *summary.stuck_level) : "", *summary.under_way);
  } else if (summary.stuck_level) {
    print("no Eureka-moment: still on the plateau at {:.3f}\n", *summary.stuck_level);
  } else if (!summary.grokking && !summary.grokking_under_way) {
    print("no Eureka-moment, and no plateau to leave\n");
  }
  print("{}\n", out.string());
}

// Said before any of it is taken.
void tell_memory(const RunConfig& config, const Task& task, const ShowOptions& options) {
  const auto needs = run_memory(config, task);
  if (!needs) return;
  const auto bytes = static_cast<double>(needs->total());
  const double available = machine_memory().available;
  if (bytes > available)
    tell("eureka: needs about {} of memory, of which {} are free now: it may be slow, or be killed\n  {}\n",
         memory_text(bytes), memory_text(available), needs->how_to_shrink);
  else if (!options.quiet)
    tell("{}: needs about {} of memory\n", title_of(config), memory_text(bytes));
}

}  // namespace

int run_and_show(const RunConfig& config, const RunRequest& request, const ShowOptions& options) {
  const auto task = Registry<Task>::instance().make(config.task.name, config.task.options);
  const Metric metric = task->metric();
  const bool has_ended = request.resume && !request.resume_step && read_summary(request.directory).has_value();
  if (!has_ended) tell_memory(config, *task, options);
  LivePlot plot(title_of(config), metric, options.quiet);
  if (!options.number.empty()) plot.show(find_shown_number(options.number));
  if (options.heartbeat >= 0) ignore_further_signals();
  Heartbeat heartbeat(options.heartbeat, plot);
  StepTimes observer(heartbeat);
  const RunOutcome outcome = run_training(config, request, observer, stop_requested());
  if (outcome.status == RunStatus::interrupted)
    plot.leave();
  else
    plot.finish();
  const std::string place = request.directory.string();
  if (outcome.status == RunStatus::interrupted) {
    tell("eureka: interrupted; checkpoint saved. Continue with: eureka train --out {} --resume\n", place);
    return kInterrupted;
  }
  if (options.json) {
    print("{}", Lines{to_text(*outcome.summary)});
  } else {
    if (!options.quiet) print("{}", Layout{plot.picture(terminal_columns(STDOUT_FILENO), use_color(STDOUT_FILENO))});
    print_summary(*outcome.summary, metric, request.directory);
  }
  if (outcome.status == RunStatus::diverged)
    tell("eureka: the loss is no longer finite; everything up to there is in {}\n", place);
  return outcome.status == RunStatus::diverged ? kFailed : kOk;
}

int show_run(const fs::path& directory, const ShowOptions& options) {
  const RunConfig config = read_run_config(directory, catalog());
  const std::optional<RunSummary> summary = read_summary(directory);
  if (options.json) {
    if (!summary)
      throw Error(ErrorKind::input, "has no summary.json: the run has not ended", directory.string(),
                  fmt::format("continue it with: eureka train --out {} --resume", directory.string()));
    print("{}", Lines{to_text(*summary)});
    return kOk;
  }
  const auto task = Registry<Task>::instance().make(config.task.name, config.task.options);
  const Metric metric = task->metric();
  LivePlot plot(title_of(config), metric, /*quiet=*/true);
  if (!options.number.empty()) plot.show(find_shown_number(options.number));
  plot.on_start("", 0, config.train.steps);
  MomentDetector detector(detector_options(*task, config));
  const std::vector<MetricsRow> rows = read_metrics(directory, {"val_" + metric.key()});
  for (const MetricsRow& row : rows) {
    add_row(row, metric, detector);
    plot.on_row(row, detector.findings());
  }
  print("{}", Layout{plot.picture(terminal_columns(STDOUT_FILENO), use_color(STDOUT_FILENO))});
  if (summary)
    print_summary(*summary, metric, directory);
  else
    print("not ended: step {} of {}{}; eureka train --out {} --resume continues it\n",
          rows.empty() ? 0 : rows.back().step, config.train.steps,
          rows.empty() ? "" : fmt::format(", validation {} {:.3f}", metric.name, rows.back().validation_metric()),
          directory.string());
  return kOk;
}

void add_shown_number(Command& verb, ShowOptions& options) {
  verb.option("--show", options.number,
              "a diagnostic, or one of its numbers (attention/logit_max), below the curve: a line for each layer")
      .suggests(diagnostic_names);
}

void add_show_options(Command& verb, ShowOptions& options) {
  add_shown_number(verb, options);
  verb.flag("--json", options.json, "print summary.json");
  verb.flag("--quiet", options.quiet, "no progress");
  // Set by eureka study for its trials.
  verb.option("--heartbeat", options.heartbeat).hidden();
}

}  // namespace eureka::cli
