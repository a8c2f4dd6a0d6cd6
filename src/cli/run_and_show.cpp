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
#include "report/curve_figures.h"
#include "train/detection.h"
#include "train/run_memory.h"
#include "train/watched_run.h"

namespace eureka::cli {
namespace {

std::string title_of(const RunConfig& config) {
  return fmt::format("{} · {} · seed {}", config.task.name,
                     transformer_kind(config.model.name) ? config.attention.name : config.model.name, config.run.seed);
}

// `label` and `value`: of what the run is judged by, at its end.
void print_summary(const RunSummary& summary, const std::string& label, std::optional<double> value,
                   const fs::path& out) {
  print("{} after {} steps; {} {}\n", status_name(summary.status), summary.steps, label,
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

// The last number of the column in the rows.
std::optional<double> last_of(const std::vector<MetricsRow>& rows, const std::string& column) {
  for (auto row = rows.rbegin(); row != rows.rend(); ++row)
    if (const auto value = row->find(column)) return value;
  return std::nullopt;
}

// Of a run that was trained by another program: what it is judged by is in its rows.
void show_watched(const fs::path& directory, const ConfigEntries& config, const std::optional<RunSummary>& summary,
                  const ShowOptions& options) {
  const std::vector<MetricsRow> rows = read_metrics(directory);
  std::string column;
  for (const MetricsRow& row : rows)
    for (const auto& [name, value] : row.numbers)
      if (judges_rather(name, column)) column = name;
  const auto said = [&](const char* key) { return std::get<std::string>(config.at(key).value); };
  const auto plateau = config.find(kWatchedPlateau);
  Metric metric{.low = -Metric::kUnbounded, .high = Metric::kUnbounded};
  if (column.ends_with("accuracy")) metric.low = 0, metric.high = 1;
  LivePlot plot(
      fmt::format("{} · {} · watched in {}", said("watch.model"), said("watch.attention"), said(kWatchedProgram)),
      metric, /*quiet=*/true);
  const std::string label = metric_label(column).substr(0, metric_label(column).find(" ("));
  plot.draw(column, label);
  if (!options.number.empty()) plot.show(find_shown_number(options.number));
  plot.on_start("", 0, rows.empty() ? 0 : rows.back().step);
  MomentDetector detector(watched_detector_options(
      column, plateau == config.end() ? std::nullopt : std::optional(std::get<double>(plateau->second.value))));
  for (const MetricsRow& row : rows) {
    if (const auto value = row.find(column)) detector.add(static_cast<double>(row.step), *value);
    plot.on_row(row, detector.findings());
  }
  print("{}", Layout{plot.picture(terminal_columns(STDOUT_FILENO), use_color(STDOUT_FILENO))});
  const std::optional<double> last = last_of(rows, column);
  const RunStatus status = read_meta(directory).status;
  if (summary)
    print_summary(*summary, label, last, directory);
  else
    print("{}: step {}{}\n{}\n", status == RunStatus::running ? "not ended" : status_name(status),
          rows.empty() ? 0 : rows.back().step, last ? fmt::format(", {} {:.3f}", label, *last) : "",
          directory.string());
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
    print_summary(*outcome.summary, "validation " + metric.name, outcome.summary->final_validation_metric,
                  request.directory);
  }
  if (outcome.status == RunStatus::diverged)
    tell("eureka: the loss is no longer finite; everything up to there is in {}\n", place);
  return outcome.status == RunStatus::diverged ? kFailed : kOk;
}

int show_run(const fs::path& directory, const ShowOptions& options) {
  const std::optional<ConfigEntries> watched = read_watched(directory);
  const std::optional<RunSummary> summary = read_summary(directory);
  if (options.json) {
    if (!summary)
      throw Error(ErrorKind::input, "has no summary.json: the run has not ended", directory.string(),
                  watched ? "" : fmt::format("continue it with: eureka train --out {} --resume", directory.string()));
    print("{}", Lines{to_text(*summary)});
    return kOk;
  }
  if (watched) {
    show_watched(directory, *watched, summary, options);
    return kOk;
  }
  const RunConfig config = read_run_config(directory, catalog());
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
    print_summary(*summary, "validation " + metric.name, summary->final_validation_metric, directory);
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
